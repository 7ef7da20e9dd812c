"""Cases in the same state are thought about once, and nothing else changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.core import Cases, Precedence, rollout, twins
from askless.core.costs import Panels, PerFeature
from askless.core.stopping import Confidence, InformationPerCost, MaxCost, MaxFeatures, Rule, Spread
from askless.models import RandomOrder, Ranking
from tests.core.linear import schema_of
from tests.models.test_running_sums import models

WIDTHS = (1, 2, 1, 3, 5, 2)


class Noted:
    """A policy or a predictor that notes of how many cases it was asked; by itself it promises nothing."""

    def __init__(self, model, treats_alike=False):
        self.model, self.treats_alike, self.counts = model, treats_alike, []

    def score(self, state):
        self.counts.append(len(state))
        return self.model.score(state)

    def predict(self, state):
        self.counts.append(len(state))
        return self.model.predict(state)

    def spread(self, state):
        return self.model.spread(state)


def table(rng, n, schema, levels, dtype=np.float32, gaps=0.0):
    """Cases whose features have few different answers."""
    answers = rng.normal(size=(levels, schema.n_columns)).astype(dtype)
    level = rng.integers(levels, size=(n, len(schema)))
    x = np.take_along_axis(answers, level[:, schema.column_feature], axis=0)
    present = rng.random((n, len(schema))) >= gaps
    return Cases(np.where(present[:, schema.column_feature], x, 0).astype(dtype), present)


def assert_same(one, other):
    np.testing.assert_array_equal(one.order, other.order)
    np.testing.assert_array_equal(one.cost, other.cost)
    np.testing.assert_array_equal(one.stop_reason, other.stop_reason)
    np.testing.assert_allclose(one.predictions, other.predictions, rtol=1e-4, atol=1e-5)
    assert (one.sd is None) == (other.sd is None)
    if one.sd is not None:
        np.testing.assert_allclose(one.sd, other.sd, rtol=1e-3)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 999),
    n=st.integers(1, 90),
    levels=st.integers(1, 4),
    gaps=st.sampled_from([0.0, 0.3]),
    missing=st.sampled_from(["skip", "answer"]),
    classes=st.sampled_from([0, 3]),
    priced=st.sampled_from(["no", "each", "panels"]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_nothing_changes(seed, n, levels, gaps, missing, classes, priced, dtype):
    rng = np.random.default_rng(seed)
    schema = schema_of(WIDTHS)
    policy, predictor = models(rng, schema, (7, 5), classes, seed % 2 == 0, dtype)
    cases = table(rng, n, schema, levels, dtype, gaps)
    names = schema.names
    costs = {
        "no": None,
        "each": PerFeature(np.arange(1.0, 7.0)),
        "panels": Panels({}, {"p": {names[0]: 0.5, names[1]: 0.25}}).bound(schema),
    }[priced]
    how = {
        "stopping": (MaxFeatures(4), MaxCost(9.0), Confidence(0.9) if classes else Spread(0.1)),
        "costs": costs,
        "missing": missing,
        "precedence": Precedence.of({names[2]: [names[5]]}, schema),
    }
    alone = rollout(Noted(policy), predictor, cases, schema, **how)
    assert_same(rollout(policy, predictor, cases, schema, **how), alone)


def test_states_are_scored_once():
    rng = np.random.default_rng(0)
    schema = schema_of((1, 1, 1, 1))
    policy, predictor = models(rng, schema, (7, 5), 2, True)
    cases = table(rng, 300, schema, 2)
    alike, each = Noted(policy, treats_alike=True), Noted(policy)
    together = rollout(alike, predictor, cases, schema, stopping=MaxFeatures(3))
    assert_same(together, rollout(each, predictor, cases, schema, stopping=MaxFeatures(3)))
    assert alike.counts == [1, 2, 4]  # yes or no
    assert each.counts == [300] * 3


@pytest.mark.parametrize("who", ["policy", "predictor", "prices", "rule"])
def test_one_part_that_promises_nothing_is_enough(who):
    class Later(MaxFeatures):
        treats_alike = False

    class Prices:
        def prices(self, state):
            return np.ones(state.asked.shape)

    rng = np.random.default_rng(0)
    schema = schema_of((1, 1, 1))
    policy, predictor = models(rng, schema, (7, 5), 2, True)
    asked, told = Noted(policy, who != "policy"), Noted(predictor, who != "predictor")
    rule = (Later if who == "rule" else MaxFeatures)(2)
    rules = (Confidence(0.0) & rule, MaxFeatures(2))
    rollout(
        asked, told, table(rng, 50, schema, 2), schema, stopping=rules, costs=Prices() if who == "prices" else None
    )
    assert asked.counts == [50, 50]
    assert told.counts == [50, 50, 50]


def test_what_a_rule_of_one_s_own_does_not_promise_is_not_relied_on():
    class Patience(Rule):
        """Stops each case after a number of questions of its own."""

        reason = "out of patience"

        def stops(self, progress):
            return progress.count >= np.arange(50) % 3

    schema = schema_of((1, 1, 1))
    policy, predictor = models(np.random.default_rng(0), schema, (7, 5), 2, True)
    cases = Cases(np.ones((50, 3), dtype=np.float32), np.ones((50, 3), dtype=bool))
    t = rollout(policy, predictor, cases, schema, stopping=Patience())
    np.testing.assert_array_equal(t.n_asked, np.arange(50) % 3)


def test_large_numbers_of_double_precision_are_told_apart_silently():
    schema = schema_of((1, 2))
    policy, predictor = models(np.random.default_rng(0), schema, (7, 5), 2, True, np.float64)
    x = np.array([[1e300, 0.0, 0.0], [2e300, 0.0, 0.0]]).repeat(10, axis=0)
    noted = Noted(predictor, treats_alike=True)
    how = {"stopping": MaxFeatures(1), "available": np.array([[True, False]] * 20)}
    with np.errstate(invalid="ignore", over="ignore"):  # of the networks
        rollout(policy, noted, Cases(x, np.ones((20, 2), dtype=bool)), schema, **how)
    assert noted.counts == [1, 2]


def test_random_orders_stay_each_case_s_own():
    rng = np.random.default_rng(0)
    schema = schema_of((1,) * 6)
    _, predictor = models(rng, schema, (7, 5), 2, False)
    t = rollout(RandomOrder(0), predictor, table(rng, 100, schema, 1), schema, stopping=MaxFeatures(3))
    assert len(np.unique(t.order, axis=0)) > 50


def test_cases_that_differ_at_once_go_on_by_themselves():
    rng = np.random.default_rng(0)
    schema = schema_of((1, 1))
    policy, predictor = models(rng, schema, (7, 5), 2, True)
    noted = Noted(policy, treats_alike=True)
    cases = Cases(rng.normal(size=(40, 2)).astype(np.float32), np.ones((40, 2), dtype=bool))
    rollout(noted, predictor, cases, schema, stopping=MaxFeatures(2))
    assert noted.counts == [1, 40]


def test_numbers_that_differ_in_the_last_digit_are_different_answers():
    schema = schema_of((1, 1))
    x = np.array([[1.0, 2.0], [np.nextafter(1.0, 2.0), 2.0]]).repeat(10, axis=0)
    _, predictor = models(np.random.default_rng(0), schema, (7, 5), 2, True, np.float64)
    noted = Noted(predictor, treats_alike=True)
    rollout(Ranking([1.0, 0.0]), noted, Cases(x, np.ones((20, 2), dtype=bool)), schema, stopping=MaxFeatures(2))
    assert noted.counts == [1, 2, 2]


def test_keys_that_meet_by_chance_mix_nobody_up(monkeypatch):
    monkeypatch.setattr(twins, "MIX", np.uint64(0))  # all keys meet
    rng = np.random.default_rng(0)
    schema = schema_of((1, 1, 1))
    policy, predictor = models(rng, schema, (7, 5), 3, True)
    cases = table(rng, 60, schema, 2)
    alone = rollout(Noted(policy), predictor, cases, schema, stopping=MaxFeatures(3))
    assert_same(rollout(policy, predictor, cases, schema, stopping=MaxFeatures(3)), alone)


def test_information_stops_alike():
    rng = np.random.default_rng(0)
    schema = schema_of((1, 1, 1, 2))
    _, predictor = models(rng, schema, (7, 5), 2, False)
    cases = table(rng, 80, schema, 3)

    class Values(Noted):
        informative = True

        def score(self, state):
            return np.abs(self.model.score(state))

    policy, _ = models(rng, schema, (7, 5), 2, False)
    how = {"stopping": InformationPerCost(0.5), "costs": PerFeature(np.array([1.0, 2.0, 1.0, 3.0]))}
    assert_same(
        rollout(Values(policy, treats_alike=True), predictor, cases, schema, **how),
        rollout(Values(policy), predictor, cases, schema, **how),
    )
