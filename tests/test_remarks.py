"""What a fit says about suspicious tables."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from askless import DynamicClassifier, DynamicRegressor
from askless.exceptions import AsklessWarning, DataWarning
from askless.methods import FixedOrder
from askless.remarks import ROWS, find_remarks, warn_of_data
from askless.tables import ParquetTable
from tests.coded import no_warning, warns

QUICK = FixedOrder(epochs=1, hidden=(4,))


def clean(n=200, seed=0):
    """An ordinary table: numbers, whole numbers, categories and gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "weight": rng.normal(70, 12, n).round(1),
            "smokes": rng.random(n) < 0.3,
            "ward": rng.choice(["north", "south", "east"], n),
        }
    )
    frame["lab"] = np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(size=n))
    return frame, rng.integers(0, 2, n)


def remarks(frame, y, task="classification", groups=()):
    return [(each.code, each.column) for each in find_remarks(frame, np.asarray(y), task, groups)]


def test_a_clean_table_is_not_remarked():
    for seed in range(5):
        frame, y = clean(seed=seed)
        assert remarks(frame, y) == []
        assert remarks(frame.to_numpy(), y) == []
        assert remarks(frame, y + frame["weight"].to_numpy(), "regression") == []


@pytest.mark.parametrize(
    ("name", "column", "code"),
    [
        ("id", np.arange(200) + 1000, "row_numbers"),
        ("id", np.random.default_rng(0).permutation(300)[:200].astype(float), "row_numbers"),  # of a part of the rows
        ("clinic", "north", "constant_column"),
        ("clinic", [7.0] * 199 + [None], "constant_column"),
        ("crp", np.where(np.arange(200) % 9, np.random.default_rng(0).normal(size=200), -999), "missing_code"),
    ],
    ids=["numbers", "part", "constant", "constant with a gap", "code"],
)
@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas])
def test_odd_columns(name, column, code, convert):
    frame, y = clean()
    assert remarks(convert(frame.assign(**{name: column})), y) == [(code, name)]


def test_measurements_are_not_row_numbers():
    frame, y = clean()
    for column in (range(0, 600, 3), np.arange(200) / 2, np.r_[np.arange(199), 0], list(map(str, range(200)))):
        assert "row_numbers" not in dict(remarks(frame.assign(x=column), y))


def test_numbers_far_away_that_are_no_codes():
    frame, y = clean()
    for column in ([1.0, 2.0, 500.0, 2.5] * 50, [97.0, 98.0, 99.0, 96.0] * 50, [1.0, 2.0] * 99 + [-999.0, 1.0]):
        assert remarks(frame.assign(x=column), y) == []


def test_copies_of_columns():
    frame, y = clean()
    twice = frame.assign(again=frame["lab"], word=frame["ward"])
    assert remarks(twice, y) == [("duplicate_column", "again"), ("duplicate_column", "word")]
    found = next(find_remarks(twice, y, "classification"))
    assert (found.other, found.rows) == ("lab", 200)
    assert remarks(twice, y, groups=[["lab", "again"], ["word", "ward"]]) == []
    assert remarks(frame.assign(again=frame["lab"].fillna(0.0)), y) == []


def test_copies_of_rows():
    frame, y = clean()
    twice = pd.concat([frame, frame[:30]], ignore_index=True)
    (found,) = find_remarks(twice, np.r_[y, y[:30]], "classification")
    assert (found.code, found.rows, found.column) == ("duplicate_rows", 30, None)
    few = pd.DataFrame({"sex": ["m", "f"] * 100, "smokes": ["no", "no", "yes", "no"] * 50})
    assert remarks(few, y) == []  # such rows must repeat
    empty = frame.astype(object)
    empty[:20] = None
    assert remarks(empty, y) == []  # rows without any value


def test_a_column_that_gives_the_target_away():
    frame, y = clean()
    outcome = np.where(y, "dead", "alive").astype(object)
    outcome[3] = None
    assert remarks(frame.assign(outcome=outcome), y) == [("target_leak", "outcome")]
    outcome[5:25] = "alive"
    assert remarks(frame.assign(outcome=outcome), y) == []  # it errs too often
    numbers = frame["weight"].to_numpy()
    assert remarks(frame, 2.54 * numbers, "regression") == [("target_leak", "weight")]
    noisy = numbers + np.random.default_rng(0).normal(size=200)
    assert remarks(frame, noisy, "regression") == []


def test_a_column_that_separates_one_class_of_several():
    frame, _ = clean(1500)
    y = np.random.default_rng(1).choice(["left", "moved", "stayed"], 1500)
    frame["refund"] = np.where(y == "stayed", 0.0, np.random.default_rng(2).lognormal(size=1500))
    (found,) = find_remarks(frame, y, "classification", ())
    assert (found.code, found.column, found.value) == ("target_leak", "refund", "stayed")
    frame["refund"] += np.where(np.random.default_rng(3).random(1500) < 0.1, 1.0, 0.0)  # no longer perfect
    assert remarks(frame, y) == []
    assert remarks(frame[:900], y[:900]) == []


def test_a_code_in_the_target_of_a_regression():
    frame, _ = clean()
    y = np.where(np.arange(200) % 40 == 0, -999.0, np.random.default_rng(0).normal(size=200))
    assert remarks(frame, y, "regression") == [("missing_code", None)]


def test_fit_warns_once_for_each_kind_of_finding():
    frame, y = clean()
    frame = frame.assign(clinic="north", country="NL", id=range(200))
    with warns(DataWarning, "constant_column", column="clinic", columns=["clinic", "country"], rows=200) as caught:
        model = DynamicClassifier(2, QUICK).fit(frame, y)
    codes = [item.message.code for item in caught]
    assert sorted(codes) == ["constant_column", "row_numbers"]
    assert str(caught[0].message).endswith("drop it, it tells nothing; the same holds for 'country'")
    assert all(item.filename == __file__ for item in caught)
    with no_warning():
        model.predict(frame)  # only `fit` warns


def test_small_tables_and_constant_targets():
    frame, y = clean(60)
    with warns(AsklessWarning, "too_few_rows", rows=29, needed=30):
        DynamicClassifier(2, QUICK).fit(frame[:29], y[:29])
    with no_warning():
        DynamicClassifier(2, QUICK).fit(frame[:30].assign(clinic="north"), y[:30])  # too few rows to be sure
    with warns(AsklessWarning, "constant_target", value=3.0, rows=60):
        DynamicRegressor(2, QUICK).fit(frame, np.full(60, 3))
    with warns(AsklessWarning, "too_few_rows", rows=20):
        DynamicClassifier(1, QUICK).fit(np.random.default_rng(0).random((20, 4, 4)), y[:20])


def test_large_tables_are_looked_at_in_part(tmp_path):
    frame, y = clean(3 * ROWS)
    frame = frame.assign(id=np.arange(3 * ROWS), clinic="north")
    pyarrow.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet")
    for table in (frame, ParquetTable(tmp_path / "t.parquet")):
        with warns(DataWarning, "constant_column", column="clinic", rows=ROWS):
            warn_of_data(table, y, "classification")


def test_it_takes_no_time():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(50_000, 50))).rename(columns="c{}".format)
    start = time.perf_counter()
    with no_warning():
        warn_of_data(wide, rng.integers(0, 2, 50_000), "classification")
    assert time.perf_counter() - start < 3.0  # about 0.2 s on a free processor


def test_wide_tables_of_distinct_numbers_take_no_time():
    """All such columns have the same codes; each was compared with all others."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3000)), columns=[f"x{i}" for i in range(3000)])
    frame["copy"] = frame["x7"]
    start = time.perf_counter()
    assert remarks(frame, rng.integers(0, 2, 200)) == [("duplicate_column", "copy")]
    assert time.perf_counter() - start < 4


def test_a_copy_of_another_type_is_a_copy():
    frame, y = clean()
    for name, other in (("age", float), ("age", object), ("smokes", object)):
        copied = frame.assign(copy=frame[name].astype(other))
        assert remarks(copied, y) == [("duplicate_column", "copy")]
