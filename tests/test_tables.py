"""Rows of tables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.tables import column_names, holdout, is_frame, row_chunks, take_rows

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


def test_an_empty_table_is_one_empty_chunk():
    assert [(rows, len(part)) for rows, part in row_chunks(FRAMES["pandas"][:0], 3)] == [(slice(0, 0), 0)]


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
        assert max(np.bincount(y)) * fraction < 1.5 or max(np.bincount(y)) == 1
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


def test_too_few_rows_are_trained_and_validated_on():
    train, valid = holdout(np.array([0, 1]), 0.2, True, 0)
    assert train.tolist() == valid.tolist() == [0, 1]
