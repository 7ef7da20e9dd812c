"""Several features at once, chosen together."""

import numpy as np
import pytest

from askless.acquisition import Cases, Context, Policy, Precedence, Predictor, Progress, Schema, cost_model, rollout
from askless.acquisition.batches import choose_batch
from askless.acquisition.choice import decide
from askless.acquisition.costs import Depends, PerFeature
from askless.acquisition.reference import Reference
from askless.acquisition.stopping import Certified, MaxCost, MaxFeatures
from askless.exceptions import ParameterError
from askless.theory import noisy_tests, twin_sensors
from tests.coded import raises


def stored(problem, n=4000):
    values, y = problem.sample(n, np.random.default_rng(0))
    return Reference(values.astype(np.float32), np.ones((n, len(problem.schema)), dtype=bool), y)


def copied():
    """Noisy tests of which each has a perfect copy: a and A, b and B, ..."""
    problem = noisy_tests()
    twice = np.zeros((2,) * 12 + (2,))
    for cell in np.ndindex(*problem.joint.shape[:-1]):
        twice[tuple(np.repeat(cell, 2))] = problem.joint[cell]
    from askless.theory import DiscreteProblem

    names = [name for each in "abcdef" for name in (each, each.upper())]
    return DiscreteProblem("copied", dict.fromkeys(names, 1), twice)


@pytest.fixture(scope="module")
def twins():
    return copied()


@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_copies_are_never_both_asked(twins, size):
    values, _ = twins.sample(200, np.random.default_rng(1))
    how = {"reference": stored(twins), "stopping": MaxFeatures(6)}
    t = rollout(twins.greedy, twins, twins.cases(values), twins.schema, batch=size, **how)
    names = np.array([name.lower() for name in twins.features])
    assert (t.n_asked == 6).all()
    for order in t.order:
        assert len(set(names[order])) == 6
    alone = rollout(twins.greedy, twins, twins.cases(values), twins.schema, stopping=MaxFeatures(1))
    assert (t.order[:, 0] == alone.order[:, 0]).all()
    best = np.argsort(-twins.cmi(twins.empty())[0], kind="stable")[:2]
    assert len(set(names[best])) == 1  # the two that are best alone are copies of one another


def test_the_second_member_is_the_best_on_average():
    """Against the exact expectation of the information after the first member's answer."""
    problem = twin_sensors()
    reference = stored(problem)
    state = problem.state(problem.empty())
    context = Context(problem.greedy, problem, problem.schema, reference=reference)
    progress = Progress(
        state=state, count=np.zeros(1, int), spent=np.zeros(1), prediction=problem.predict(state), context=context
    )
    members, fired = choose_batch(progress, (), 2)
    first = int(problem.cmi(problem.empty())[0].argmax())
    chances = problem.answer_probabilities(problem.empty(), first)[0]
    asked = np.arange(4)[None] == first
    after = [problem.cmi(problem.partial(np.full((1, 4), value), asked))[0] for value in range(2)]
    expected = np.where(asked[0], -1, chances @ np.array(after))
    assert [int(pick[0]) for pick, _ in members] == [first, int(expected.argmax())]
    assert fired.tolist() == [-1]


def test_a_batch_keeps_to_number_and_money(twins):
    values, _ = twins.sample(50, np.random.default_rng(2))
    costs = PerFeature(np.tile([2.0, 2.0, 1.0, 1.0], 3))
    how = {"reference": stored(twins), "costs": costs, "batch": 3}
    t = rollout(twins.greedy, twins, twins.cases(values), twins.schema, stopping=[MaxFeatures(4)], **how)
    assert (t.n_asked == 4).all()
    t = rollout(twins.greedy, twins, twins.cases(values), twins.schema, stopping=[MaxCost(4.0)], **how)
    assert (t.cost <= 4.0 + 1e-9).all()
    assert (t.cost[:, -1] >= 3.0).all()
    assert set(t.stop_reason) == {"nothing affordable left of 4"}


def test_a_batch_of_one_is_the_ordinary_way():
    """Where nothing is a copy of anything."""
    problem = noisy_tests()
    values, _ = problem.sample(50, np.random.default_rng(3))
    costs = PerFeature(np.arange(1.0, 7.0))
    t = rollout(problem.greedy, problem, problem.cases(values), problem.schema, stopping=MaxFeatures(2), costs=costs)
    state = problem.state(problem.partial(values, t.selected(2)))
    context = Context(problem.greedy, problem, problem.schema, costs=costs, reference=stored(problem))
    progress = Progress(
        state=state, count=t.n_asked, spent=t.cost[:, -1], prediction=problem.predict(state), context=context
    )
    rules = (MaxFeatures(3), MaxCost(7))
    members, fired = choose_batch(progress, rules, 1)
    pick, ends = decide(progress, rules)
    assert len(members) == 1
    assert (members[0][0] == pick).all()
    assert (members[0][1] == progress.price_of(pick)).all()
    assert (fired == ends).all()
    assert len(set(pick.tolist())) > 1


class Scored(Policy):
    """A policy of fixed scores without a unit."""

    def __init__(self, *scores):
        self.scores = np.array(scores)

    def score(self, state):
        return np.tile(self.scores, (len(state), 1))


class Moved(Predictor):
    """The probability that moves by so much with every answer that is known."""

    def __init__(self, *by):
        self.by = np.array(by)

    def predict(self, state):
        chance = 0.05 + state.known @ self.by
        return np.column_stack([chance, 1 - chance])


def four_features(n=64):
    """Four independent numbers, as a schema, cases and stored rows."""
    x = np.random.default_rng(0).normal(size=(n, 4)).astype(np.float32)
    present = np.ones((n, 4), dtype=bool)
    return Schema.of_numbers("abcd"), Cases(x, present), Reference(x, present, np.arange(n) % 2)


@pytest.mark.parametrize("by", [0.8, 0.0], ids=["moves much", "moves nothing"])
def test_what_cannot_be_asked_has_no_say_in_what_repeats(by):
    schema, cases, reference = four_features()
    available = np.tile([True, True, True, False], (len(cases), 1))
    how = {"reference": reference, "available": available, "stopping": MaxFeatures(2)}
    t = rollout(Scored(9.0, 5.0, 1.0, 0.0), Moved(0.01, 0.0, 0.05, by), cases, schema, batch=2, **how)
    assert t.order.tolist() == [[0, 2]] * len(cases)  # b tells nothing


def test_a_batch_costs_what_it_was_ordered_for():
    """Prices that depend on answers are those of before the answers were there: a limit of money holds."""
    schema, cases, reference = four_features()
    costs = cost_model(Depends(dearer_where_a_is_positive), schema)
    how = {"reference": reference, "costs": costs, "stopping": MaxCost(3)}
    t = rollout(Scored(9.0, 5.0, 1.0, 0.0), Moved(0.1, 0.1, 0.1, 0.1), cases, schema, batch=3, **how)
    assert (t.cost[:, -1] <= 3).all()
    assert t.n_asked.tolist() == [3] * len(cases)


def dearer_where_a_is_positive(state):
    return np.where(state.x[:, :1] > 0, [1.0, 10.0, 1.0, 1.0], 1.0)


def test_a_promise_is_not_for_batches():
    schema, cases, reference = four_features()
    rule = Certified(0.1, threshold=0.6, cases=100)
    with raises(ParameterError, "not_supported", name="stopping"):
        rollout(Scored(1, 2, 3, 4), Moved(0, 0, 0, 0), cases, schema, batch=2, reference=reference, stopping=rule)


def test_what_waits_is_not_in_the_same_batch(twins):
    schema = twins.schema
    rule = Precedence.of({"a": ["b"]}, schema)
    values, _ = twins.sample(20, np.random.default_rng(4))
    available = np.tile([name.islower() for name in twins.features], (20, 1))
    how = {"precedence": rule, "reference": stored(twins), "available": available}
    t = rollout(twins.greedy, twins, twins.cases(values), schema, batch=3, **how)
    a, b = schema.index("a"), schema.index("b")
    for order in t.order.tolist():
        assert order.index(a) // 3 > order.index(b) // 3


def test_predictions_and_costs_follow_the_members_one_by_one():
    """Cases of which some have fewer questions left than a batch holds: no gaps in their paths."""
    problem = noisy_tests()
    values, _ = problem.sample(30, np.random.default_rng(5))
    present = np.random.default_rng(6).random((30, 6)) < 0.7
    cases = Cases(values.astype(float), present)
    t = rollout(problem.greedy, problem, cases, problem.schema, reference=stored(problem), batch=4)
    assert (t.n_asked == present.sum(axis=1)).all()
    for i, order in enumerate(t.order.tolist()):
        path = [feature for feature in order if feature >= 0]
        assert order == path + [-1] * (len(order) - len(path))
        for k in range(len(order) + 1):
            asked = np.zeros((1, 6), dtype=bool)
            asked[0, path[:k]] = True
            exact = problem.posterior(problem.partial(values[i : i + 1], asked))[0]
            np.testing.assert_allclose(t.predictions[i, k], exact, atol=1e-12)
            assert t.cost[i, k] == min(k, len(path))


def test_without_stored_rows():
    problem = noisy_tests()
    values, _ = problem.sample(3, np.random.default_rng(0))
    with raises(ParameterError, "not_supported", name="batch"):
        rollout(problem.greedy, problem, problem.cases(values), problem.schema, batch=2)
