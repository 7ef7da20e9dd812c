"""Fitted models: masks, chunks of rows, budgets, and whether the parts fit."""

import importlib
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from askless import DynamicClassifier
from askless.acquisition import MaxFeatures, Predictor
from askless.checks import example_table
from askless.encoding import TableEncoder
from askless.exceptions import InterviewError, ParameterError, UnseenWarning
from askless.methods import Greedy
from askless.models import Ranking
from tests.coded import no_warning, raises, warns

X, Y = example_table("classification")
NAMES = ("age", "pressure", "colour", "smoker", "dose")


@pytest.fixture(scope="module")
def model():
    quick = Greedy(epochs=2, pretrain_epochs=2, hidden=(8,))
    estimator = DynamicClassifier(3, method=quick, groups={"pressure": ["upper", "lower"]}, missing="answer")
    return estimator.fit(X, Y).model_


@pytest.mark.parametrize("which", ["model.ROWS_AT_ONCE", "acquisition.rollout.CASES_AT_ONCE"])
def test_chunks_of_rows_change_nothing(model, monkeypatch, which):
    known = np.random.default_rng(0).random((len(X), 5)) < 0.3
    whole = model.rollout(X, known=known, available=NAMES[:4])
    module, name = f"askless.{which}".rsplit(".", 1)
    monkeypatch.setattr(importlib.import_module(module), name, 7)
    parts = model.rollout(X, known=known, available=NAMES[:4])
    np.testing.assert_array_equal(parts.order, whole.order)
    np.testing.assert_allclose(parts.predictions, whole.predictions, rtol=1e-5)
    assert model.rollout(pl.from_pandas(X.astype({"age": float, "upper": float, "lower": float, "dose": float})))


@pytest.mark.parametrize("which", ["available", "known"])
def test_masks_by_name_and_by_array(model, which):
    mask = np.zeros((len(X), 5), dtype=bool)
    mask[:, [0, 2]] = True
    by_name = model.rollout(X, **{which: ["age", "colour"]})
    by_array = model.rollout(X, **{which: mask})
    np.testing.assert_array_equal(by_name.order, by_array.order)
    asked = set(by_name.order.ravel()) - {-1}
    assert asked == {0, 2} if which == "available" else not asked & {0, 2}
    assert model.rollout(X, available=[]).order.shape == (len(X), 0)


def test_masks_in_other_forms(model):
    """Names in any iterable; the columns of a frame by name, not by place."""
    by_name = model.rollout(X, available=["age", "dose"]).order
    names = ["age", "dose"]
    frame = pd.DataFrame([[name in names for name in reversed(NAMES)]] * len(X), columns=list(reversed(NAMES)))
    for mask in (iter(names), set(names), np.array(names), pd.Index(names), frame, pl.from_pandas(frame)):
        np.testing.assert_array_equal(model.rollout(X, available=mask).order, by_name)
    with raises(ParameterError, "missing_column", name="available", expected=list(NAMES)):
        model.rollout(X, available=frame.rename(columns={"age": "years"}))


@pytest.mark.parametrize("which", ["available", "known"])
def test_masks_with_the_labels_of_the_table_in_another_order(model, which):
    mask = pd.DataFrame(np.random.default_rng(0).random((len(X), 5)) < 0.5, columns=NAMES, index=X.index)
    whole = model.rollout(X, **{which: mask.to_numpy()})
    turned = mask[::-1]
    with pytest.raises(ValueError, match=rf"{which}\.loc\[X\.index\]"):
        model.rollout(X, **{which: turned})
    np.testing.assert_array_equal(model.rollout(X, **{which: turned.loc[X.index]}).order, whole.order)
    by_position = model.rollout(X, **{which: turned.set_axis(X.index)})
    np.testing.assert_array_equal(by_position.order, model.rollout(X, **{which: turned.to_numpy()}).order)


@pytest.mark.parametrize("which", ["available", "known"])
@pytest.mark.parametrize(
    ("mask", "code"),
    [
        (np.ones((len(X) + 1, 5), dtype=bool), "wrong_shape"),
        (np.ones((len(X) - 1, 5), dtype=bool), "wrong_shape"),
        (np.ones((len(X), 6), dtype=bool), "wrong_shape"),
        (np.ones((len(X), 5)), "wrong_type"),
        (np.ones(5, dtype=bool), "wrong_shape"),
        ([[True] * 5], "wrong_shape"),
    ],
)
def test_masks_of_another_shape_or_type(model, which, mask, code):
    with raises(ParameterError, code, name=which, expected=(120, 5), shape=np.shape(mask)):
        model.rollout(X, **{which: mask})


def test_masks_of_names_that_are_not_there(model):
    with raises(ParameterError, "unknown_name", name="ages", nearest="age"):
        model.rollout(X, known=["ages"])
    with raises(ParameterError, "unknown_name", name="upper", nearest="pressure", group="pressure"):
        model.rollout(X, available=["upper"])
    with raises(ParameterError, "unknown_name", name="upper", nearest="pressure", group="pressure"):
        model.interview(costs={"upper": 3.0})


def test_budgets(model):
    assert model.rollout(X).n_asked.max() == 3
    assert model.rollout(X, max_features=1).n_asked.max() == 1
    assert model.rollout(X, max_features=50).n_asked.max() == 5  # there are no more
    assert model.rollout(X, stopping=MaxFeatures(2)).n_asked.max() == 2
    assert replace(model, stopping=(MaxFeatures(1),)).rollout(X).n_asked.max() == 1
    for wrong in (0, -1, 1.5, True, "3"):
        with raises(ParameterError, "out_of_range", name="max_features", value=wrong, low=1):
            model.rollout(X, max_features=wrong)
        with raises(ParameterError, "out_of_range", name="max_features", value=wrong, low=1):
            model.interview(max_features=wrong)


def test_parts_that_fit(model):
    assert model.checked() is model


class NotANumber(Predictor):
    def predict(self, state):
        return np.full((len(state), 3), np.nan)


@pytest.mark.parametrize(
    "change",
    [
        {"task": "ranking"},
        {"task": "regression"},
        {"missing": "guess"},
        {"classes": ()},
        {"classes": ("a",)},
        {"classes": ("a", "b")},
        {"classes": ("a", "b", "b")},
        {"max_features": 6},
        {"max_features": 2.0},
        {"policy": Ranking([1.0, 2.0])},
        {"predictor": NotANumber()},
        {"policy": object()},
        {"predictor": Ranking([1.0] * 5)},
        {"stopping": ("soon",)},
        {"settings": None},
        {"summary": []},
        {"image_shape": (0, 5)},
        {"encoder": TableEncoder.fit(X[["age", "dose"]])},
    ],
)
def test_parts_that_do_not_fit(model, change):
    with pytest.raises((ValueError, TypeError)):
        replace(model, **change).checked()


INTERVIEWS = {  # every way in which a value comes into an interview
    "answer": lambda model, value: asked(model, "age").answer(value),
    "answers": lambda model, value: model.interview().answers({"age": value, "dose": 1.0}),
    "tell": lambda model, value: model.interview().tell("age", value),
    "known": lambda model, value: model.interview(known={"age": value}),
    "record": lambda model, value: model.interview().record({"age": value}),
}


def asked(model, name):
    return model.interview(unavailable=[other for other in NAMES if other != name])


@pytest.mark.parametrize("way", INTERVIEWS)
def test_numbers_far_outside_the_training_range_warn(model, way):
    part = model.schema.features[0].parts[0]
    where = {"feature": "age", "column": "age", "low": part.low, "high": part.high}
    width = part.high - part.low
    for value in (1e9, "1e9", part.high + 1.01 * width, -1):
        with warns(UnseenWarning, "outside_training_range", **where, value=value) as caught:
            INTERVIEWS[way](model, value)
        assert len(caught) == 1
    with no_warning():
        INTERVIEWS[way](model, part.high + 0.99 * width)
        INTERVIEWS[way](model, 0)
        INTERVIEWS[way](model, None)


@pytest.mark.parametrize("way", INTERVIEWS)
@pytest.mark.parametrize("value", [float("inf"), -np.inf, 10**400])
def test_infinite_answers_are_refused(model, way, value):
    with pytest.raises(InterviewError):
        INTERVIEWS[way](model, value)


@pytest.mark.parametrize("way", INTERVIEWS)
def test_numbers_outside_the_limits_of_the_descriptions_are_refused(model, way):
    limited = replace(model, descriptions={"age": {"low": 0, "high": 120}})
    for value in (171, "171", -0.5):
        with raises(InterviewError, "bad_answer", feature="age", column="age", value=value, low=0, high=120):
            INTERVIEWS[way](limited, value)
    upwards = replace(model, descriptions={"age": {"text": "How old?", "low": 0}})
    with raises(InterviewError, "bad_answer", low=0, high=None):
        INTERVIEWS[way](upwards, -1)
    generous = replace(model, descriptions={"age": {"high": 300}})
    with warns(UnseenWarning, "outside_training_range", value=171):
        INTERVIEWS[way](generous, 171)
    with no_warning():
        INTERVIEWS[way](limited, 119)


def test_a_refused_answer_changes_nothing(model):
    limited = replace(model, descriptions={"age": {"high": 120}})
    talk = limited.interview()
    for event in (talk.answers, talk.record):
        with raises(InterviewError, "bad_answer"):
            event({"dose": 1.0, "age": 171})
    assert talk.history == ()


def test_the_numbers_of_a_group_are_checked(model):
    limited = replace(model, descriptions={"lower": {"low": 10}})
    upper, lower = model.schema.features[1].parts
    with warns(UnseenWarning, "outside_training_range", feature="pressure", column="upper", value=1e6):
        limited.interview().tell("pressure", {"upper": 1e6, "lower": lower.high})
    with raises(InterviewError, "bad_answer", feature="pressure", column="lower", value=9.0, low=10):
        limited.interview().tell("pressure", {"upper": upper.low, "lower": 9.0})
    with no_warning():
        limited.interview().tell("pressure", {"upper": upper.low})


def test_values_can_be_checked_before_they_are_recorded(model):
    limited = replace(model, descriptions={"age": {"low": 0, "high": 120}})
    assert (limited.limits("age"), limited.limits("dose")) == ((0, 120), (None, None))
    with raises(InterviewError, "bad_answer", feature="age", value=171):
        limited.check_answer("age", 171)
    with raises(ParameterError, "unknown_name", name="ages", nearest="age"):
        limited.check_answer("ages", 171)
    with no_warning():  # a caller with limits of its own
        limited.interview(check_values=False).tell("age", 171)


def test_a_table_is_not_checked_against_the_limits(model):
    with no_warning():
        replace(model, descriptions={"age": {"high": 0}}).rollout(X)
