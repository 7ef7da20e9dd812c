"""A method of the user's own is fitted, asked, saved and loaded like those of the package."""

import numpy as np
import pytest

from askless import DynamicClassifier, load
from askless.acquisition import Policy
from askless.exceptions import ParameterError
from askless.methods import Fitted, Method
from askless.models import NetPolicy
from askless.training import (
    NetSettings,
    exported_predictor,
    new_policy_predictor,
    seeded,
    train_predictor,
    uniform_sets,
)
from tests.coded import raises


class Untrained(Method):
    """A policy network with its initial weights, beside a trained predictor."""

    kind = "dynamic"

    def __init__(self, width=8):
        self.width = width

    def _fit(self, problem, seed, progress, checkpoint):
        net = NetSettings(
            hidden=(self.width,), dropout=0.0, batch_size=64, learning_rate=1e-2, weight_decay=0.0, epochs=2
        )
        sampler = uniform_sets(problem.max_features)
        module, history = train_predictor(problem, sampler, net, seed=seed, progress=progress, checkpoint=checkpoint)
        with seeded(seed):
            policy = new_policy_predictor(problem, net, shared=False).policy
        return Fitted(NetPolicy(policy.exported()), exported_predictor(module, problem), history)


class LargestColumn(Policy):
    def score(self, state):
        return np.broadcast_to(np.arange(state.asked.shape[1], dtype=float), state.asked.shape)


class OwnPolicy(Untrained):
    def _fit(self, problem, seed, progress, checkpoint):
        fitted = super()._fit(problem, seed, progress, checkpoint)
        return Fitted(LargestColumn(), fitted.predictor, fitted.history)


@pytest.fixture
def data():
    X = np.random.default_rng(0).normal(size=(200, 5))
    return X, X[:, 0] > 0


def test_a_method_of_ones_own_is_fitted_asked_saved_and_loaded(data, tmp_path):
    X, y = data
    model = DynamicClassifier(3, method=Untrained(width=6), random_state=0).fit(X, y)
    model.save(tmp_path / "m.askless")
    loaded = load(tmp_path / "m.askless")
    before, after = model.rollout(X), loaded.rollout(X)
    np.testing.assert_array_equal(after.order, before.order)
    np.testing.assert_array_equal(after.predictions, before.predictions)
    assert before.order.shape == (200, 3)
    interview = loaded.interview()
    interview.answer(0.3)
    assert interview.question.name in {"x0", "x1", "x2", "x3", "x4"}
    with raises(ParameterError, "unknown_name", name="untrained"):  # to fit anew needs the class
        loaded.fit(X, y)


def test_a_policy_of_ones_own_is_asked_but_not_saved(data, tmp_path):
    X, y = data
    model = DynamicClassifier(3, method=OwnPolicy(), random_state=0).fit(X, y)
    assert model.rollout(X).order[0].tolist() == [4, 3, 2]
    with raises(ParameterError, "cannot_save"):
        model.save(tmp_path / "m.askless")
    assert not (tmp_path / "m.askless").exists()
