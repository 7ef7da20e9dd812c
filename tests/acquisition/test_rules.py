"""Stopping rules: what each says, how they combine, and how they are written down."""

from itertools import product

import numpy as np
import pytest

from askless.acquisition import Cases, Context, MaxFeatures, Predictor, Progress, Schema, State, rollout
from askless.acquisition.choice import narrowed
from askless.acquisition.costs import PerFeature
from askless.acquisition.reference import Reference
from askless.acquisition.stopping import (
    AllOf,
    AnyOf,
    Confidence,
    DecisionStable,
    InformationPerCost,
    MaxCost,
    Spread,
    StoppingRule,
    as_rules,
    check_rules,
    list_rules,
    rule_from_json,
    rule_to_json,
    stopping_from_json,
)
from askless.exceptions import ParameterError
from askless.models import Ranking
from tests.acquisition.linear import Spent
from tests.coded import raises

NAMES = Schema.of_numbers(["a", "b", "c"])


class Fixed(Predictor):
    """Predicts what it was told to."""

    def __init__(self, outputs, sd=None):
        self.outputs, self.sd = np.array(outputs), sd

    def predict(self, state):
        return self.outputs

    def spread(self, state):
        return None if self.sd is None else np.array(self.sd)


def progress_of(outputs, *, count=0, spent=0.0, prices=(1.0, 2.0, 3.0), sd=None, asked=None):
    n = len(outputs)
    asked = np.zeros((n, 3), dtype=bool) if asked is None else np.array(asked)
    state = State(np.zeros((n, 3), dtype=np.float32), asked, asked)
    predictor = Fixed(outputs, sd)
    context = Context(Ranking([3.0, 2.0, 1.0]), predictor, NAMES, costs=PerFeature(np.array(prices)))
    return Progress(
        state=state,
        count=np.full(n, count),
        spent=np.full(n, float(spent)),
        prediction=predictor.outputs,
        context=context,
    )


def test_confidence_and_spread():
    assert Confidence(0.9).stops(progress_of([[0.95, 0.05], [0.4, 0.6], [0.1, 0.9]])).tolist() == [True, False, True]
    assert Spread(2.0).stops(progress_of([[1.0], [1.0]], sd=[1.5, 2.5])).tolist() == [True, False]
    with raises(ParameterError, "not_supported", name="confidence"):
        Confidence(0.9).stops(progress_of([[1.0]]))
    with raises(ParameterError, "not_supported", name="spread", needed="sd"):
        Spread(2.0).stops(progress_of([[1.0]]))


@pytest.mark.parametrize(
    ("make", "code", "fields"),
    [
        (lambda: Confidence(1.2), "out_of_range", {"name": "probability", "value": 1.2, "low": 0, "high": 1}),
        (lambda: Confidence("high"), "out_of_range", {"name": "probability", "value": "high"}),
        (lambda: Spread(-1), "out_of_range", {"name": "sd", "value": -1}),
        (lambda: MaxCost(float("nan")), "out_of_range", {"name": "money", "low": 0, "high": None}),
        (lambda: MaxCost(None), "out_of_range", {"name": "money", "value": None}),
        (lambda: MaxCost(float("inf")), "out_of_range", {"name": "money", "value": float("inf")}),
        (lambda: InformationPerCost(True), "out_of_range", {"name": "threshold", "value": True}),
        (lambda: DecisionStable(2), "out_of_range", {"name": "chance", "value": 2}),
        (lambda: DecisionStable(draws=0), "out_of_range", {"name": "draws", "value": 0, "low": 1}),
        (lambda: AllOf(()), "required", {"name": "rules"}),
        (lambda: MaxCost(1) & 3, "wrong_type", {"name": "stopping", "value": 3}),
        (lambda: MaxCost(1) | Confidence, "wrong_type", {"name": "stopping", "value": Confidence}),
        (
            lambda: as_rules(Confidence | MaxCost),
            "wrong_type",
            {"name": "stopping", "value": Confidence | MaxCost},
        ),
    ],
)
def test_bad_settings(make, code, fields):
    with raises(ParameterError, code, **fields):
        make()


# Combinations


@pytest.mark.parametrize(("sure", "many"), list(product([False, True], repeat=2)))
def test_and_and_or(sure, many):
    progress = progress_of([[0.95, 0.05] if sure else [0.5, 0.5]], count=3 if many else 2)
    both, either = Confidence(0.9) & MaxFeatures(3), Confidence(0.9) | MaxFeatures(3)
    assert bool(both.stops(progress)[0]) == (sure and many)
    assert bool(either.stops(progress)[0]) == (sure or many)
    assert (narrowed(progress, as_rules(both))[1][0] >= 0) == (sure and many)
    assert (narrowed(progress, as_rules(either))[1][0] >= 0) == (sure or many)


def test_or_says_which_and_and_says_both():
    rules = as_rules(Confidence(0.9) | (MaxFeatures(3) | MaxCost(9)))
    assert rules == (Confidence(0.9), MaxFeatures(3), MaxCost(9))
    both = Confidence(0.9) & MaxFeatures(3) & MaxCost(2)
    assert both.rules == (Confidence(0.9), MaxFeatures(3), MaxCost(2))
    assert both.reason == "confidence of 0.9 reached and asked 3 features and nothing affordable left of 2"
    assert ((Confidence(0.9) | MaxFeatures(3)) & MaxCost(2)).rules == (
        AnyOf((Confidence(0.9), MaxFeatures(3))),
        MaxCost(2),
    )


def test_money_and_confidence_together():
    """A budget that counts only once the prediction is sure: until then anything may be asked."""
    rule = MaxCost(2) & Confidence(0.9)
    unsure, sure = [[0.5, 0.5]], [[0.95, 0.05]]
    assert rule.closes(progress_of(unsure)).tolist() == [[False, False, False]]
    assert rule.closes(progress_of(sure)).tolist() == [[False, False, True]]
    assert rule.stops(progress_of(sure, spent=2)).tolist() == [True]
    assert rule.stops(progress_of(unsure, spent=2)).tolist() == [False]


def test_a_rule_of_ones_own_combines():
    rule = MaxFeatures(3) & Spent(5.0)
    assert rule.stops(progress_of([[0.5, 0.5]], count=3, spent=5)).tolist() == [True]
    assert rule.stops(progress_of([[0.5, 0.5]], count=3, spent=4)).tolist() == [False]


def test_every_case_says_why_it_stopped():
    class Certain(Predictor):
        def predict(self, state):
            p = 0.5 + 0.45 * state.x[:, 0]  # the first feature settles half of the cases
            return np.column_stack([p, 1 - p])

    cases = Cases(np.array([[1.0, 0, 0], [0.0, 0, 0], [0.0, 0, 0]]), np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]]) > 0)
    rules = Confidence(0.9) | MaxCost(3.5)
    costs = PerFeature(np.array([1.0, 1.0, 1.0]))
    t = rollout(Ranking([3.0, 2.0, 1.0]), Certain(), cases, NAMES, stopping=rules, costs=costs)
    assert t.stop_reason.tolist() == ["confidence of 0.9 reached", "nothing left to ask", "nothing left to ask"]
    t = rollout(Ranking([3.0, 2.0, 1.0]), Certain(), cases, NAMES, stopping=[rules, MaxFeatures(1)], costs=costs)
    assert t.stop_reason.tolist() == ["confidence of 0.9 reached", "asked 1 feature", "asked 1 feature"]


def test_a_rule_for_the_other_task():
    with raises(ParameterError, "not_supported", name="confidence", expected="classification", value="regression"):
        check_rules(
            as_rules(MaxCost(2) & (Confidence(0.9) | MaxFeatures(2))), "regression", stored=True, informative=True
        )
    with raises(ParameterError, "not_supported", name="spread", expected="regression"):
        check_rules([Spread(2)], "classification", stored=True, informative=True)
    check_rules([Spread(2), MaxCost(3)], "regression", stored=False, informative=False)


def test_a_rule_may_treat_each_case_otherwise():
    class Patience(StoppingRule):
        """Stops each case after a number of questions of its own."""

        reason = "out of patience"

        def stops(self, progress):
            return progress.count >= np.arange(50) % 3

    cases = Cases(np.ones((50, 3), dtype=np.float32), np.ones((50, 3), dtype=bool))
    t = rollout(Ranking([3.0, 2.0, 1.0]), Fixed([[0.5, 0.5]] * 50), cases, NAMES, stopping=Patience())
    np.testing.assert_array_equal(t.n_asked, np.arange(50) % 3)


# The decision


def test_decision_stable_against_arithmetic():
    """Two of four stored rows of the likelier class have b = 1, which turns the decision."""

    class ByB(Predictor):
        def predict(self, state):
            p = np.where(state.known[:, 1] & (state.x[:, 1] > 0.5), 0.2, 0.75)
            return np.column_stack([p, 1 - p])

    x = np.zeros((8, 3), dtype=np.float32)
    x[[0, 1], 1] = 1.0  # two of the four rows of class 0
    x[[4, 5, 6], 1] = 1.0  # three of the four rows of class 1
    stored = Reference(x, np.ones((8, 3), dtype=bool), np.repeat([0, 1], 4))
    context = Context(Ranking([3.0, 2.0, 1.0]), ByB(), NAMES, reference=stored)

    def stops(chance, asked):
        asked = np.array([asked], dtype=bool)
        state = State(np.zeros((1, 3), dtype=np.float32), asked, asked)
        progress = Progress(
            state=state, count=np.zeros(1), spent=np.zeros(1), prediction=ByB().predict(state), context=context
        )
        return bool(DecisionStable(chance, draws=16).stops(progress)[0])

    share = 0.75 * 2 / 4 + 0.25 * 3 / 4  # of the answers to b that turn the decision
    assert not stops(share - 0.01, [0, 0, 0])
    assert stops(share + 0.01, [0, 0, 0])
    assert not stops(1.0, [1, 1, 1])  # nothing open: the decision was not the reason
    assert stops(0.0, [0, 1, 0])  # b is known to be 0: a and c change nothing


def test_decision_stable_looks_at_some_cases_at_a_time(monkeypatch):
    class ByB(Predictor):
        def predict(self, state):
            p = np.where(state.known[:, 1] & (state.x[:, 1] > 0.5), 0.2, 0.55 + 0.4 * state.x[:, 0])
            return np.column_stack([p, 1 - p])

    rng = np.random.default_rng(0)
    stored = Reference(rng.random((40, 3)).astype(np.float32), np.ones((40, 3), dtype=bool), np.repeat([0, 1], 20))
    context = Context(Ranking([3.0, 2.0, 1.0]), ByB(), NAMES, reference=stored)
    asked = rng.random((30, 3)) < 0.4
    state = State(np.where(asked, rng.random((30, 3)), 0).astype(np.float32), asked, asked)
    progress = Progress(
        state=state, count=np.zeros(30), spent=np.zeros(30), prediction=ByB().predict(state), context=context
    )
    whole = DecisionStable(0.4).stops(progress)
    assert 0 < whole.sum() < 30
    monkeypatch.setattr("askless.acquisition.stopping.rules.CASES_AT_ONCE", 7)
    np.testing.assert_array_equal(DecisionStable(0.4).stops(progress), whole)


def test_decision_stable_needs_rows_and_a_tolerance():
    with raises(ParameterError, "not_supported", name="decision_stable", needed="reference_rows"):
        DecisionStable().stops(progress_of([[0.5, 0.5]]))
    progress = progress_of([[1.0]])
    stored = Reference(np.zeros((2, 3), dtype=np.float32), np.ones((2, 3), dtype=bool), np.array([0.0, 1.0]))
    object.__setattr__(progress.context, "reference", stored)
    with raises(ParameterError, "required", name="tolerance"):
        DecisionStable().stops(progress)


# Written down

EVERY = [
    MaxFeatures(3),
    MaxCost(2.5),
    Confidence(0.9),
    Spread(1.5),
    InformationPerCost(0.01),
    DecisionStable(0.1, tolerance=2.0, draws=8),
    (Confidence(0.9) & MaxFeatures(2)) | MaxCost(3),
]


@pytest.mark.parametrize("rule", EVERY, ids=repr)
def test_a_rule_can_be_made_again(rule):
    import json

    assert rule_from_json(json.loads(json.dumps(rule_to_json(rule)))) == rule


def test_every_rule_has_a_name():
    named = {"max_features", "max_cost", "confidence", "spread", "information_per_cost", "decision_stable"}
    assert named <= set(list_rules())


def test_the_short_form():
    assert stopping_from_json({"confidence": 0.95, "max_cost": 20}) == (Confidence(0.95), MaxCost(20))
    assert stopping_from_json({"decision_stable": {"chance": 0.1}}) == (DecisionStable(0.1),)
    both = stopping_from_json({"and": [{"max_features": 3, "max_cost": 5}, {"confidence": 0.9}]})
    assert both == (AllOf((AnyOf((MaxFeatures(3), MaxCost(5))), Confidence(0.9))),)


@pytest.mark.parametrize(
    ("data", "code", "fields"),
    [
        ({"confidense": 0.9}, "unknown_name", {"name": "confidense", "nearest": "confidence"}),
        ({"rule": 0.9}, "unknown_name", {"name": "rule"}),
        ({"all_of": []}, "unknown_name", {"name": "all_of"}),
        ({"confidence": {"p": 0.9}}, "invalid_choice", {"name": "confidence", "choices": ["probability"]}),
        ({"confidence": 3}, "out_of_range", {"name": "probability", "value": 3}),
        ({"and": 3}, "wrong_type", {"name": "and", "value": 3}),
        ({}, "wrong_type", {"name": "stopping", "value": {}}),
        ([0.9], "wrong_type", {"name": "stopping", "value": [0.9]}),
    ],
)
def test_bad_short_forms(data, code, fields):
    with raises(ParameterError, code, **fields):
        stopping_from_json(data)


@pytest.mark.parametrize("name", ["StoppingRule", "_Combined", "Progress", "as_rules", "NOTHING_LEFT", "os", None, 3])
def test_only_rules_are_made_from_files(name):
    with raises(ParameterError, "unknown_name", name=name):
        rule_from_json({"name": name, "config": {}})


class Mine(StoppingRule):
    """A rule of a user's own that answers for all cases at once."""

    reason = "enough"

    def stops(self, progress):
        return True


def test_a_rule_of_ones_own_that_says_one_word_for_all():
    with raises(ParameterError, "wrong_shape", name="stops", shape=(), expected=(2,)):
        narrowed(progress_of([[0.5, 0.5], [0.9, 0.1]]), [Mine()])


def test_a_rule_of_ones_own_combines_from_both_sides():
    mine = Mine()
    assert as_rules(mine | MaxFeatures(2)) == (mine, MaxFeatures(2))
    assert (mine & MaxFeatures(2)).rules == (mine, MaxFeatures(2))


def test_a_rule_without_the_base_class_is_refused():
    class Underived:
        reason = "enough"

        def stops(self, progress):
            return progress.count >= 2

    for use in (as_rules, lambda rule: as_rules([rule]), lambda rule: MaxFeatures(2) & rule):
        with raises(ParameterError, "wrong_type", name="stopping"):
            use(Underived())


def test_defaults_of_a_rule():
    mine = Mine()
    assert (mine.task, mine.promises, mine.rules, mine.otherwise) == (None, False, (), None)
    assert mine.closes(progress_of([[0.5, 0.5]])) is None
    check_rules([mine, mine & MaxFeatures(2)], "regression", stored=False, informative=False)
    with raises(ParameterError, "cannot_save", name="Mine"):
        rule_to_json(mine)
    with pytest.raises(TypeError, match="abstract method"):
        type("Misspelt", (StoppingRule,), {"reason": "enough", "stop": mine.stops})()
