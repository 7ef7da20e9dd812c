"""Frames and arrays: names, positions, and what is not a table."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from askless.encoding import TableEncoder, read_table
from askless.exceptions import TableError
from tests.coded import raises

DATA = {"age": [20.0, 30.0, 40.0], "sex": ["f", "m", "f"], "smokes": [True, False, True]}


def test_columns_of_a_frame(frame):
    columns = read_table(frame(DATA))
    assert columns.names == ("age", "sex", "smokes")
    assert (len(columns.names), columns.n_rows, columns.named) == (3, 3, True)
    assert columns.column(0).values.tolist() == [20, 30, 40]


def test_columns_of_an_array():
    columns = read_table(np.eye(3))
    assert (columns.names, columns.n_rows, columns.named) == (("x0", "x1", "x2"), 3, False)


def test_every_library_gives_the_same(frame):
    data = {
        "n": [1.5, None, 4.0, 2.0],
        "c": ["a", "b", None, "a"],
        "b": [True, None, False, True],
        "i": [1, 2, 3, None],
    }
    reference = TableEncoder.fit(pd.DataFrame(data))
    encoder = TableEncoder.fit(frame(data))
    assert encoder.to_json() == reference.to_json()
    cases, expected = encoder.transform(frame(data)), reference.transform(pd.DataFrame(data))
    np.testing.assert_array_equal(cases.x, expected.x)
    np.testing.assert_array_equal(cases.present, expected.present)
    array = np.array(pd.DataFrame(data).astype(object))
    np.testing.assert_array_equal(encoder.transform(array).x, expected.x)
    np.testing.assert_array_equal(TableEncoder.fit(array).transform(array).x, expected.x)


def test_order_and_further_columns_do_not_matter(frame):
    encoder = TableEncoder.fit(frame(DATA))
    other = frame({"new": [0, 0, 0], **{name: DATA[name] for name in reversed(DATA)}})
    np.testing.assert_array_equal(encoder.transform(other).x, encoder.transform(frame(DATA)).x)


def test_missing_columns_are_all_named_with_the_nearest(frame):
    encoder = TableEncoder.fit(frame(DATA))
    with raises(TableError, "missing_column", columns=["age", "smokes"], nearest="AGE") as caught:
        encoder.transform(frame({"AGE": [1.0], "sex": ["f"], "zip": [1]}))
    told = "the table lacks 'age' (did you mean 'AGE'?), 'smokes'; if they are never available, add them empty"
    assert str(caught.value) == told


def test_an_array_after_a_frame_goes_by_position(frame):
    encoder = TableEncoder.fit(frame(DATA))
    array = np.array([[20.0, "f", True]], dtype=object)
    np.testing.assert_array_equal(encoder.transform(array).x, encoder.transform(frame(DATA)).x[:1])


@pytest.mark.parametrize("table", [np.zeros((2, 3)), np.zeros((2, 3)).tolist(), pd.DataFrame(np.zeros((2, 3)))])
def test_the_number_of_columns_must_match(table):
    encoder = TableEncoder.fit(np.eye(4))
    with raises(TableError, "wrong_shape", value=3, expected=4) as caught:
        encoder.transform(table)
    assert (
        str(caught.value) == "X has 3 features, but TableEncoder is expecting 4 features as input"
    )  # scikit-learn's


def test_a_frame_after_an_array():
    rows = np.array([[1.0, 10.0], [2.0, 30.0], [5.0, 20.0]])
    encoder = TableEncoder.fit(rows)
    expected = encoder.transform(rows).x
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame(rows, columns=["a", "b"])).x, expected)
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame(rows[:, ::-1], columns=["x1", "x0"])).x, expected)


def test_names_that_are_not_text():
    table = pd.DataFrame({0: [1.0, 2.0], ("a", 1): [True, False]})
    encoder = TableEncoder.fit(table)
    assert encoder.columns == ("0", "('a', 1)")
    assert encoder.transform(table[[("a", 1), 0]]).x.tolist() == encoder.transform(table).x.tolist()
    levels = pd.DataFrame(np.eye(2), columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert TableEncoder.fit(levels).columns == ("('a', 1)", "('a', 2)")


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(np.zeros((2, 3)), columns=["a", "b", "a"]),
        pd.DataFrame(np.zeros((2, 3)), columns=["column_names", "a", "a"]),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ],
)
def test_repeated_names(table):
    with raises(TableError, "duplicate_name", name="a"):
        TableEncoder.fit(table)


def test_names_that_become_the_same_as_text():
    with raises(TableError, "duplicate_name", name="1"):
        TableEncoder.fit(pd.DataFrame(np.zeros((2, 2)), columns=[1, "1"]))


def test_empty_tables(frame):
    encoder = TableEncoder.fit(frame(DATA))
    for call in (TableEncoder.fit, encoder.transform):
        for table in (pd.DataFrame(DATA)[:0], pl.DataFrame(DATA)[:0], pa.table(DATA)[:0], np.zeros((0, 3))):
            with raises(TableError, "too_few_rows", shape=(0, 3)):
                call(table)
        for table in (np.zeros((12, 0)), pd.DataFrame(index=range(12))):
            with raises(TableError, "wrong_shape", shape=(12, 0)):
                call(table)


@pytest.mark.parametrize(
    ("table", "code", "fields"),
    [
        (np.zeros(3), "wrong_shape", {"shape": (3,)}),
        (np.zeros((1, 2, 3)), "wrong_shape", {"shape": (1, 2, 3)}),
        (pd.Series([1, 2]), "wrong_shape", {"shape": (2,)}),
        ([[1, 2], [3]], "wrong_shape", {}),
        (pl.LazyFrame({"a": [1]}), "wrong_type", {"value": "LazyFrame"}),
        ("data.csv", "wrong_type", {"value": "str"}),
        (None, "wrong_type", {"value": "NoneType"}),
    ],
    ids=str,
)
def test_what_is_not_a_table(table, code, fields):
    with raises(TableError, code, **fields):
        TableEncoder.fit(table)


def test_sparse_matrices_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with raises(TableError, "wrong_type", value="dia_array"):
        TableEncoder.fit(sparse.eye_array(3))


def test_a_column_called_toarray_is_no_sparse_matrix():
    assert TableEncoder.fit(pd.DataFrame({"toarray": [1.0, 2.0]})).columns == ("toarray",)


def test_input_is_never_modified():
    data = {"n": [1.5, None, 4e-300], "t": ["1", " ", "3"], "c": ["a", " b", None], "b": [True, None, False]}
    table = pd.DataFrame(data).assign(k=pd.Categorical(["u", "v", None]), f=np.array([1.0, 5e-324, 3.0]))
    array = np.array(table.astype(object))
    floats = np.array([[1.0, np.nan], [5e-324, 2.0], [3.0, 1e300]])
    for original, groups in ((table, {"g": ["n", "t"]}), (array, {"g": [0, 1]}), (floats, {"g": [0, 1]})):
        before = original.copy()
        encoder = TableEncoder.fit(original, groups=groups)
        cases = encoder.transform(original)
        assert not np.shares_memory(cases.x, np.asarray(original))
        pd.testing.assert_frame_equal(pd.DataFrame(original), pd.DataFrame(before))


def test_read_only_input():
    floats = np.array([[1.0, np.nan], [2.0, 2.0], [3.0, 5.0]])
    floats.setflags(write=False)
    assert TableEncoder.fit(floats).transform(floats).x.shape == (3, 3)


def test_statistics_come_from_the_training_rows_alone():
    train = pd.DataFrame({"n": [1.0, 2.0, 5.0], "c": ["a", "b", "a"]})
    encoder = TableEncoder.fit(train)
    before, row = encoder.to_json(), encoder.transform(train[1:2]).x
    other = pd.DataFrame({"n": [100.0, 2.0, -7.0], "c": ["z", "b", "y"]})
    cases = encoder.transform(other)
    assert encoder.to_json() == before
    np.testing.assert_array_equal(cases.x[1:2], row)  # a row's encoding does not depend on the rows around it


def test_importing_and_answering_loads_no_frame_library():
    script = """
import sys
from askless.encoding import TableEncoder
import json
data = json.loads(sys.argv[1])
encoder = TableEncoder.from_json(data)
assert encoder.encode_answer(0, "25") is not None and encoder.encode_answer(1, "f") is not None
assert encoder.encode_answer(2, "yes") is not None and encoder.encode_answer(2, None) is None
print(sorted({"pandas", "narwhals", "polars", "pyarrow", "torch", "sklearn", "scipy"} & set(sys.modules)))
"""
    data = json.dumps(TableEncoder.fit(pd.DataFrame(DATA)).to_json())
    done = subprocess.run([sys.executable, "-c", script, data], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
