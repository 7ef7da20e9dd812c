"""Fitted models: masks, chunks of rows, budgets, and whether the parts fit."""

import importlib
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from askless import DynamicClassifier
from askless.checks import example_table
from askless.core import MaxFeatures
from askless.encoding import TableEncoder
from askless.methods import Greedy
from askless.models import Ranking

X, Y = example_table("classification")
NAMES = ("age", "pressure", "colour", "smoker", "dose")


@pytest.fixture(scope="module")
def model():
    quick = Greedy(epochs=2, pretrain_epochs=2, hidden=(8,))
    estimator = DynamicClassifier(3, method=quick, groups={"pressure": ["upper", "lower"]}, missing="answer")
    return estimator.fit(X, Y).model_


@pytest.mark.parametrize("which", ["fitted.ROWS_AT_ONCE", "core.rollout.CASES_AT_ONCE"])
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
    with pytest.raises(ValueError, match="must be the features"):
        model.rollout(X, available=frame.rename(columns={"age": "years"}))


@pytest.mark.parametrize("which", ["available", "known"])
def test_masks_with_the_labels_of_the_table_in_another_order(model, which):
    mask = pd.DataFrame(np.random.default_rng(0).random((len(X), 5)) < 0.5, columns=NAMES, index=X.index)
    whole = model.rollout(X, **{which: mask.to_numpy()})
    turned = mask[::-1]
    with pytest.raises(ValueError, match=rf"{which} has the row labels.*{which}\.loc"):
        model.rollout(X, **{which: turned})
    np.testing.assert_array_equal(model.rollout(X, **{which: turned.loc[X.index]}).order, whole.order)
    by_position = model.rollout(X, **{which: turned.set_axis(X.index)})
    np.testing.assert_array_equal(by_position.order, model.rollout(X, **{which: turned.to_numpy()}).order)


@pytest.mark.parametrize("which", ["available", "known"])
@pytest.mark.parametrize(
    "mask",
    [
        np.ones((len(X) + 1, 5), dtype=bool),
        np.ones((len(X) - 1, 5), dtype=bool),
        np.ones((len(X), 6), dtype=bool),
        np.ones((len(X), 5)),
        np.ones(5, dtype=bool),
        [[True] * 5],
    ],
)
def test_masks_of_another_shape_or_type(model, which, mask):
    with pytest.raises(
        ValueError, match=rf"{which} must be a boolean array of shape \(120, 5\) or a list of feature"
    ):
        model.rollout(X, **{which: mask})


def test_masks_of_names_that_are_not_there(model):
    with pytest.raises(ValueError, match=r"there is no feature 'ages' .did you mean 'age'"):
        model.rollout(X, known=["ages"])
    with pytest.raises(ValueError, match="there is no feature 'upper': it is a part of the group 'pressure'"):
        model.rollout(X, available=["upper"])
    with pytest.raises(ValueError, match="there is no feature 'upper': it is a part of the group 'pressure'"):
        model.interview(costs={"upper": 3.0})


def test_budgets(model):
    assert model.rollout(X).n_asked.max() == 3
    assert model.rollout(X, max_features=1).n_asked.max() == 1
    assert model.rollout(X, max_features=50).n_asked.max() == 5  # there are no more
    assert model.rollout(X, stopping=MaxFeatures(2)).n_asked.max() == 2
    assert replace(model, stopping=(MaxFeatures(1),)).rollout(X).n_asked.max() == 1
    for wrong in (0, -1, 1.5, True, "3"):
        with pytest.raises(ValueError, match="it must be an integer of at least 1"):
            model.rollout(X, max_features=wrong)
        with pytest.raises(ValueError, match="it must be an integer of at least 1"):
            model.interview(max_features=wrong)


def test_parts_that_fit(model):
    assert model.checked() is model


class NotANumber:
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
