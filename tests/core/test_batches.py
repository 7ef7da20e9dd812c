"""Several features at once, chosen together."""

import numpy as np
import pytest

from askless.core import Asker, Cases, Precedence, Progress, rollout
from askless.core.batches import choose_batch
from askless.core.choice import ceiling_of
from askless.core.costs import PerFeature
from askless.core.reference import Reference
from askless.core.stopping import MaxCost, MaxFeatures
from askless.theory import noisy_tests, twin_sensors


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
    asker = Asker(problem.greedy, problem, problem.schema, reference=reference)
    ceiling = ceiling_of(~state.asked, state.x)
    progress = Progress(state, np.zeros(1, int), np.zeros(1), problem.predict(state), asker, ceiling)
    picks, fired = choose_batch(progress, (), 2)
    first = int(problem.cmi(problem.empty())[0].argmax())
    chances = problem.answer_probabilities(problem.empty(), first)[0]
    asked = np.arange(4)[None] == first
    after = [problem.cmi(problem.partial(np.full((1, 4), value), asked))[0] for value in range(2)]
    expected = np.where(asked[0], -1, chances @ np.array(after))
    assert [int(p[0]) for p in picks] == [first, int(expected.argmax())]
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


def test_a_batch_of_one_is_the_ordinary_way(twins):
    values, _ = twins.sample(50, np.random.default_rng(3))
    how = {"stopping": MaxFeatures(3)}
    a, b = (
        rollout(twins.greedy, twins, twins.cases(values), twins.schema, **how, **more)
        for more in ({}, {"batch": 1, "reference": stored(twins)})
    )
    assert (a.order == b.order).all()


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
    with pytest.raises(ValueError, match="a batch is chosen with imagined answers from stored rows"):
        rollout(problem.greedy, problem, problem.cases(values), problem.schema, batch=2)
