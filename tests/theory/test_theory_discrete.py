from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.acquisition import MaxFeatures, Policy, Predictor, rollout
from askless.exceptions import ParameterError
from askless.theory import DiscreteProblem, Partial, noisy_tests, noisy_xor, panels, problems
from tests.coded import raises
from tests.theory import theory_brute_force as brute

ALL = [getattr(problems, name) for name in problems.__all__]


def h(*p):
    """Entropy in nats."""
    return -sum(q * log(q) for q in p if q > 0)


# Hand arithmetic


def test_one_test_by_hand():
    """p(y=1) = 1/4; the test is positive with 0.9 given y = 1 and with 0.2 given y = 0."""
    joint = np.array([[0.75 * 0.8, 0.25 * 0.1], [0.75 * 0.2, 0.25 * 0.9]])  # (x, y)
    problem = DiscreteProblem("one test", {"x": 1}, joint)
    partial = problem.partial([[0], [0], [1]], [[False], [True], [True]])
    # p(x=1) = 0.15 + 0.225 = 0.375; p(y=1 | x=1) = 0.225 / 0.375 = 0.6; p(y=1 | x=0) = 0.025 / 0.625 = 0.04
    np.testing.assert_allclose(problem.posterior(partial), [[0.75, 0.25], [0.96, 0.04], [0.4, 0.6]])
    np.testing.assert_allclose(problem.probability(partial), [1.0, 0.625, 0.375])
    information = h(0.75, 0.25) - 0.625 * h(0.96, 0.04) - 0.375 * h(0.4, 0.6)
    np.testing.assert_allclose(problem.cmi(partial), [[information], [0.0], [0.0]], atol=1e-15)
    assert problem.best_value(0) == pytest.approx(h(0.75, 0.25))
    assert problem.best_value(1) == pytest.approx(h(0.75, 0.25) - information)


def test_exclusive_or_by_hand():
    """y = a xor b for fair bits: alone they say nothing, either is worth log 2 after the other."""
    joint = np.zeros((2, 2, 2))
    joint[[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]] = 0.25
    apart = DiscreteProblem("xor", {"a": 1, "b": 1}, joint)
    together = DiscreteProblem("xor", {"ab": 2}, joint)
    np.testing.assert_allclose(apart.cmi(apart.empty()), [[0.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(apart.cmi(apart.partial([[1, 0]], [[True, False]])), [[0.0, log(2)]])
    np.testing.assert_allclose(together.cmi(together.empty()), [[log(2)]])


def test_noisy_xor_best_value_by_hand():
    """The pair leaves y known up to a flip with 0.05; greedy instead takes the two best weak tests."""
    problem = noisy_xor()
    assert problem.best_value(2) == pytest.approx(h(0.05, 0.95), abs=1e-12)
    # Two independent tests of a fair label, right by 0.625, 0.565: H(y | c, d) = H(y) + H(c|y) + H(d|y) - H(c, d)
    agree = 0.5 * (0.625 * 0.565 + 0.375 * 0.435)
    differ = 0.5 * (0.625 * 0.435 + 0.375 * 0.565)
    weak = log(2) + h(0.625, 0.375) + h(0.565, 0.435) - h(agree, agree, differ, differ)
    assert problem.expected_loss(problem.greedy, 2) == pytest.approx(weak, abs=1e-12)


def test_impossible_records_are_answered_without_dividing_by_zero():
    problem = panels()
    impossible = problem.partial([[1, 1, 0, 0, 0, 0, 0]], [[True, False, False, False]])  # two kinds at once
    assert problem.probability(impossible) == 0.0
    np.testing.assert_allclose(problem.posterior(impossible), [[0.55, 0.45]])  # p(y)
    np.testing.assert_array_equal(problem.cmi(impossible), np.zeros((1, 4)))
    np.testing.assert_array_equal(problem.optimal_policy(2).score(problem.state(impossible)), np.zeros((1, 4)))


# Against the definitions, literally


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("zeros", [0.0, 0.4])
def test_lookups_equal_literal_enumeration(seed, zeros):
    problem = brute.random_problem(seed, zeros=zeros)
    partial = brute.every_partial(problem)
    known = [brute.known_of(problem, v, a) for v, a in zip(partial.values, partial.asked, strict=True)]
    np.testing.assert_allclose(problem.posterior(partial), [brute.posterior(problem, k) for k in known], atol=1e-13)
    np.testing.assert_allclose(problem.entropy(partial), [brute.entropy(problem, k) for k in known], atol=1e-12)
    features = range(len(problem.schema))
    literal = [[brute.cmi(problem, k, f) for f in features] for k in known]
    np.testing.assert_allclose(problem.cmi(partial), literal, atol=1e-12)
    np.testing.assert_allclose(
        problem.probability(partial), [sum(p for *_, p in brute.matching(problem, k)) for k in known], atol=1e-13
    )


@pytest.mark.parametrize("make", [*ALL, lambda: brute.random_problem(7), lambda: brute.random_problem(8, zeros=0.5)])
def test_dynamic_programming_equals_trying_everything(make):
    problem = make()
    for budget in (0, 1, 2):
        assert problem.best_value(budget) == pytest.approx(brute.best_value(problem, {}, budget), abs=1e-12)


@pytest.mark.parametrize("make", ALL)
def test_the_greedy_loss_equals_its_literal_recursion(make):
    problem = make()

    def choose(known):
        return max(brute.open_features(problem, known), key=lambda f: round(brute.cmi(problem, known, f), 10))

    literal = brute.expected_loss(problem, choose, {}, 2)
    assert problem.expected_loss(problem.greedy, 2) == pytest.approx(literal, abs=1e-12)


def test_dynamic_programming_with_more_budget_than_features():
    problem = brute.random_problem(3)
    everything = problem.best_value(3)
    assert problem.best_value(9) == pytest.approx(everything, abs=1e-14)
    assert everything == pytest.approx(problem.expected_loss(problem.greedy, 9), abs=1e-14)
    assert everything == pytest.approx(problem.expected_loss(problem.optimal_policy(9), 9), abs=1e-14)
    state = problem.state(problem.empty())
    np.testing.assert_allclose(problem.optimal_policy(9).score(state), problem.optimal_policy(3).score(state))


@given(st.integers(0, 10**6), st.sampled_from([(1, 1, 1), (2, 1), (1, 2, 1)]), st.sampled_from([0.0, 0.3, 0.7]))
@settings(max_examples=25, deadline=None)
def test_random_problems(seed, widths, zeros):
    problem = brute.random_problem(seed, widths, zeros=zeros)
    for budget in range(1, len(widths) + 1):
        greedy, best = problem.expected_loss(problem.greedy, budget), problem.best_value(budget)
        assert best <= greedy + 1e-12
        assert problem.expected_loss(problem.optimal_policy(budget), budget) == pytest.approx(best, abs=1e-11)
        assert best <= problem.best_value(budget - 1) + 1e-12  # a question never hurts
    assert problem.expected_loss(problem.greedy, 1) == pytest.approx(problem.best_value(1), abs=1e-11)
    cmi = problem.cmi(brute.every_partial(problem))
    assert np.all(cmi >= 0)
    assert np.all(cmi <= log(problem.n_classes) + 1e-12)


# Identities


@pytest.mark.parametrize("seed", range(5))
def test_chain_rule(seed):
    """I(y; a, b) = I(y; a) + E[I(y; b | a)], with (a, b) as a group of the same table."""
    apart = brute.random_problem(seed, (1, 1), zeros=0.2)
    together = DiscreteProblem("together", {"ab": 2}, apart.joint)
    chances = apart.answer_probabilities(apart.empty(), 0)[0]  # (values of a,)
    after_a = apart.partial(np.column_stack([apart.answers(0), 0 * apart.answers(0)]), [[True, False]] * len(chances))
    chained = apart.cmi(apart.empty())[0, 0] + chances @ apart.cmi(after_a)[:, 1]
    assert together.cmi(together.empty())[0, 0] == pytest.approx(chained, abs=1e-13)


@pytest.mark.parametrize("make", ALL)
def test_information_gained_on_the_way_is_the_loss_saved(make):
    """H(y) - E[H(y | answers)] = sum over the records visited of p(record) I(y; what is asked | record)."""
    problem = make()
    picks = lambda partial: (~partial.asked).argmax(axis=1)  # noqa: E731  left to right
    visits = problem.reachable(picks, 3)
    gained = np.take_along_axis(problem.cmi(visits.partial), np.maximum(visits.pick, 0)[:, None], axis=1)[:, 0]
    saved = problem.entropy(problem.empty())[0] - problem.expected_loss(picks, 3)
    assert (visits.probability * gained)[~visits.ended].sum() == pytest.approx(saved, abs=1e-12)


@pytest.mark.parametrize("make", ALL)
def test_greedy_minimises_the_loss_one_step_ahead(make):
    """Proposition 2, with E[H(y | x_i, x_s)] from answer probabilities and the posteriors after each answer."""
    problem = make()
    partial = brute.every_partial(problem)
    partial = partial[~partial.asked.all(axis=1)]
    for feature, (start, stop) in enumerate((f.start, f.stop) for f in problem.schema.features):
        rows = partial[~partial.asked[:, feature]]
        chances = problem.answer_probabilities(rows, feature)  # (n, answers)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        ahead = np.zeros(len(rows))
        for answer, chance in zip(problem.answers(feature), chances.T, strict=True):
            values, asked = rows.values.copy(), rows.asked.copy()
            values[:, start:stop], asked[:, feature] = answer, True
            ahead += chance * problem.entropy(Partial(values, asked))
        np.testing.assert_allclose(problem.entropy(rows) - ahead, problem.cmi(rows)[:, feature], atol=1e-12)


def test_bayes_is_the_best_predictor_and_loses_by_the_divergence():
    """Proposition 1: any other prediction loses KL(p(y | x_s) || prediction) on top."""
    problem = noisy_tests()

    def bold(partial):
        sharp = problem.posterior(partial) ** 2
        return sharp / sharp.sum(axis=1, keepdims=True)

    best = problem.expected_loss(problem.greedy, 3)
    assert problem.expected_loss(problem.greedy, 3, problem) == pytest.approx(best, abs=1e-14)
    visits = problem.reachable(problem.greedy, 3)
    last, chance = visits.partial[visits.ended], visits.probability[visits.ended]
    cross_entropy = -(problem.posterior(last) * np.log(bold(last))).sum(axis=1)
    assert problem.expected_loss(problem.greedy, 3, bold) == pytest.approx(chance @ cross_entropy, abs=1e-12)
    assert problem.expected_loss(problem.greedy, 3, bold) > best + 0.01


def test_divergence_by_hand():
    problem = DiscreteProblem("coin", {"x": 1}, np.array([[0.5, 0.0], [0.25, 0.25]]))
    partial = problem.partial([[0], [1], [1]], [[True], [True], [True]])  # p(y) = (1, 0), (1/2, 1/2), (1/2, 1/2)
    got = problem.divergence(partial, np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]]))
    np.testing.assert_allclose(got, [log(2), 0.5 * log(2) + 0.5 * log(2 / 3), np.inf])


def test_regret():
    problem = noisy_xor()
    partial = problem.partial([[1, 0, 0, 0, 0]] * 3, [[True, False, False, False, False]] * 3)
    cmi = problem.cmi(partial)[0]
    np.testing.assert_allclose(problem.regret(partial, np.array([1, 2, -1])), [0.0, cmi[1] - cmi[2], 0.0])
    visits = problem.reachable(problem.greedy, 4)
    assert np.abs(problem.regret(visits.partial, visits.pick)).max() < 1e-11


# With the roll-out


def test_protocols():
    problem = noisy_tests()
    assert isinstance(problem, Predictor)
    assert isinstance(problem.greedy, Policy)
    assert isinstance(problem.optimal_policy(2), Policy)


@pytest.mark.parametrize("make", ALL)
def test_the_roll_out_of_every_case_costs_what_the_tree_says(make):
    """Roll out every cell of the table with its weight: two ways to the same expected loss."""
    problem = make()
    cells = np.stack(np.unravel_index(np.arange(problem.joint.size), problem.joint.shape), axis=1)
    chance = problem.joint.ravel()
    cells, chance = cells[chance > 0], chance[chance > 0]
    for policy in (problem.greedy, problem.optimal_policy(2)):
        t = rollout(policy, problem, problem.cases(cells[:, :-1]), problem.schema, stopping=MaxFeatures(2))
        loss = -chance @ np.log(t.predictions[np.arange(len(cells)), -1, cells[:, -1]])
        assert loss == pytest.approx(problem.expected_loss(policy, 2), abs=1e-12)


def test_a_state_with_an_unknown_answer_is_scored_from_what_is_known():
    problem = noisy_tests()
    state = problem.state(problem.empty())
    state.asked[0, 1] = True  # asked, but the answer was "unknown"
    score = problem.greedy.score(state)
    np.testing.assert_allclose(np.delete(score, 1), np.delete(problem.cmi(problem.empty()), 1), atol=1e-12)
    assert score[0, 1] == 0.0


# Records, visits and samples


@pytest.mark.parametrize("make", ALL)
def test_visits_are_a_tree_of_distinct_records(make):
    problem = make()
    visits = problem.reachable(problem.greedy, 3)
    for depth in range(4):
        assert visits.probability[visits.depth == depth].sum() == pytest.approx(1.0)
    assert visits.probability[visits.ended].sum() == pytest.approx(1.0)
    np.testing.assert_allclose(visits.probability, problem.probability(visits.partial))
    rows = np.column_stack([visits.partial.values, visits.partial.asked])
    assert len(np.unique(rows, axis=0)) == len(visits)
    hidden = ~visits.partial.asked[:, problem.schema.column_feature]
    assert np.all(visits.partial.values[hidden] == 0)


def test_a_policy_may_stop_early():
    problem = noisy_tests()

    def until_sure(partial):
        sure = problem.posterior(partial).max(axis=1) > 0.9
        return np.where(sure, -1, problem.greedy.score(problem.state(partial)).argmax(axis=1))

    visits = problem.reachable(until_sure, 6)
    assert visits.probability[visits.ended].sum() == pytest.approx(1.0)
    stopped = visits.partial[visits.ended & (visits.depth < 6)]
    assert len(stopped) > 0
    assert np.all(problem.posterior(stopped).max(axis=1) > 0.9)
    all_six = problem.expected_loss(problem.greedy, 6)
    assert all_six < problem.expected_loss(until_sure, 6) < problem.expected_loss(problem.greedy, 1)


def test_an_expected_loss_equals_its_literal_recursion():
    problem = panels()
    rule = np.random.default_rng(5).permutation(4)

    def choose(known):
        left = brute.open_features(problem, known)
        return max(left, key=lambda f: ((rule[f] + sum(known.values())) % 4, f))

    def picks(partial):
        known = [brute.known_of(problem, v, a) for v, a in zip(partial.values, partial.asked, strict=True)]
        return np.array([choose(k) for k in known])

    assert problem.expected_loss(picks, 2) == pytest.approx(brute.expected_loss(problem, choose, {}, 2), abs=1e-12)


def test_samples_follow_the_table():
    problem = panels()
    values, y = problem.sample(200_000, np.random.default_rng(0))
    counts = np.zeros(problem.joint.shape)
    np.add.at(counts, (*values.T, y), 1)
    assert counts[problem.joint == 0].sum() == 0
    sd = np.sqrt(problem.joint * (1 - problem.joint) / 200_000)
    assert np.all(np.abs(counts / 200_000 - problem.joint) <= 5 * sd)
    same, _ = problem.sample(200_000, np.random.default_rng(0))
    np.testing.assert_array_equal(values, same)


def test_completions_follow_the_conditional_distribution():
    """Joint frequencies of all columns, given a group and a single one."""
    problem = panels()
    one = problem.partial([[0, 1, 0, 2, 1, 0, 0]], [[False, True, True, False]])  # panel = (2, 1), symptom = 0
    drawn = problem.complete(problem.state(one), 100_000, np.random.default_rng(1))[0]
    assert np.all(drawn[:, 3:6] == [2, 1, 0])
    counts = np.zeros(problem.levels)
    np.add.at(counts, tuple(drawn.T), 1)
    exact = problem.joint.sum(axis=-1)
    exact = (
        np.where(np.indices(problem.levels)[3:6].transpose(1, 2, 3, 4, 5, 6, 7, 0) == [2, 1, 0], 1, 0).all(-1) * exact
    )
    exact /= exact.sum()
    sd = np.sqrt(exact * (1 - exact) / 100_000)
    assert np.all(np.abs(counts / 100_000 - exact) <= 5 * sd)


def test_names_of_columns_and_groups():
    problem = panels()
    assert problem.column_names == ["kind_0", "kind_1", "kind_2", "panel_0", "panel_1", "symptom", "age"]
    assert problem.groups == {"kind": ["kind_0", "kind_1", "kind_2"], "panel": ["panel_0", "panel_1"]}
    assert (problem.levels, problem.n_classes) == ((2, 2, 2, 3, 2, 2, 3), 2)


# What is refused


def test_wrong_input_is_named():
    ok = np.full((2, 2), 0.25)
    with raises(ParameterError, "out_of_range", name="joint", value=0.5):
        DiscreteProblem("half", {"x": 1}, ok / 2)
    with raises(ParameterError, "out_of_range", name="joint", value=1.0):
        DiscreteProblem("negative", {"x": 1}, np.array([[0.75, 0.5], [0.0, -0.25]]))
    with raises(ParameterError, "wrong_shape", name="joint", shape=(2, 2), expected=3):
        DiscreteProblem("short", {"x": 2}, ok)
    problem = DiscreteProblem("fine", {"x": 1}, ok)
    with raises(ParameterError, "out_of_range", row=1, column=0, value=2, low=0, high=1):
        problem.posterior(problem.partial([[0], [2]], [[True], [True]]))
    with raises(ParameterError, "cannot_ask", feature="x"):
        problem.reachable(lambda partial: np.zeros(len(partial), dtype=int), 2)
    with raises(ParameterError, "cannot_ask", feature="x"):
        problem.answer_probabilities(problem.partial([[0]], [[True]]), 0)
    with raises(ParameterError, "out_of_range", name="budget", value=0, low=1):
        problem.optimal_policy(0)
    big = DiscreteProblem("big", {f"x{i}": 1 for i in range(14)}, np.full((2,) * 15, 2.0**-15))
    with raises(ParameterError, "too_large", name="joint"):
        big.posterior(big.empty())


def test_the_table_cannot_be_changed_behind_the_problem():
    joint = np.full((2, 2), 0.25)
    problem = DiscreteProblem("fine", {"x": 1}, joint)
    joint[:] = 0.0
    assert problem.joint.sum() == 1.0
    with pytest.raises(ValueError, match="read-only"):
        problem.joint[0] = 1.0
