"""What questions cost."""

import numpy as np
import pytest

from askless.acquisition import Cases, CostModel, PerFeature, State, Uniform, cost_model, rollout
from askless.exceptions import ParameterError
from tests.acquisition.linear import Linear, schema_of
from tests.coded import raises

SCHEMA = schema_of([1, 2, 1], prices=[1.0, 5.0, 0.0])


def state_of(n=2):
    mask = np.zeros((n, 3), dtype=bool)
    return State(np.zeros((n, 4)), mask, mask)


def test_prices():
    state = state_of()
    assert Uniform().prices(state).tolist() == [[1.0, 1.0, 1.0]] * 2
    assert PerFeature([1.0, 5.0, 0.0]).prices(state).tolist() == [[1.0, 5.0, 0.0]] * 2


def test_what_a_user_means():
    assert isinstance(cost_model(None, schema_of([1, 1])), Uniform)
    assert cost_model(None, SCHEMA).by_feature.tolist() == [1.0, 5.0, 0.0]  # the schema's
    assert cost_model({"f1": 3}, SCHEMA).by_feature.tolist() == [1.0, 3.0, 0.0]  # the others stay
    assert cost_model({"f0": np.float32(0.5), "f2": np.int64(2)}, SCHEMA).by_feature.tolist() == [0.5, 5.0, 2.0]
    mine = PerFeature([1.0, 1.0, 1.0])
    assert cost_model(mine, SCHEMA) is mine


@pytest.mark.parametrize("price", [-1, -0.001, float("nan"), float("inf"), "3", None, True, [1], 1j])
def test_a_price_is_a_number_of_at_least_0(price):
    with raises(ParameterError, "out_of_range", name="costs", feature="f1", low=0):
        cost_model({"f1": price}, SCHEMA)


def test_a_price_for_nothing():
    with raises(ParameterError, "unknown_name", name="g1"):
        cost_model({"g1": 1}, SCHEMA)


class Rising(CostModel):
    """A price list of one's own: each question costs one more than the one before."""

    def prices(self, state):
        return np.broadcast_to(1.0 + state.asked.sum(axis=1, keepdims=True), state.asked.shape)


def test_a_cost_model_of_ones_own():
    linear = Linear(np.random.default_rng(0), SCHEMA)
    linear.special[:] = 0.0
    cases = Cases(np.ones((1, 4)), np.ones((1, 3), dtype=bool))
    t = rollout(linear, linear, cases, SCHEMA, costs=Rising())
    assert t.cost.tolist() == [[0.0, 1.0, 3.0, 6.0]]
    assert t.order[0, 0] == np.argmax(linear.constant)


def test_defaults_of_a_cost_model():
    rising = Rising()
    assert (rising.fixed, rising.equal, rising.by_name) == (False, False, None)
    assert rising.bound(SCHEMA) is rising
    assert cost_model(rising, SCHEMA) is rising
    with raises(ParameterError, "cannot_save", name="Rising"):
        rising.config()
