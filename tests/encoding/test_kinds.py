"""Which kind a training column gets, in every library."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from askless.encoding import CellError, CellTypeError, TableEncoder
from askless.exceptions import AsklessWarning, TableError
from tests.coded import raises, warns

NAN = float("nan")


def feature(table, i=0):
    return TableEncoder.fit(table).schema.features[i]


def objects(*cells):
    column = np.empty((len(cells), 1), dtype=object)
    column[:, 0] = cells
    return column


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, None, 3.0], "number"),
        ([1, 2, 3], "number"),
        ([1, None, 3], "number"),
        ([True, False, True], "boolean"),
        ([True, None, False], "boolean"),
        (["a", "b", None], "category"),
        (["1", " 2.5", None], "number"),
        (["1", "NA", "", "?", " ", "nan", "NULL"], "number"),
        (["yes", "no", "yes"], "category"),
        (["a", "b", "1"], "category"),
        ([Decimal("1.5"), Decimal("2.5"), None], "number"),
    ],
    ids=str,
)
def test_kinds_in_frames(frame, values, kind):
    assert feature(frame({"x": values})).kind == kind
    assert feature(objects(*values)).kind == kind


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2.5, np.float32(3), np.int8(1), None], "number"),
        ([True, 2.5], "number"),
        ([True, np.False_, None, NAN], "boolean"),
        ([1, "2", Decimal("3.5")], "number"),
        (["a", "b", 1], "category"),
        ([pd.NA, pd.NaT, np.datetime64("NaT"), 1.0], "number"),
        ([pd.NA, "a", np.str_("b")], "category"),
        ([True, "maybe"], "category"),
    ],
    ids=str,
)
def test_kinds_of_objects(cells, kind):
    assert feature(objects(*cells)).kind == kind
    assert feature(pd.DataFrame({"x": pd.Series(cells, dtype=object)})).kind == kind


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1.5, None], dtype="Float64"),
        pd.Series([1, None], dtype="int64[pyarrow]"),
        pd.Series([1, 2], dtype="uint8"),
        pd.Series([0.5, 2], dtype="float16"),
        pd.Series(pd.arrays.SparseArray([0.0, 1.0])),
        pl.Series([1, None], dtype=pl.UInt8),
        pl.Series([1, None], dtype=pl.Int128),
        pl.Series([Decimal("1.5"), None], dtype=pl.Decimal(10, 2)),
    ],
    ids=lambda series: str(series.dtype),
)
def test_number_types(series):
    table = series.rename("x").to_frame()
    encoder = TableEncoder.fit(table)
    assert encoder.schema.features[0].kind == "number"
    assert encoder.transform(table).present[0, 0]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([True, None], dtype="boolean"),
        pd.Series([True, None], dtype="bool[pyarrow]"),
        pl.Series([True, None]),
    ],
    ids=lambda series: str(series.dtype),
)
def test_boolean_types(series):
    table = series.rename("x").to_frame()
    encoder = TableEncoder.fit(table)
    assert encoder.schema.features[0].kind == "boolean"
    cases = encoder.transform(table)
    assert cases.x.tolist() == [[1.0], [0.0]]
    assert cases.present.tolist() == [[True], [False]]


def test_arrays_of_any_numeric_type():
    for dtype in (bool, np.int8, np.uint64, np.float16, np.float32, np.float64, np.longdouble):
        kind = "boolean" if dtype is bool else "number"
        assert feature(np.array([[0], [1], [1]], dtype=dtype)).kind == kind


def test_text_arrays_and_lists():
    assert feature(np.array([["a"], ["b"]])).kind == "category"
    assert feature(np.array([["1"], ["2"]])).kind == "number"
    encoder = TableEncoder.fit([[1, "a"], [2, "b"]])
    assert [f.kind for f in encoder.schema.features] == ["number", "category"]


def test_masked_arrays():
    masked = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert TableEncoder.fit(masked).transform(masked).present.tolist() == [[True, False], [True, True]]
    assert TableEncoder.fit(masked.astype(int)).transform(masked.astype(int)).present.tolist() == [
        [True, False],
        [True, True],
    ]


# Numbers with text among them


def test_text_among_numbers_names_column_row_and_value(frame):
    values = [str(i) for i in range(20)]
    values[17] = "tall"
    with raises(CellError, "bad_cell", column="x", row=17, value="tall", words=("tall",)) as caught:
        TableEncoder.fit(frame({"x": values}))
    assert str(caught.value).startswith("column 'x', row 17 (0-based): 'tall' is not a number, but 19 of 20 values")
    assert "categorical" in str(caught.value)


def test_half_numbers_is_an_error_and_less_is_a_category():
    with raises(CellError, "bad_cell", column="x0", row=2, value="a", words=("a", "b")):
        TableEncoder.fit(objects("1", 2, "a", "b"))
    assert feature(objects("1", "a", "b")).kind == "category"
    assert feature(objects(*"aaa", "1", None, None)).kind == "category"


def test_the_first_bad_row_counts_missing_rows():
    with raises(CellError, "bad_cell", row=3, value="x"):
        TableEncoder.fit(objects(None, 1.0, "2", "x", "x", 3))


# What is refused


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01", None])}),
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01"]).tz_localize("UTC")}),
        pd.DataFrame({"when": pd.to_timedelta([1], unit="D")}),
        pd.DataFrame({"when": pd.period_range("2020", periods=2, freq="D")}),
        pd.DataFrame({"when": pd.Series([None, dt.date(2020, 1, 1)], dtype=object)}),
        pd.DataFrame({"when": pd.Series([pd.Timestamp("2020")], dtype=object)}),
        pd.DataFrame({"when": pd.Series([np.timedelta64(1, "D")], dtype=object)}),
        pl.DataFrame({"when": [dt.date(2020, 1, 1)]}),
        pl.DataFrame({"when": [dt.datetime(2020, 1, 1)]}),
        pl.DataFrame({"when": [dt.timedelta(1)]}),
        pl.DataFrame({"when": [dt.time(1)]}),
        pa.table({"when": [dt.date(2020, 1, 1)]}),
    ],
    ids=range(12),
)
def test_dates_are_refused_with_advice(table):
    with pytest.raises(TableError) as caught:
        TableEncoder.fit(table)
    assert caught.value.code in ("bad_column", "bad_cell")
    assert caught.value.fields["column"] == "when"
    assert "age in days" in str(caught.value)


def test_dates_in_arrays_are_refused():
    with raises(TableError, "bad_column", column="x0"):
        TableEncoder.fit(np.array([["2020-01-01"]], dtype="datetime64[D]"))


@pytest.mark.parametrize(
    "bad", [{"foo": "bar"}, [1], {1}, object(), b"bytes", (1, 2), np.array([1.0])], ids=lambda bad: type(bad).__name__
)
def test_other_objects_are_refused(bad):
    table = objects(1.0, 2.0, bad)
    with raises(CellTypeError, "bad_cell", column="x0", row=2):
        TableEncoder.fit(table)
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        TableEncoder.fit(table)
    with raises(CellTypeError, "bad_cell", row=2):
        TableEncoder.fit(np.array([[1.0], [2.0], [4.0]])).transform(table)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, {"a": 2}]], ids=["lists", "structs"])
def test_nested_columns_are_refused(make, values):
    with raises(CellTypeError, "bad_cell", column="x", row=0):
        TableEncoder.fit(make({"x": values}))


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinity_is_refused_at_fit_and_transform(frame, bad):
    good, table = (
        frame({"a": [1.0, 2.0, 3.0], "x": [1.0, 2.0, 5.0]}),
        frame({"a": [1.0, 2.0, 3.0], "x": [1.0, bad, bad]}),
    )
    for call in (TableEncoder.fit, TableEncoder.fit(good).transform):
        with raises(CellError, "bad_cell", column="x", row=1, value=bad):
            call(table)


@pytest.mark.parametrize(
    "cell",
    [float("inf"), "inf", "-Infinity", 10**400, -(10**400), Decimal("inf"), np.float32("inf")],
    ids=lambda c: str(c)[:12],
)
def test_infinity_among_objects(cell):
    with raises(CellError, "bad_cell", row=1, value=cell.item() if isinstance(cell, np.generic) else cell):
        TableEncoder.fit(objects(1, cell, 2, 3))


def test_too_large_long_doubles():
    huge = np.array([[1], [2]], dtype=np.longdouble) * np.longdouble(10) ** 400
    if np.isinf(huge.astype(np.longdouble)).any():
        pytest.skip("long doubles are doubles here")
    with raises(CellError, "bad_cell", row=0):
        TableEncoder.fit(huge)


def test_complex_numbers_are_refused():
    for table in (np.array([[1j]]), objects(1j), pd.DataFrame({"x": [1j, 2]})):
        with pytest.raises(TableError, match="Complex data not supported"):
            TableEncoder.fit(table)


def test_bytes_arrays_are_refused():
    with raises(TableError, "bad_column", column="x0", value="|S1"):
        TableEncoder.fit(np.array([[b"a"]]))


# Columns without values


def test_a_column_without_values_is_left_out(frame):
    table = frame({"a": [1.0, 2.0], "void": [None, None], "blank": ["", " "]})
    with warns(AsklessWarning, "empty_column", columns=["void", "blank"]):
        encoder = TableEncoder.fit(table)
    assert encoder.schema.names == ("a",)
    assert encoder.columns == ("a", "void", "blank")
    assert encoder.transform(frame({"a": [1.0]})).x.shape == (1, 1)
    assert encoder.transform(np.ones((1, 3))).x.shape == (1, 1)


def test_a_table_without_values(frame):
    with raises(TableError, "bad_column", columns=["a", "b"]):
        TableEncoder.fit(frame({"a": [None, None], "b": [float("nan"), None]}))


@pytest.mark.parametrize(
    ("cells", "called"),
    [
        (["60 kg", "70 kg", "80 kg"], "a number with a unit"),
        (["5%", "10%", "other"], "a number with a unit"),
        (["05/2024", "06/2024"], "a month"),
    ],
)
def test_few_numbers_with_units_and_few_months_are_categories_and_told(cells, called):
    with warns(AsklessWarning, "numbers_as_categories", column="x0", value=cells[0]) as caught:
        assert feature(objects(*cells)).kind == "category"
    assert called in str(caught[0].message)


@pytest.mark.parametrize("cells", [["01", "2", "10"], ["1", " 01000", None], ["038.9", "250.0"], [3, "-07"]], ids=str)
def test_zeros_in_front_are_told(cells):
    padded = next(cell for cell in cells if isinstance(cell, str) and "0" in cell[:2])
    with warns(AsklessWarning, "leading_zeros", column="x0", value=padded) as told:
        assert feature(objects(*cells)).kind == "number"
    assert len(told) == 1


def test_codes_as_categories_keep_their_zeros(frame):
    codes = pd.Series(["01", "1", "10"], dtype="category")
    assert feature(pd.DataFrame({"x": codes})).choices == ("01", "1", "10")


def test_numbers_that_begin_with_a_zero_are_not_told():
    assert feature(objects("0", "0.5", "-0.25", "0e3", "10", 0, 0.5)).kind == "number"  # warnings are errors here


def test_codes_that_end_in_letters_are_not_told():
    assert feature(objects("3A", "12B", "4C", "red")).kind == "category"  # warnings are errors here


def test_what_programs_write_for_no_number_is_missing():
    cells = ["1.5", "-nan", "2.5", "-nan(ind)", "NaN"]
    fitted = TableEncoder.fit(pd.DataFrame({"a": cells, "b": range(5)}))
    assert fitted.schema.features[0].kind == "number"
    assert fitted.transform(pd.DataFrame({"a": cells, "b": range(5)})).present[:, 0].tolist() == [1, 0, 1, 0, 0]


def test_a_word_that_python_reads_as_no_number_is_no_number():
    assert feature(objects("Nan", "Lan", "Nan")).kind == "category"
    assert feature(objects("Nan", "Nan")).kind == "category"
    with raises(CellError, "bad_cell", column="x0", row=2, value="Nan"):
        feature(objects("1", "2", "Nan"))


def test_text_whose_points_seem_to_separate_thousands_is_refused():
    with raises(CellError, "bad_cell", row=1, value="1.250") as caught:
        feature(objects("850", "1.250", "12.547", "7"))
    assert "thousands" in str(caught.value)
    assert feature(objects("850", "1.250", "12.5", "7")).kind == "number"
