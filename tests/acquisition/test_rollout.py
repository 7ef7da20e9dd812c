"""The roll-out against a literal loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.acquisition import (
    Cases,
    CostModel,
    MaxFeatures,
    PerFeature,
    Policy,
    Predictor,
    Schema,
    State,
    TruthPolicy,
    askable,
    rollout,
)
from askless.exceptions import ParameterError, TruthError
from askless.models import RandomOrder
from tests.acquisition.linear import Linear, Spent, Sure, schema_of, slow_rollout
from tests.coded import raises


class Fixed(Policy):
    """The same scores for every case."""

    def __init__(self, scores):
        self.scores = np.asarray(scores, dtype=float)

    def score(self, state):
        return np.broadcast_to(self.scores, state.asked.shape)


class Total(Predictor):
    def predict(self, state):
        return state.x.sum(axis=1, keepdims=True)


def numbers(n, features):
    x = np.arange(1.0, n * features + 1).reshape(n, features)
    return Cases(x, np.ones((n, features), dtype=bool)), Schema.of_numbers([f"f{i}" for i in range(features)])


@settings(deadline=None, max_examples=120)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 5),
    widths=st.lists(st.integers(1, 3), min_size=1, max_size=5),
    missing=st.sampled_from(["skip", "answer"]),
    limits=st.tuples(*[st.none() | st.integers(0, 6)] * 3),
    some_available=st.booleans(),
    some_known=st.booleans(),
    priced=st.booleans(),
)
def test_a_literal_loop_agrees(seed, n, widths, missing, limits, some_available, some_known, priced):
    rng = np.random.default_rng(seed)
    prices = rng.integers(0, 4, len(widths)).astype(float) if priced else np.ones(len(widths))
    schema = schema_of(widths, prices)
    linear = Linear(rng, schema)
    x = rng.integers(-3, 4, (n, schema.n_columns)).astype(float)
    shape = (n, len(widths))
    present, available, known = rng.random(shape) < 0.7, rng.random(shape) < 0.8, rng.random(shape) < 0.2
    available = available if some_available else np.ones(shape, dtype=bool)
    known = known if some_known else np.zeros(shape, dtype=bool)
    rules, slow_rules = [], []
    for kind, limit, test in (
        (Sure, limits[0], lambda count, spent, output: output >= limits[0]),
        (MaxFeatures, limits[1], lambda count, spent, output: count >= limits[1]),
        (Spent, limits[2], lambda count, spent, output: spent >= limits[2]),
    ):
        if limit is not None:
            rules.append(kind(limit))
            slow_rules.append((rules[-1].reason, test))
    expected = slow_rollout(linear, schema, x, present, prices, missing, available, known, slow_rules)
    t = rollout(
        linear,
        linear,
        Cases(x, present),
        schema,
        stopping=rules,
        costs=PerFeature(prices) if priced else None,
        missing=missing,
        available=available if some_available else None,
        known=known if some_known else None,
    )
    for i, case in enumerate(expected):
        asked = len(case["order"])
        assert t.order[i].tolist() == case["order"] + [-1] * (t.order.shape[1] - asked)
        assert t.cost[i].tolist() == case["cost"] + case["cost"][-1:] * (t.order.shape[1] - asked)
        assert t.predictions[i, : asked + 1].tolist() == case["predictions"]
        assert (t.predictions[i, asked:] == t.predictions[i, asked]).all()
        assert t.stop_reason[i] == case["reason"]
    assert t.order.shape[1] == max(len(case["order"]) for case in expected)


def test_random_orders_stay_each_case_s_own():
    cases, schema = numbers(100, 6)
    t = rollout(RandomOrder(0), Total(), cases, schema, stopping=MaxFeatures(3))
    assert len(np.unique(t.order, axis=0)) > 50


def test_rules_stop_each_case_on_its_own():
    cases, schema = numbers(3, 4)  # totals after the first answer: 1, 5, 9
    t = rollout(Fixed([4, 3, 2, 1]), Total(), cases, schema, stopping=[Sure(9.0), MaxFeatures(3)])
    assert t.order.tolist() == [[0, 1, 2], [0, 1, -1], [0, -1, -1]]
    assert t.stop_reason.tolist() == ["asked 3 features", "output of 9.0", "output of 9.0"]
    assert t.predictions[:, :, 0].tolist() == [[0, 1, 3, 6], [0, 5, 11, 11], [0, 9, 9, 9]]
    assert t.cost.tolist() == [[0, 1, 2, 3], [0, 1, 2, 2], [0, 1, 1, 1]]


def test_the_first_rule_that_fires_is_the_reason():
    cases, schema = numbers(1, 3)
    for rules, reason in ([MaxFeatures(2), Spent(2)], "asked 2 features"), ([Spent(2), MaxFeatures(2)], "spent 2"):
        assert rollout(Fixed([1, 2, 3]), Total(), cases, schema, stopping=rules).stop_reason.tolist() == [reason]


def test_without_rules_everything_is_asked():
    cases, schema = numbers(2, 3)
    t = rollout(Fixed([1, 2, 3]), Total(), cases, schema)
    assert t.order.tolist() == [[2, 1, 0]] * 2
    assert set(t.stop_reason) == {"nothing left to ask"}
    assert t.feature_names == ("f0", "f1", "f2")


def test_nothing_may_be_asked_at_all():
    cases, schema = numbers(2, 3)
    t = rollout(Fixed([1, 2, 3]), Total(), cases, schema, stopping=MaxFeatures(0))
    assert t.order.shape == (2, 0)
    assert t.predictions.shape == (2, 1, 1)
    assert t.stop_reason.tolist() == ["asked 0 features"] * 2
    t = rollout(Fixed([1, 2, 3]), Total(), cases, schema, available=np.zeros((2, 3), dtype=bool))
    assert t.stop_reason.tolist() == ["nothing left to ask"] * 2


def test_no_cases_are_no_problem():
    cases, schema = numbers(0, 3)
    t = rollout(Fixed([1, 2, 3]), Total(), cases, schema)
    assert t.order.shape == (0, 0)
    assert t.predictions.shape == (0, 1, 1)


def test_nan_counts_as_the_lowest_score():
    cases, schema = numbers(1, 4)
    t = rollout(Fixed([np.nan, -1e300, -np.inf, np.inf]), Total(), cases, schema)
    assert t.order.tolist() == [[3, 1, 0, 2]]  # NaN and -inf tie: the first of them
    t = rollout(Fixed([np.nan] * 4), Total(), cases, schema)
    assert t.order.tolist() == [[0, 1, 2, 3]]


def test_ties_go_to_the_first_feature():
    cases, schema = numbers(1, 4)
    assert rollout(Fixed([1, 2, 2, 1]), Total(), cases, schema).order.tolist() == [[1, 2, 0, 3]]


def test_a_missing_value_is_skipped_or_answered_unknown():
    cases, schema = numbers(1, 3)
    cases.present[0, 1] = False
    skip = rollout(Fixed([1, 3, 2]), Total(), cases, schema)
    assert skip.order.tolist() == [[2, 0]]
    answer = rollout(Fixed([1, 3, 2]), Total(), cases, schema, missing="answer")
    assert answer.order.tolist() == [[1, 2, 0]]
    assert answer.predictions[0, :, 0].tolist() == [0, 0, 3, 4]  # asking it cost and told nothing
    assert answer.cost.tolist() == [[0, 1, 2, 3]]


def test_what_is_known_is_free_and_not_asked():
    cases, schema = numbers(2, 3)
    known = np.array([[True, False, False], [False, False, False]])
    t = rollout(Fixed([3, 2, 1]), Total(), cases, schema, stopping=MaxFeatures(1), known=known)
    assert t.order.tolist() == [[1], [0]]
    assert t.predictions[:, :, 0].tolist() == [[1, 3], [0, 4]]
    assert t.cost[:, -1].tolist() == [1, 1]


def test_inputs_are_left_alone():
    cases, schema = numbers(3, 4)
    known, available = np.eye(3, 4, dtype=bool), np.ones((3, 4), dtype=bool)
    before = [array.copy() for array in (cases.x, cases.present, known, available)]
    rollout(Fixed([1, 2, 3, 4]), Total(), cases, schema, known=known, available=available)
    for array, kept in zip((cases.x, cases.present, known, available), before, strict=True):
        np.testing.assert_array_equal(array, kept)


def test_askable():
    present, available = np.array([[True, False, True]]), np.array([[True, True, False]])
    assert askable(present, "skip").tolist() == [[True, False, True]]
    assert askable(present, "answer").tolist() == [[True, True, True]]
    assert askable(present, "skip", available).tolist() == [[True, False, False]]
    assert askable(present, "answer", available).tolist() == [[True, True, False]]


class Oracle(TruthPolicy):
    """Asks for the largest value first, because it sees them all."""

    def score_with_truth(self, state, truth):
        return truth


def test_a_policy_that_needs_the_truth_is_refused():
    cases, schema = numbers(2, 3)
    with raises(TruthError, "needs_truth", name="Oracle"):
        rollout(Oracle(), Total(), cases, schema)


def test_experiments_may_allow_the_truth():
    cases, schema = numbers(2, 3)
    t = rollout(Oracle(), Total(), cases, schema, stopping=MaxFeatures(2), allow_truth=True)
    assert t.order.tolist() == [[2, 1]] * 2


def test_other_policies_do_not_see_the_truth_even_if_it_is_allowed():
    cases, schema = numbers(1, 3)
    t = rollout(Fixed([3, 2, 1]), Total(), cases, schema, allow_truth=True)
    assert t.order.tolist() == [[0, 1, 2]]


class Underived:
    """Has every method, and no base class."""

    def score(self, state):
        return np.zeros(state.asked.shape)

    def predict(self, state):
        return np.zeros((len(state), 1))

    def prices(self, state):
        return np.ones(state.asked.shape)


@pytest.mark.parametrize("name", ["policy", "predictor", "costs"])
def test_parts_derive_from_their_base_classes(name):
    cases, schema = numbers(2, 3)
    parts = {"policy": Fixed([3, 2, 1]), "predictor": Total(), "costs": None}
    wrong = Underived()
    with raises(ParameterError, "wrong_type", name=name, value=wrong):
        rollout(cases=cases, schema=schema, **parts | {name: wrong})


@pytest.mark.parametrize(("base", "misspelt"), [(Policy, "scores"), (Predictor, "predicts"), (CostModel, "price")])
def test_a_misspelt_method_cannot_be_made(base, misspelt):
    kind = type("Mine", (base,), {misspelt: lambda self, state: None})
    with pytest.raises(TypeError, match="abstract method"):
        kind()


def test_defaults_of_the_base_classes():
    policy, predictor = Fixed([3, 2, 1]), Total()
    flags = (policy.informative, policy.fixed_order, policy.stochastic, policy.needs_truth)
    assert (*flags, policy.noise) == (False, False, False, False, 0.0)
    cases, schema = numbers(2, 3)
    state = State.empty(2, schema)
    assert predictor.spread(state) is None
    np.testing.assert_array_equal(policy.score_with_truth(state, cases.x), policy.score(state))
    with raises(TruthError, "needs_truth", name="Oracle"):
        Oracle().score(state)
