"""Rows of tables."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.cli.tables import ParquetFile
from askless.exceptions import ParameterError, TableError
from askless.tables import (
    ParquetTable,
    check_row_labels,
    column_names,
    holdout,
    is_frame,
    row_chunks,
    take_rows,
    without_stored_index,
)
from tests.coded import raises

COLUMNS = {"a": [1, 2, 3, 4, 5], "b": ["u", "v", "w", "x", "y"]}
FRAMES = {"pandas": pd.DataFrame(COLUMNS), "polars": pl.DataFrame(COLUMNS), "pyarrow": pa.table(COLUMNS)}
ARRAY = np.arange(10).reshape(5, 2)


def values(table):
    """The cells of the first column."""
    return np.asarray(table["a"]).tolist() if is_frame(table) else np.asarray(table)[:, 0].tolist()


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name):
    assert is_frame(FRAMES[name])
    assert column_names(FRAMES[name]) == ["a", "b"]


@pytest.mark.parametrize("table", [ARRAY, ARRAY.tolist(), tuple(ARRAY), "text", None, 3, {"a": [1]}])
def test_what_is_no_frame(table):
    assert not is_frame(table)


def test_names_of_any_type():
    assert column_names(pd.DataFrame(ARRAY)) == [0, 1]
    assert column_names(pd.DataFrame(ARRAY, columns=[("a", 1), ("b", 2)])) == [("a", 1), ("b", 2)]


@pytest.mark.parametrize("table", [*FRAMES.values(), ARRAY], ids=[*FRAMES, "array"])
def test_rows_in_any_order(table):
    taken = take_rows(table, np.array([4, 0, 0]))
    assert type(taken) is type(table)
    assert len(taken) == 3
    assert values(taken) == [values(table)[i] for i in (4, 0, 0)]


@pytest.mark.parametrize("size", [1, 2, 4, 5, 100])
@pytest.mark.parametrize("table", [*FRAMES.values(), ARRAY, ARRAY.tolist()], ids=[*FRAMES, "array", "list"])
def test_chunks_cover_every_row_once(table, size):
    chunks = list(row_chunks(table, size))
    assert [rows.start for rows, _ in chunks] == list(range(0, 5, size))
    assert all(rows.stop - rows.start == len(part) <= size for rows, part in chunks)
    assert [value for _, part in chunks for value in values(part)] == values(table)
    if size >= 5:
        assert chunks[0][1] is table


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("table", [*FRAMES.values(), ARRAY, ARRAY.tolist()], ids=[*FRAMES, "array", "list"])
def test_chunks_of_some_rows(table, size):
    chunks = list(row_chunks(table, size, np.array([0, 3, 4])))
    assert [rows.start for rows, _ in chunks] == list(range(0, 3, size))
    assert [value for _, part in chunks for value in values(part)] == [values(table)[i] for i in (0, 3, 4)]


def test_chunks_of_a_memory_mapped_array_are_views(tmp_path):
    np.save(tmp_path / "a.npy", ARRAY)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert all(np.shares_memory(part, mapped) for _, part in row_chunks(mapped, 2))


def test_an_empty_table_is_one_empty_chunk():
    assert [(rows, len(part)) for rows, part in row_chunks(FRAMES["pandas"][:0], 3)] == [(slice(0, 0), 0)]


@pytest.mark.parametrize(
    "labels",
    [
        range(4),
        ["a", "b", "c", "d"],
        [1, "b", None, 2.5],
        pd.date_range("2020", periods=4),
        pd.MultiIndex.from_product([[1, 2], ["x", "y"]]),
    ],
    ids=["numbers", "text", "mixed", "dates", "levels"],
)
def test_the_same_labels_in_another_order_are_refused(labels):
    X = pd.DataFrame({"a": range(4)}, index=labels)
    y, turned = X["a"], X.iloc[::-1]
    with raises(TableError, "row_labels_differ", name="y") as caught:
        check_row_labels(turned, y, "y")
    assert "pass y.loc[X.index], or y.to_numpy()" in str(caught.value)
    with raises(TableError, "row_labels_differ", name="known") as caught:
        check_row_labels(turned, X, "known")
    assert "pass known.loc[X.index], or known.set_axis(X.index)" in str(caught.value)
    for fine in (y.loc[turned.index], y.to_numpy(), y.set_axis(turned.index), y.tolist()):
        check_row_labels(turned, fine, "y")


def test_labels_that_do_not_say_which_rows_belong_together():
    X = pd.DataFrame({"a": range(4)}, index=[3, 2, 1, 0])
    levels = pd.MultiIndex.from_product([[0, 1], [2, 3]])
    for labels in (
        range(3),
        range(1, 5),
        ["3", "2", "1", "0"],
        [0, 0, 1, 2],
        pd.date_range("2020", periods=4),
        levels,
    ):
        check_row_labels(X, pd.Series(0, index=labels), "y")
        check_row_labels(pd.DataFrame({"a": 0}, index=labels), X["a"], "y")
    twice = pd.DataFrame({"a": range(4)}, index=[0, 0, 1, 1])
    check_row_labels(twice, twice["a"].iloc[::-1], "y")
    for table in (pl.from_pandas(X), pa.table({"a": [1, 2, 3, 4]}), X.to_numpy(), [[1]] * 4):
        check_row_labels(table, pd.Series(range(4)), "y")


@pytest.mark.parametrize(
    "index", [pd.Index([7, 8]), pd.Index([7, 8], name="id"), pd.MultiIndex.from_tuples([(1, 2), (3, 4)])]
)
def test_an_index_in_a_pyarrow_table_is_no_column(index):
    table = pa.Table.from_pandas(pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=index))
    assert len(column_names(table)) > 2
    assert column_names(without_stored_index(table)) == ["a", "b"]


def test_frames_without_a_stored_index_stay_as_they_are():
    ranged = pa.Table.from_pandas(FRAMES["pandas"])  # the index is a range, which is no column
    for table in (*FRAMES.values(), ranged):
        assert without_stored_index(table) is table


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=60),
    st.floats(0.05, 0.95),
    st.booleans(),
    st.integers(0, 2**31),
)
def test_held_out_rows(labels, fraction, stratify, seed):
    y = np.array(labels)
    train, valid = holdout(y, fraction, stratify, seed)
    assert (np.diff(train) > 0).all()
    assert (np.diff(valid) > 0).all()
    if len(train) == len(valid) == len(y):  # too few rows to hold any out
        assert len(y) * fraction < 1.5 or max(np.bincount(y)) == 1
        return
    assert sorted([*train, *valid]) == list(range(len(y)))
    assert len(valid) > 0
    again = holdout(y, fraction, stratify, seed)
    assert [part.tolist() for part in again] == [train.tolist(), valid.tolist()]
    if stratify:
        for label in set(labels):
            count, held = np.sum(y == label), np.sum(y[valid] == label)
            assert held < count  # one row of every class stays
            assert abs(held - fraction * count) <= 1


def test_held_out_rows_depend_on_the_seed():
    y = np.zeros(100)
    first, second = (holdout(y, 0.2, False, seed)[1] for seed in (0, 1))
    assert len(first) == len(second) == 20
    assert first.tolist() != second.tolist()


def test_many_small_classes_are_not_validated_on_what_they_train_on():
    y = np.arange(200) % 100
    train, valid = holdout(y, 0.2, True, 0)
    assert (len(train), len(valid)) == (160, 40)
    assert set(y[train]) == set(range(100))


def test_too_few_rows_are_trained_and_validated_on():
    train, valid = holdout(np.array([0, 1]), 0.2, True, 0)
    assert train.tolist() == valid.tolist() == [0, 1]


# Parquet files


def stored(n=100):
    """A frame of all kinds of columns with gaps, and an index."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a.b": rng.normal(size=n).astype(np.float32),
            "whole": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "flag": pd.array(rng.random(n) < 0.5, dtype="boolean"),
            "text": rng.choice(["u", "v", "w"], n).astype(object),
            "grade": pd.Categorical(rng.choice(["low", "mid"], n), ["low", "mid", "top"], ordered=True),
            "code": rng.choice([10, 2, 33], n),
        },
        index=np.arange(n) + 7,
    )
    for name in ("a.b", "whole", "flag", "text", "grade"):
        frame.loc[rng.random(n) < 0.2, name] = None
    return frame


@pytest.fixture(params=[100, 7, 1])
def path(tmp_path, request):
    """A Parquet file of row groups of some rows."""
    stored().to_parquet(tmp_path / "t.parquet", row_group_size=request.param)
    return tmp_path / "t.parquet"


def cells(frame):
    """The values by column, None where missing."""
    return {name: [None if pd.isna(cell) else cell for cell in frame[name].astype(object)] for name in frame.columns}


def test_a_parquet_table_is_what_pandas_reads(path):
    table, frame = ParquetTable(path), pd.read_parquet(path)
    assert is_frame(table)
    assert column_names(table) == list(frame.columns)
    assert len(table) == 100
    assert cells(table.read()) == cells(frame)
    assert table.read()["grade"].cat.categories.tolist() == ["low", "mid", "top"]
    assert table.read()["grade"].cat.ordered
    for name in frame.columns:
        assert table.column(name).name == name
        assert cells(table.column(name).to_frame()) == cells(frame[[name]])


@pytest.mark.parametrize("rows", [range(100), range(0, 100, 3), [5, 6, 98, 99], [42], []])
def test_rows_of_a_parquet_table(path, rows):
    table, rows = ParquetTable(path), np.array(rows, dtype=int)
    frame = pd.read_parquet(path).iloc[rows]
    assert len(table.take(rows)) == len(rows)
    assert cells(take_rows(table, rows)) == cells(frame)
    assert cells(table.take(rows).column("text").to_frame()) == cells(frame[["text"]])
    for size in (1, 10, 100):
        chunks = list(row_chunks(table, size, rows))
        assert [(run.start, run.stop) for run, _ in chunks] == [
            (start, min(start + size, len(rows))) for start in range(0, max(1, len(rows)), size)
        ]
        assert cells(pd.concat([part.astype(object) for _, part in chunks])) == cells(frame)
    again = np.arange(0, len(rows), 2)
    assert cells(table.take(rows).take(again).read()) == cells(frame.iloc[again])


def test_only_the_row_groups_that_are_needed_are_read(tmp_path):
    stored().to_parquet(tmp_path / "t.parquet", row_group_size=10)
    runs = list(ParquetTable(tmp_path / "t.parquet").take(np.array([3, 11, 12, 55, 99]))._runs())
    assert runs == [([0, 1], 0), ([5], 50), ([9], 90)]


def test_columns_of_a_parquet_table(path):
    table = ParquetTable(path, ["text", "code", "a.b"], categories=["code"])
    assert table.column_names == ["text", "code", "a.b"]
    assert table.drop("code").column_names == ["text", "a.b"]
    assert list(table.read().columns) == ["text", "code", "a.b"]
    for frame in (table.read(), take_rows(table, np.arange(50)), next(table.drop("text").chunks(30))[1]):
        assert sorted(frame["code"].cat.categories) == [2, 10, 33]


def test_what_a_parquet_table_refuses(tmp_path, path):
    with raises(TableError, "missing_column", column="texd", nearest="text"):
        ParquetTable(path).column("texd")
    for wrong in ({"columns": ["nothing"]}, {"categories": ["nothing"]}):
        with raises(TableError, "missing_column", column="nothing"):
            ParquetTable(path, **wrong)
    for rows in ([3, 2], [1, 1], [-1], [100]):
        with raises(ParameterError, "out_of_range", name="rows", low=0, high=len(ParquetTable(path)) - 1):
            ParquetTable(path).take(np.array(rows))
    (tmp_path / "no.parquet").write_text("nothing of the kind")
    with raises(TableError, "unreadable_file", path=str(tmp_path / "no.parquet")):
        ParquetTable(tmp_path / "no.parquet")
    with pytest.raises(FileNotFoundError):
        ParquetTable(tmp_path / "nowhere.parquet")
    twice = pa.table([[1], [2]], names=["a", "a"])
    pa.parquet.write_table(twice, tmp_path / "twice.parquet")
    with raises(TableError, "duplicate_name", name="a"):
        ParquetTable(tmp_path / "twice.parquet")


def test_columns_of_a_parquet_table_that_contradict_one_another(path):
    with raises(TableError, "duplicate_name", name="text"):
        ParquetTable(path, ["text", "text"])
    with raises(TableError, "missing_column", column="text"):
        ParquetTable(path, ParquetTable(path).drop("text").column_names, categories=["text"])


class Counted(str):
    """A name that counts how often it is compared with another."""

    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


class Once:
    """A file whose names are asked for, and how often."""

    def __init__(self, file):
        self.schema_arrow, self.pandas_metadata, self.asked, self._names = self, None, 0, file.schema_arrow.names

    @property
    def names(self):
        self.asked += 1
        return self._names


def test_the_work_on_wide_files_grows_with_the_columns_and_not_with_their_square(tmp_path):
    n = 400
    names = [Counted(f"column {i}") for i in range(n)]
    pa.parquet.write_table(pa.table({str(name): [i, 1] for i, name in enumerate(names)}), tmp_path / "wide.parquet")
    Counted.compared = 0
    table = ParquetTable(tmp_path / "wide.parquet", names, categories=names)
    assert [len(part.columns) for _, part in table.drop(*names[::2]).chunks(1)] == [n // 2] * 2
    assert table.take(np.array([1])).read().shape == (1, n)
    assert ParquetFile(str(tmp_path / "wide.parquet")).read(names).shape == (2, n)
    assert Counted.compared < 50 * n  # n * n / 2 where names are looked up in a list


def test_a_wide_file_is_asked_for_its_names_a_few_times(tmp_path):
    pa.parquet.write_table(pa.table({f"column {i}": [1] for i in range(100)}), tmp_path / "wide.parquet")
    table = ParquetTable(tmp_path / "wide.parquet")
    for kept in ("_names", "_stored"):
        vars(table).pop(kept, None)
    file = vars(table)["_file"] = Once(table._file)
    assert len(table.column_names) == 100
    table._check(["column 1"])
    assert file.asked <= 3


def test_a_parquet_table_of_no_columns_has_its_rows(path):
    assert ParquetTable(path, []).read().shape == (100, 0)


def test_parquet_without_pyarrow(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with raises(TableError, "missing_package", package="pyarrow") as caught:
        ParquetTable(path)
    assert "pip install pyarrow" in str(caught.value)
