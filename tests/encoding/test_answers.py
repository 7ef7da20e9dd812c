"""Answers of an interview: the same code as tables, other errors."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.acquisition.interview import AnswerCodec
from askless.encoding import CellError, TableEncoder
from askless.exceptions import InterviewError, UnseenWarning
from tests.coded import no_warning, raises, warns

TRAIN = pd.DataFrame(
    {
        "age": [20.0, 30.0, 40.0, 70.0, 33.0],
        "sex": ["f", "m", None, "f", "m"],
        "smokes": [True, None, False, True, True],
        "sbp": [120.0, None, 140.0, 110.0, 90.0],
        "dbp": [80.0, 85.0, None, 60.0, 70.0],
        "stage": pd.Categorical([1, 2, 3, 1, 2], ordered=True),
    }
)
ENCODER = TableEncoder.fit(TRAIN, groups={"blood pressure": ["sbp", "dbp"]})
AGE, SEX, SMOKES, PRESSURE, STAGE = range(5)


def test_it_is_an_answer_codec():
    codec: AnswerCodec = ENCODER
    columns = codec.encode_answer(AGE, 25)
    assert columns is not None
    assert columns.shape == (2,)
    assert columns.dtype == np.float32


def agrees(feature, answer, column_values):
    """Whether the answer's columns are those of a table that holds it."""
    table = pd.DataFrame({name: TRAIN[name][:1].astype(object) for name in TRAIN})
    for name, value in column_values.items():
        table[name] = pd.Series([value], dtype=object)
    cases = ENCODER.transform(table)
    described = ENCODER.schema.features[feature]
    columns = ENCODER.encode_answer(feature, answer)
    if not cases.present[0, feature]:
        return columns is None
    return columns.tobytes() == cases.x[0, described.start : described.stop].tobytes()


@settings(deadline=None, max_examples=60)
@given(st.one_of(st.floats(allow_infinity=False), st.integers(-(10**12), 10**12), st.booleans(), st.none()))
def test_numbers_agree_with_tables(value):
    assert agrees(AGE, value, {"age": value})
    assert agrees(AGE, "" if value is None else str(float(value)), {"age": value})


@pytest.mark.filterwarnings("ignore::askless.exceptions.UnseenWarning")
@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(allow_infinity=False, width=64), min_size=1, max_size=400))
def test_numbers_agree_with_long_columns(values):
    x = ENCODER.transform(TRAIN.iloc[[0] * len(values)].assign(age=values)).x
    for value, row in zip(values, x, strict=True):
        columns = ENCODER.encode_answer(AGE, value)
        assert (columns is None) == np.isnan(value)
        assert columns is None or columns.tobytes() == row[:2].tobytes()


@pytest.mark.filterwarnings("ignore::askless.exceptions.UnseenWarning")
@settings(deadline=None, max_examples=60)
@given(st.sampled_from(["f", "m", " f", "x", "", None, float("nan"), "NA", "?"]))
def test_categories_agree_with_tables(value):
    assert agrees(SEX, value, {"sex": value})


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([True, False, 0, 1, "yes", "N", "TRUE", "f", 1.0, np.True_, None, ""]))
def test_booleans_agree_with_tables(value):
    assert agrees(SMOKES, value, {"smokes": value})


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(["sbp", "dbp"]), st.one_of(st.none(), st.floats(50, 250), st.sampled_from(["120", "NA"]))
    )
)
def test_groups_agree_with_tables(answer):
    assert agrees(PRESSURE, answer, {"sbp": None, "dbp": None, **answer})


def test_answers_that_say_nothing():
    for feature in range(5):
        for answer in (None, float("nan"), "", "NA", pd.NA, pd.NaT, {}):
            assert ENCODER.encode_answer(feature, answer) is None
    for feature, answer in ((SEX, "unseen"), (STAGE, 9)):
        with warns(UnseenWarning, "unseen_categories", column=ENCODER.schema.names[feature], value=answer):
            assert ENCODER.encode_answer(feature, answer) is None
    assert ENCODER.encode_answer(PRESSURE, {"sbp": None, "dbp": float("nan")}) is None


def test_choices_may_be_answered_as_text():
    assert ENCODER.encode_answer(STAGE, "2").tolist() == ENCODER.encode_answer(STAGE, 2.0).tolist() == [0, 1, 0]


def test_a_single_column_may_be_answered_by_name():
    assert ENCODER.encode_answer(AGE, {"age": 25}).tolist() == ENCODER.encode_answer(AGE, 25).tolist()


@pytest.mark.parametrize(
    ("feature", "answer", "fields"),
    [
        (AGE, "old", {"feature": "age", "value": "old"}),
        (AGE, float("inf"), {"feature": "age", "value": float("inf")}),
        (AGE, "-inf", {"feature": "age", "value": "-inf"}),
        (AGE, 10**400, {"feature": "age", "value": 10**400}),
        (AGE, 1j, {"feature": "age", "value": 1j}),
        (AGE, [25], {"feature": "age", "value": [25]}),
        (AGE, dt.date(2020, 1, 1), {"feature": "age", "value": dt.date(2020, 1, 1)}),
        (AGE, {"years": 25}, {"feature": "age", "name": "years", "choices": ["age"]}),
        (SEX, 5, {"feature": "sex", "value": 5, "expected": "one of 'f', 'm'"}),
        (SEX, True, {"feature": "sex", "value": True}),
        (SMOKES, "maybe", {"feature": "smokes", "value": "maybe", "expected": "yes or no"}),
        (SMOKES, 2.5, {"feature": "smokes", "value": 2.5}),
        (PRESSURE, 120, {"feature": "blood pressure", "value": 120, "choices": ["sbp", "dbp"]}),
        (PRESSURE, {"spb": 120}, {"feature": "blood pressure", "name": "spb", "nearest": "sbp"}),
        (PRESSURE, {"dbp": "high"}, {"feature": "blood pressure", "column": "dbp", "value": "high"}),
    ],
    ids=str,
)
def test_answers_that_do_not_fit(feature, answer, fields):
    with raises(InterviewError, "bad_answer", **fields):
        ENCODER.encode_answer(feature, answer)


def test_the_message_names_the_answer_and_what_is_expected():
    with raises(InterviewError, "bad_answer") as caught:
        ENCODER.encode_answer(AGE, "old")
    told = "answer to 'age': 'old' is not a number; expected a number (from 20 to 70 in the training table)"
    assert str(caught.value) == told
    with raises(InterviewError, "bad_answer", feature="age") as caught:
        ENCODER.encode_answer(AGE, np.array([25.0]))
    assert "is a ndarray" in str(caught.value)


def test_a_choice_in_other_capitals():
    with warns(UnseenWarning, "other_capitals", column="sex", value="F", choices=["f"]):
        assert ENCODER.encode_answer(SEX, "F").tolist() == ENCODER.encode_answer(SEX, "f").tolist()


@pytest.mark.parametrize("word", ["unknown", "Don't know", "-", " ? ", "NA", ""])
def test_words_for_unknown(word):
    with no_warning():
        for feature in (AGE, SEX, SMOKES, PRESSURE, STAGE):
            assert ENCODER.encode_answer(feature, word) is None


def test_unknown_may_be_a_choice():
    encoder = TableEncoder.fit(pd.DataFrame({"smokes": ["yes", "no", "unknown"]}))
    assert encoder.encode_answer(0, "unknown").sum() == 1
    with warns(UnseenWarning, "other_capitals", value="Unknown", choices=["unknown"]):
        assert encoder.encode_answer(0, "Unknown").sum() == 1
    assert encoder.encode_answer(0, "-") is None


@pytest.mark.parametrize("word", ["yes", "Y", "on", "1", "t"])
def test_words_for_yes(word):
    assert ENCODER.encode_answer(SMOKES, word).tolist() == [1.0]


def test_a_table_takes_no_words_of_people_for_missing():
    for name in ("age", "smokes"):
        with raises(CellError, "bad_cell", column=name, value="unknown"):
            ENCODER.transform(TRAIN.astype(object).assign(**{name: "unknown"}))
