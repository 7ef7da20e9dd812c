"""Exact answers with prices: the cost-greedy policy, and the best that money can buy."""

from itertools import product

import numpy as np
import pytest

from askless.acquisition.costs import Depends, Panels
from askless.theory import DiscreteProblem, decision_tree, hidden_context, noisy_tests, panels

PRICES = {"a": 3.0, "b": 4.0, "c": 2.0, "d": 1.0, "e": 0.5, "f": 0.25}
TOGETHER = Panels({"a": 3.0, "b": 4.0, "c": 2.0}, {"blood": {"a": 1.0, "b": 0.5}, "visit": {"d": 0.2, "e": 0.1}})


def literal_greedy(problem, prices, money, record=(), spent=0.0):
    """The expected log-loss of the policy that takes the most information for the money, one record at a time.

    `prices(asked)` gives the price of every feature once those names were asked.
    """
    names = list(problem.features)
    values, asked = np.zeros((1, len(names)), dtype=int), np.zeros((1, len(names)), dtype=bool)
    for name, value in record:
        values[0, names.index(name)], asked[0, names.index(name)] = value, True
    partial = problem.partial(values, asked)
    information = dict(zip(names, problem.cmi(partial)[0].round(12), strict=True))
    now = prices([name for name, _ in record])
    can = [n for n in names if n not in dict(record) and spent + now[n] <= money + 1e-9]
    if not can:
        return float(problem.entropy(partial)[0])
    worth = [n for n in can if information[n] > 0]
    best = max(worth, key=lambda n: information[n] / max(now[n], 1e-12)) if worth else min(can, key=lambda n: now[n])
    chances = problem.answer_probabilities(partial, names.index(best))[0]
    return sum(
        chance * literal_greedy(problem, prices, money, (*record, (best, value)), spent + now[best])
        for value, chance in enumerate(chances)
        if chance > 0
    )


def fixed(asked):
    return PRICES


def shared(asked):
    prices = {"a": 3.0, "b": 4.0, "c": 2.0, "d": 1.0, "e": 1.0, "f": 1.0}
    if {"a", "b"} & set(asked):
        prices |= {"a": 1.0, "b": 0.5}
    if {"d", "e"} & set(asked):
        prices |= {"d": 0.2, "e": 0.1}
    return prices


@pytest.mark.parametrize(("costs", "literal"), [(PRICES, fixed), (TOGETHER, shared)])
@pytest.mark.parametrize("money", [0.0, 0.3, 1.0, 2.5, 4.0, 5.2, 7.0])
def test_cost_greedy_is_the_literal_one(costs, literal, money):
    problem = noisy_tests()
    expected = literal_greedy(problem, literal, money)
    assert problem.expected_loss(problem.greedy, costs=costs, money=money) == pytest.approx(expected, abs=1e-12)


def literal_best(problem, prices, money, record=(), spent=0.0):
    """The least expected log-loss by trying every feature everywhere."""
    names = list(problem.features)
    values, asked = np.zeros((1, len(names)), dtype=int), np.zeros((1, len(names)), dtype=bool)
    for name, value in record:
        values[0, names.index(name)], asked[0, names.index(name)] = value, True
    partial = problem.partial(values, asked)
    now = prices([name for name, _ in record])
    found = [float(problem.entropy(partial)[0])]
    for name in names:
        if name not in dict(record) and spent + now[name] <= money + 1e-9:
            chances = problem.answer_probabilities(partial, names.index(name))[0]
            found.append(
                sum(
                    chance * literal_best(problem, prices, money, (*record, (name, value)), spent + now[name])
                    for value, chance in enumerate(chances)
                    if chance > 0
                )
            )
    return min(found)


def test_the_best_for_money_is_the_literal_one():
    problem = hidden_context()
    costs = Panels({"context": 1.0, "test_0": 2.0, "test_1": 2.0}, {"tests": {"test_0": 0.5, "test_1": 0.5}})

    def literal(asked):
        less = 0.5 if {"test_0", "test_1"} & set(asked) else 2.0
        return {"context": 1.0, "test_0": less, "test_1": less, "test_2": 1.0}

    for money in (0.0, 1.0, 2.0, 3.0, 3.5, 4.0, 9.0):
        expected = literal_best(problem, literal, money)
        assert problem.best_value_for_money(money, costs) == pytest.approx(expected, abs=1e-12)


def test_with_equal_prices_money_counts_questions():
    problem = decision_tree()
    equal = dict.fromkeys(problem.features, 2.0)
    for k in range(4):
        assert problem.best_value_for_money(2.0 * k + 1.0, equal) == pytest.approx(problem.best_value(k), abs=1e-12)
        greedy = problem.expected_loss(problem.greedy, costs=equal, money=2.0 * k + 1.0)
        assert greedy == pytest.approx(problem.expected_loss(problem.greedy, k), abs=1e-12)


@pytest.mark.parametrize("make", [noisy_tests, decision_tree, hidden_context, panels])
def test_no_policy_beats_the_best_and_more_money_never_hurts_it(make):
    problem: DiscreteProblem = make()
    costs = {name: 1.0 + 0.7 * i for i, name in enumerate(problem.features)}
    best = [problem.best_value_for_money(money, costs) for money in (0.0, 1.0, 2.0, 3.5, 5.0, 30.0)]
    greedy = [
        problem.expected_loss(problem.greedy, costs=costs, money=money) for money in (0.0, 1.0, 2.0, 3.5, 5.0, 30.0)
    ]
    assert all(np.diff(best) <= 1e-12)
    assert all(a <= b + 1e-12 for a, b in zip(best, greedy, strict=True))
    assert best[-1] == pytest.approx(problem.best_value(len(problem.features)), abs=1e-9)


def test_what_is_spent_is_what_the_questions_cost():
    problem = noisy_tests()
    visits = problem.reachable(problem.greedy, costs=TOGETHER, money=4.0)
    assert visits.spent.max() <= 4.0 + 1e-9
    names = list(problem.features)
    for asked, spent in zip(visits.partial.asked, visits.spent, strict=True):  # some order must cost what was spent
        done = [name for name, yes in zip(names, asked, strict=True) if yes]
        ways = set()
        for first in product([True, False], repeat=2):
            total = 0.0
            for group, alone, less, flip in (("ab", {"a": 3, "b": 4}, {"a": 1, "b": 0.5}, first[0]),
                                             ("de", {"d": 1, "e": 1}, {"d": 0.2, "e": 0.1}, first[1])):  # fmt: skip
                members = [name for name in done if name in group]
                members = members[::-1] if flip else members
                total += sum(alone[n] if i == 0 else less[n] for i, n in enumerate(members))
            ways.add(round(total + 2.0 * ("c" in done) + 1.0 * ("f" in done), 9))
        assert round(spent, 9) in ways


def test_prices_that_depend_on_answers():
    """The second test of a case costs more where the first was positive: exact all the same."""
    problem = noisy_tests()
    dear = Depends(lambda state: 1.0 + 3.0 * (state.x.sum(axis=1, keepdims=True) > 0) * np.ones(state.asked.shape))
    cheap = problem.best_value_for_money(3.0, Depends(lambda state: np.ones(state.asked.shape)))
    assert problem.best_value(1) > problem.best_value_for_money(3.0, dear) > cheap
    assert cheap == pytest.approx(problem.best_value(3), abs=1e-12)
