"""Panels, prices that depend on the case, and prices given anew."""

import array_api_strict
import numpy as np
import pytest
import torch

from askless.core import Cases, State, cost_model, rollout
from askless.core.costs import Depends, Panels, PerFeature, Uniform, split_costs
from askless.models import Ranking
from tests.core.linear import schema_of

LIBRARIES = [np.asarray, torch.asarray, array_api_strict.asarray]
SCHEMA = schema_of([1, 2, 1, 1], prices=[1.0, 5.0, 4.0, 3.0])
BLOOD = Panels({"f1": 5.0, "f2": 4.0, "f3": 3.0}, {"blood": {"f1": 2.0, "f2": 1.5}})


class Zero:
    def predict(self, state):
        return np.zeros((len(state), 1))


def state_of(asked, make=np.asarray):
    asked = np.array(asked, dtype=bool)
    return State(make(np.zeros((len(asked), 5))), make(asked), make(asked))


@pytest.mark.parametrize("make", LIBRARIES)
def test_the_first_of_a_panel_pays_the_set_up(make):
    state = state_of([[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]], make)
    prices = np.asarray(BLOOD.bound(SCHEMA).prices(state))
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
    with pytest.raises(ValueError, match="not known by name"):
        cost_model({"f1": 1.0}, SCHEMA, Depends(lambda state: np.ones(4)))


@pytest.mark.parametrize(
    ("prices", "panels", "message"),
    [
        ({"f1": -1}, {}, "the cost of 'f1' is -1"),
        ({}, {"p": {"f1": float("nan")}}, "the cost of 'f1' is nan"),
        ({}, {"p": {"f1": None}}, "the cost of 'f1' is None"),
        ({}, {"p": ["f1"]}, r"the panel 'p' is \['f1'\]; it must be a mapping"),
        ({}, {"p": {"f1": 1}, "q": {"f1": 1}}, "'f1' is in two panels, 'p' and 'q'"),
        ({"f1": 2}, {"p": {"f1": 3}}, "'f1' costs 3 in the panel 'p', and 2 on its own"),
        ({}, {"p": {"g1": 1}}, r"there is no feature 'g1'"),
    ],
)
def test_bad_panels(prices, panels, message):
    with pytest.raises(ValueError, match=message):
        Panels(prices, panels).bound(SCHEMA)


def test_panels_of_no_schema():
    with pytest.raises(ValueError, match="no schema yet"):
        BLOOD.prices(state_of([[0, 0, 0, 0]]))


@pytest.mark.parametrize("make", LIBRARIES)
def test_prices_of_ones_own(make):
    costs = cost_model(Depends(lambda state: [1.0, 2.0, 3.0, 4.0]), SCHEMA)
    assert np.asarray(costs.prices(state_of([[0, 0, 0, 0]] * 2, make))).tolist() == [[1, 2, 3, 4]] * 2


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_a_function_that_gives_no_price(price):
    costs = cost_model(Depends(lambda state: np.where(state.asked, 1.0, [1.0, 1.0, price, 1.0])), SCHEMA)
    with pytest.raises(ValueError, match=f"the cost of 'f2' is {price}; it must be a number of at least 0"):
        costs.prices(state_of([[0, 0, 1, 0], [0, 0, 0, 0]]))
    with pytest.raises(ValueError, match=r"prices of shape \(2,\) for a state of shape \(1, 4\)"):
        cost_model(Depends(lambda state: [1.0, 2.0]), SCHEMA).prices(state_of([[0, 0, 0, 0]]))
    with pytest.raises(ValueError, match="it must be a function"):
        Depends(3)


def test_what_a_fit_is_given():
    assert split_costs(None) == (None, None)
    assert split_costs({"a": 2}) == ({"a": 2}, None)
    assert split_costs(PerFeature({"a": 2})) == ({"a": 2.0}, None)
    assert split_costs(Uniform()) == (None, None)
    assert split_costs(BLOOD) == (BLOOD.by_name, BLOOD)
    with pytest.raises(ValueError, match="costs is 3; it must be a mapping"):
        split_costs(3)
    with pytest.raises(ValueError, match="costs is 3; it must be a mapping"):
        cost_model(3, SCHEMA)
    with pytest.raises(ValueError, match="there are 2 prices for 4 features"):
        cost_model(PerFeature([1, 2]), SCHEMA)


def test_equal_prices_change_no_choice():
    assert Uniform().equal
    assert PerFeature([2, 2]).equal
    assert not PerFeature([2, 3]).equal
    assert not PerFeature([0, 0]).equal
