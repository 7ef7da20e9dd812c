"""Categories and booleans."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from askless.encoding import CellError, CellTypeError, TableEncoder
from askless.encoding.category import MAX_CHOICES, Choices
from askless.exceptions import AsklessWarning, UnseenWarning
from tests.coded import raises, warns


def choices(table):
    return TableEncoder.fit(table).schema.features[0].choices


def test_one_column_for_each_choice(frame):
    encoder = TableEncoder.fit(frame({"x": ["b", "a", None, "b"]}))
    cases = encoder.transform(frame({"x": ["a", "b", None, "c", " b "]}))
    assert encoder.schema.features[0].choices == ("a", "b")
    assert cases.x.tolist() == [[1, 0], [0, 1], [0, 0], [0, 0], [0, 1]]  # the unseen "c" says nothing
    assert cases.present.ravel().tolist() == [True, True, False, False, True]
    assert cases.x.dtype == np.float32


def test_missing_text_in_categories(frame):
    table = frame({"x": ["a", "", "  ", "NA", "?", "nan", "null", "b", "none"]})
    encoder = TableEncoder.fit(table)
    assert encoder.schema.features[0].choices == ("a", "b", "none")
    assert encoder.transform(table).present.ravel().tolist() == [True] + [False] * 6 + [True, True]


CATEGORICALS = {
    "pandas": (pd.DataFrame({"x": pd.Categorical(["b", "a", None])}), ("a", "b")),
    "pandas ordered": (
        pd.DataFrame({"x": pd.Categorical(["low", "high", None], ["low", "mid", "high"], ordered=True)}),
        ("low", "high"),
    ),
    "pandas integers": (pd.DataFrame({"x": pd.Categorical([10, 9, None])}), (9, 10)),
    "pandas ordered integers": (pd.DataFrame({"x": pd.Categorical([1, 2, None], [2, 1], ordered=True)}), (2, 1)),
    "pandas floats": (pd.DataFrame({"x": pd.Categorical([1.5, 0.5, None])}), (0.5, 1.5)),
    "pandas booleans": (pd.DataFrame({"x": pd.Categorical([True, False, None])}), (False, True)),
    "pandas dates": (
        pd.DataFrame({"x": pd.Categorical([dt.date(2020, 1, 2), dt.date(2020, 1, 1), None])}),
        ("2020-01-01", "2020-01-02"),
    ),
    "pandas intervals": (pd.DataFrame({"x": pd.cut([15, 5, np.nan], [0, 10, 20])}), ("(0, 10]", "(10, 20]")),
    "pandas number text": (pd.DataFrame({"x": pd.Categorical(["2", "1", None])}), ("1", "2")),
    "polars": (pl.DataFrame({"x": pl.Series(["b", "a", None], dtype=pl.Categorical)}), ("a", "b")),
    "polars enum": (
        pl.DataFrame({"x": pl.Series(["low", "high", None], dtype=pl.Enum(["low", "mid", "high"]))}),
        ("low", "high"),
    ),
    "pyarrow": (pa.table({"x": pa.array(["b", "a", None]).dictionary_encode()}), ("a", "b")),
    "pyarrow integers": (pa.table({"x": pa.array([10, 9, None]).dictionary_encode()}), (9, 10)),
}


@pytest.mark.parametrize("name", CATEGORICALS)
def test_categorical_types(name):
    table, expected = CATEGORICALS[name]
    encoder = TableEncoder.fit(table)
    feature = encoder.schema.features[0]
    assert feature.kind == "category"
    assert feature.choices == expected
    assert [type(choice) for choice in feature.choices] == [type(choice) for choice in expected]
    cases = encoder.transform(table)
    assert cases.present.ravel().tolist() == [True, True, False]
    assert cases.x.sum(axis=1).tolist() == [1, 1, 0]


def test_two_spellings_of_a_word_are_told():
    with warns(AsklessWarning, "similar_spellings", column="x", choices=["NO", "no", "Yes", "yes"]):
        encoder = TableEncoder.fit(pd.DataFrame({"x": ["yes", "Yes ", "no", "NO", "maybe", None]}))
    assert encoder.schema.features[0].choices == ("NO", "Yes ", "maybe", "no", "yes")


def test_one_and_1_point_0_and_text_agree():
    encoder = TableEncoder.fit(pd.DataFrame({"x": pd.Categorical([1, 2, 3])}))
    expected = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    for values in ([1, 3], [1.0, 3.0], ["1", "3"], ["1.0", " 3 "], pd.Categorical([1.0, 3.0]), np.float32([1, 3])):
        assert encoder.transform(pd.DataFrame({"x": values})).x.tolist() == expected
    assert encoder.transform(pl.DataFrame({"x": [1, 3]})).x.tolist() == expected


def test_missing_values_do_not_change_the_text_of_intervals():
    encoder = TableEncoder.fit(pd.DataFrame({"x": pd.cut([15, 5, np.nan], [0, 10, 20])}))
    assert encoder.transform(pd.DataFrame({"x": pd.cut([5, 15], [0, 10, 20])})).present.all()
    assert encoder.transform(pd.DataFrame({"x": ["(0, 10]", "(10, 20]"]})).present.all()


def test_unseen_categories_of_any_type_are_unknown():
    encoder = TableEncoder.fit(pd.DataFrame({"x": pd.cut([15, 5], [0, 10, 20, 30])}))
    assert encoder.transform(pd.DataFrame({"x": pd.cut([25, 5], [0, 10, 20, 30])})).present.tolist() == [
        [False],
        [True],
    ]
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 2), None]
    encoder = TableEncoder.fit(pa.table({"x": pa.array(days[:1]).dictionary_encode()}))
    assert encoder.schema.features[0].choices == ("2020-01-01",)
    table = pa.table({"x": pa.array(days).dictionary_encode()})
    assert encoder.transform(table).present.ravel().tolist() == [True, False, False]


def test_a_column_of_which_nothing_was_seen_is_told():
    encoder = TableEncoder.fit(pd.DataFrame({"x": ["Oslo", "Rom"]}))
    with warns(UnseenWarning, "unseen_categories", column="x", value="Bonn", choices=["Oslo", "Rom"]):
        assert not encoder.transform(pd.DataFrame({"x": ["Bonn", "Graz", None] * 5})).present.any()
    assert not encoder.transform(pd.DataFrame({"x": ["Bonn", "Graz", None] * 4})).present.any()  # too few to say
    assert encoder.transform(pd.DataFrame({"x": ["Bonn", "Graz", "Rom"] * 5})).present.any()


def test_a_word_in_other_capitals_is_the_choice_that_it_means_and_is_told(frame):
    encoder = TableEncoder.fit(frame({"x": ["fever", "mäßig", "Pain", None]}))
    assert encoder.schema.features[0].choices == ("Pain", "fever", "mäßig")
    with warns(UnseenWarning, "other_capitals", column="x", choices=["fever", "mäßig", "Pain", "fever"]) as told:
        cases = encoder.transform(frame({"x": ["Fever", "MÄSSIG", " PAIN", "cough", "fever", "FEVER"] * 3}))
    assert str(told[0].message).endswith("' PAIN' as 'Pain' and 1 more")
    one_hot = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0]]
    assert cases.x.tolist() == one_hot * 3


def test_spellings_that_training_tells_apart_stay_apart():
    with warns(AsklessWarning, "similar_spellings", column="x", choices=["Red", "red"]):
        encoder = TableEncoder.fit(pd.DataFrame({"x": ["Red", "red", "blue"]}))
    cases = encoder.transform(pd.DataFrame({"x": ["Red", "red", "RED"]}))  # the last one might be either
    assert cases.present.ravel().tolist() == [True, True, False]
    assert cases.x[0].tolist() != cases.x[1].tolist()


def test_categories_that_are_booleans_are_found_in_any_capitals():
    encoder = TableEncoder.fit(pd.DataFrame({"x": pd.Categorical([True, False])}))
    with warns(UnseenWarning, "other_capitals", column="x", choices=[True]):
        assert encoder.transform(pd.DataFrame({"x": ["TRUE", "False"]})).present.all()


def test_capitals_cost_nothing_for_each_row(monkeypatch):
    """Each distinct word is looked up once, however many rows hold it."""
    encoder = TableEncoder.fit(pd.DataFrame({"x": ["fever", "pain"]}))
    looked_up = []
    alike = Choices.alike
    monkeypatch.setattr(Choices, "alike", lambda self, cell: looked_up.append(cell) or alike(self, cell))
    with warns(UnseenWarning, "other_capitals", column="x", choices=["fever"]):
        encoder.transform(pd.DataFrame({"x": ["Fever", "cough"] * 50_000}))
    assert looked_up == ["Fever", "cough"]


def test_unseen_numbers_are_unknown_where_choices_are_numbers():
    encoder = TableEncoder.fit(pd.DataFrame({"x": pd.Categorical(["1", "2"])}))
    assert encoder.transform(pd.DataFrame({"x": [2.0, 7.0, np.nan]})).present.ravel().tolist() == [True, False, False]


@pytest.mark.parametrize(("values", "row", "value"), [([np.nan, 2.5], 1, 2.5), ([True, False], 0, True)], ids=str)
def test_the_wrong_type_of_column_counts_as_unknown_and_is_told(values, row, value):
    encoder = TableEncoder.fit(pd.DataFrame({"x": ["a", "b"]}))
    with warns(AsklessWarning, "unexpected_type", column="x", row=row, value=value):
        assert not encoder.transform(pd.DataFrame({"x": values})).present.any()
    among_others = encoder.transform(pd.DataFrame({"x": [*values, "a"]}))  # the same, and nothing to tell
    assert among_others.present.ravel().tolist() == [False, False, True]


def test_what_is_no_cell_at_all_is_refused():
    encoder = TableEncoder.fit(pd.DataFrame({"x": ["a", "b"]}))
    with raises(CellTypeError, "bad_cell", column="x", row=1, value={}):
        encoder.transform(pd.DataFrame({"x": [None, {}]}))


def test_a_float_column_without_values_is_missing_everywhere(frame):
    encoder = TableEncoder.fit(frame({"x": ["a", "b"]}))
    assert not encoder.transform(frame({"x": [float("nan"), None]})).present.any()


def test_infinity_is_no_category():
    table = pd.DataFrame({"x": pd.Categorical([1.0, np.inf])})
    for call in (TableEncoder.fit, TableEncoder.fit(pd.DataFrame({"x": pd.Categorical([1.0, 2.0])})).transform):
        with raises(CellError, "bad_cell", column="x", row=1, value=np.inf):
            call(table)


def test_mixed_choices_are_sorted_numbers_first():
    assert choices(pd.DataFrame({"x": pd.Series(["b", 10, "a", 9, "c", True], dtype=object)})) == (
        True,
        9,
        10,
        "a",
        "b",
        "c",
    )


def test_very_many_categories(frame):
    values = [f"c{i:03d}" for i in range(150)] + ["c149"] * 20 + ["c148"]
    with warns(AsklessWarning, "too_many_categories", column="city", value=150, rows=171, high=100):
        encoder = TableEncoder.fit(frame({"city": values}))
    kept = encoder.schema.features[0].choices
    assert kept == (*(f"c{i:03d}" for i in range(MAX_CHOICES - 2)), "c148", "c149")
    assert encoder.transform(frame({"city": ["c000", "c120", "c149"]})).present.ravel().tolist() == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(("copies", "told"), [(0, True), (10, True), (40, False)])
def test_what_differs_in_nearly_every_row_may_be_an_identifier(frame, copies, told):
    values = [f"P{i}" for i in range(150)]
    with warns(AsklessWarning, "too_many_categories", column="id", value=150) as caught:
        TableEncoder.fit(frame({"id": values + values[:copies]}))
    assert ("drop it if it is an identifier" in str(caught[0].message)) is told


# Booleans


def test_booleans_are_minus_one_and_one(frame):
    encoder = TableEncoder.fit(frame({"x": [True, False, None]}))
    for values in (
        [True, False, None],
        [1, 0, None],
        [1.0, 0.0, None],
        ["Yes", "n", ""],
        ["TRUE", " f ", "NA"],
        ["1", "0", "?"],
    ):
        cases = encoder.transform(frame({"x": values}))
        assert cases.x.tolist() == [[1.0], [-1.0], [0.0]]
        assert cases.present.ravel().tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("values", "row"),
    [([1.0, 2.5], 1), (["yes", "no", "maybe"], 2), (["On", "off", "T", "0", "F", "unknown"], 5)],
)
def test_what_is_no_boolean(frame, values, row):
    encoder = TableEncoder.fit(frame({"x": [True, False]}))
    with raises(CellError, "bad_cell", column="x", row=row, value=values[row]):
        encoder.transform(frame({"x": values}))


# Numbers at transform


def test_a_number_column_receives_booleans_and_text(frame):
    encoder = TableEncoder.fit(frame({"x": [0.0, 1.0, 2.0, 3.0]}))
    expected = encoder.transform(frame({"x": [1.0, 0.0, None]}))
    for values in ([True, False, None], ["1", " 0.0 ", "NA"]):
        cases = encoder.transform(frame({"x": values}))
        np.testing.assert_array_equal(cases.x, expected.x)
        np.testing.assert_array_equal(cases.present, expected.present)
    with raises(CellError, "bad_cell", column="x", row=1, value="tall", words=("tall",)):
        encoder.transform(frame({"x": ["1", "tall", "huge"]}))
