"""Panels, prices that depend on the case, and prices given anew."""

import numpy as np
import pytest

from askless.acquisition import Cases, Predictor, State, cost_model, rollout
from askless.acquisition.costs import Depends, Panels, PerFeature, Uniform, split_costs
from askless.exceptions import ParameterError
from askless.models import Ranking
from tests.acquisition.linear import schema_of
from tests.coded import raises

SCHEMA = schema_of([1, 2, 1, 1], prices=[1.0, 5.0, 4.0, 3.0])
BLOOD = Panels({"f1": 5.0, "f2": 4.0, "f3": 3.0}, {"blood": {"f1": 2.0, "f2": 1.5}})


class Zero(Predictor):
    def predict(self, state):
        return np.zeros((len(state), 1))


def state_of(asked):
    asked = np.array(asked, dtype=bool)
    return State(np.zeros((len(asked), 5)), asked, asked)


def test_the_first_of_a_panel_pays_the_set_up():
    state = state_of([[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    prices = BLOOD.bound(SCHEMA).prices(state)
    assert prices.tolist() == [[1, 5, 4, 3], [1, 2, 1.5, 3], [1, 2, 1.5, 3], [1, 5, 4, 3]]


def test_what_is_known_beforehand_opens_no_panel():
    cases = Cases(np.ones((2, 5)), np.ones((2, 4), dtype=bool))
    known = np.array([[False, True, False, False], [False, False, False, False]])
    order = Ranking([1.0, 4.0, 3.0, 2.0])  # f1, f2, f3, f0
    t = rollout(order, Zero(), cases, SCHEMA, costs=BLOOD.bound(SCHEMA), known=known)
    assert t.cost[0].tolist() == [0, 4, 7, 8, 8]
    assert t.cost[1].tolist() == [0, 5, 6.5, 9.5, 10.5]


def test_other_prices_in_the_same_panels():
    changed = cost_model({"f1": 1.0, "f0": 7.0}, SCHEMA, BLOOD)
    assert changed.prices(state_of([[0, 0, 0, 0], [0, 0, 1, 0]])).tolist() == [[7, 1, 4, 3], [7, 1, 1.5, 3]]
    assert cost_model(None, SCHEMA, BLOOD).prices(state_of([[0, 1, 0, 0]])).tolist() == [[1, 2, 1.5, 3]]
    assert cost_model(PerFeature({"f3": 0}), SCHEMA, BLOOD).by_feature.tolist() == [1, 1, 1, 0]


def test_prices_by_name_leave_the_others_as_they_were_fitted():
    fitted = PerFeature([5.0, 6.0, 7.0, 8.0])
    assert cost_model({"f1": 1.0}, SCHEMA, fitted).by_feature.tolist() == [5, 1, 7, 8]
    with raises(ParameterError, "not_supported", name="costs", value={"f1": 1.0}):
        cost_model({"f1": 1.0}, SCHEMA, Depends(lambda state: np.ones(4)))


@pytest.mark.parametrize(
    ("prices", "panels", "code", "fields"),
    [
        ({"f1": -1}, {}, "out_of_range", {"feature": "f1", "value": -1}),
        ({}, {"p": {"f1": float("nan")}}, "out_of_range", {"feature": "f1"}),
        ({}, {"p": {"f1": None}}, "out_of_range", {"feature": "f1", "value": None}),
        ({}, {"p": ["f1"]}, "wrong_type", {"panel": "p", "value": ["f1"]}),
        ({}, {"p": {"f1": 1}, "q": {"f1": 1}}, "conflicting_settings", {"feature": "f1", "panels": ["p", "q"]}),
        ({"f1": 2}, {"p": {"f1": 3}}, "out_of_range", {"feature": "f1", "panel": "p", "value": 3, "high": 2}),
        ({}, {"p": {"g1": 1}}, "unknown_name", {"name": "g1"}),
    ],
)
def test_bad_panels(prices, panels, code, fields):
    with raises(ParameterError, code, **fields):
        Panels(prices, panels).bound(SCHEMA)


def test_panels_of_no_schema():
    with raises(ParameterError, "required", name="schema"):
        BLOOD.prices(state_of([[0, 0, 0, 0]]))


def test_prices_of_ones_own():
    costs = cost_model(Depends(lambda state: [1.0, 2.0, 3.0, 4.0]), SCHEMA)
    assert costs.prices(state_of([[0, 0, 0, 0]] * 2)).tolist() == [[1, 2, 3, 4]] * 2


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_a_function_that_gives_no_price(price):
    costs = cost_model(Depends(lambda state: np.where(state.asked, 1.0, [1.0, 1.0, price, 1.0])), SCHEMA)
    with raises(ParameterError, "out_of_range", feature="f2", low=0):
        costs.prices(state_of([[0, 0, 1, 0], [0, 0, 0, 0]]))
    with raises(ParameterError, "wrong_shape", shape=(2,), expected=(1, 4)):
        cost_model(Depends(lambda state: [1.0, 2.0]), SCHEMA).prices(state_of([[0, 0, 0, 0]]))
    with raises(ParameterError, "wrong_type", name="function", value=3):
        Depends(3)


def test_what_a_fit_is_given():
    assert split_costs(None) == (None, None)
    assert split_costs({"a": 2}) == ({"a": 2}, None)
    assert split_costs(PerFeature({"a": 2})) == ({"a": 2.0}, None)
    assert split_costs(Uniform()) == (None, None)
    assert split_costs(BLOOD) == (BLOOD.by_name, BLOOD)
    with raises(ParameterError, "wrong_type", name="costs", value=3):
        split_costs(3)
    with raises(ParameterError, "wrong_type", name="costs", value=3):
        cost_model(3, SCHEMA)
    with raises(ParameterError, "wrong_shape", name="costs", shape=(2,), expected=(4,)):
        cost_model(PerFeature([1, 2]), SCHEMA)


def test_equal_prices_change_no_choice():
    assert Uniform().equal
    assert PerFeature([2, 2]).equal
    assert not PerFeature([2, 3]).equal
    assert not PerFeature([0, 0]).equal
