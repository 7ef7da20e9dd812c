from itertools import product
from math import log

import numpy as np
import pytest

from askless.acquisition import Policy, Predictor, State
from askless.exceptions import ParameterError
from askless.theory import (
    DiscreteProblem,
    ExactSampler,
    MarginalSampler,
    SampledPolicy,
    Sampler,
    divergence_from_mean,
    estimate_worth,
    gaussian_chain,
    noisy_tests,
    panels,
    twin_sensors,
    variance_of_means,
)
from tests.coded import raises
from tests.theory import theory_brute_force as brute


class Scripted:
    """Draws the same given values for every case."""

    def __init__(self, values):
        self.values = np.asarray(values)  # (n, columns)

    def draw(self, state, n, rng):
        assert n == len(self.values)
        return np.broadcast_to(self.values, (len(state), *self.values.shape))


def estimate(problem, sampler, state, n, seed=0, **options):
    rng = np.random.default_rng(seed)
    return estimate_worth(problem, sampler, state, problem.schema, n_samples=n, rng=rng, **options)


def marginal_limit(problem, known, feature):
    """What the estimate tends to when answers are drawn from p(x_i) and the predictor is exact, literally."""
    chances = [(p, then[brute.columns_of(problem, feature)[0]]) for p, then in brute.answers(problem, {}, feature)]
    column = brute.columns_of(problem, feature)[0]
    after = [(p, brute.posterior(problem, {**known, column: value})) for p, value in chances]
    mean = [sum(p * q[y] for p, q in after) for y in range(problem.n_classes)]
    return sum(p * sum(q[y] * log(q[y] / mean[y]) for y in range(problem.n_classes)) for p, q in after)


# Hand arithmetic


def test_divergence_from_mean_by_hand():
    """(0.9, 0.1), (0.9, 0.1), (0.3, 0.7): the mean is (0.7, 0.3)."""
    kl = (2 * (0.9 * log(0.9 / 0.7) + 0.1 * log(0.1 / 0.3)) + 0.3 * log(0.3 / 0.7) + 0.7 * log(0.7 / 0.3)) / 3
    predictions = np.array([[0.9, 0.1], [0.9, 0.1], [0.3, 0.7]])
    assert divergence_from_mean(predictions) == pytest.approx(kl)
    stacked = divergence_from_mean(np.stack([predictions, predictions[:, ::-1], predictions[[0, 0, 0]]]))
    np.testing.assert_allclose(stacked, [kl, kl, 0.0], atol=1e-15)


def test_estimator_by_hand():
    """y is x with probability 0.8; of four drawn answers three are 1, so predictions are (0.2, 0.8) three times."""
    problem = DiscreteProblem("one test", {"x": 1}, np.array([[0.4, 0.1], [0.1, 0.4]]))
    got = estimate(problem, Scripted([[1], [0], [1], [1]]), problem.state(problem.empty()), 4)
    # The mean is (0.35, 0.65).
    up = 0.2 * log(0.2 / 0.35) + 0.8 * log(0.8 / 0.65)
    down = 0.8 * log(0.8 / 0.35) + 0.2 * log(0.2 / 0.65)
    np.testing.assert_allclose(got, [[(3 * up + down) / 4]])


def test_answers_in_the_right_proportions_give_the_exact_information():
    """p(x = 1) = 3/8 and x is drawn three times out of eight: the estimate is I(y; x) itself."""
    joint = np.array([[0.75 * 0.8, 0.25 * 0.1], [0.75 * 0.2, 0.25 * 0.9]])
    problem = DiscreteProblem("one test", {"x": 1}, joint)
    got = estimate(problem, Scripted([[1]] * 3 + [[0]] * 5), problem.state(problem.empty()), 8)
    np.testing.assert_allclose(got, problem.cmi(problem.empty()))


def test_variance_of_means_by_hand():
    np.testing.assert_allclose(variance_of_means(np.array([[[1.0], [2.0], [6.0]], [[5.0]] * 3])), [14 / 3, 0.0])


# What it must do for any sampler


def test_one_sample_says_nothing():
    problem = noisy_tests()
    got = estimate(problem, ExactSampler(problem), problem.state(problem.empty(5)), 1)
    np.testing.assert_allclose(got, 0.0, atol=1e-15)


def test_what_was_asked_is_worth_nothing_and_is_kept():
    problem = panels()
    partial = brute.every_partial(problem)
    got = estimate(problem, ExactSampler(problem), problem.state(partial), 16)
    assert np.all(got[partial.asked] == 0)
    assert np.all(got >= 0)
    # Once all but the age were asked, only the last column of what is drawn counts.
    one = problem.partial([[1, 0, 0, 2, 1, 1, 0]], [[True, True, True, False]])
    script = np.array([[0, 0, 1, 0, 0, 0, 0], [0, 1, 0, 1, 1, 0, 1], [0, 1, 0, 2, 0, 0, 2], [0, 0, 1, 1, 0, 1, 2]])
    then = problem.partial([[1, 0, 0, 2, 1, 1, age] for age in (0, 1, 2, 2)], [[True] * 4] * 4)
    expected = divergence_from_mean(problem.posterior(then))
    np.testing.assert_allclose(estimate(problem, Scripted(script), problem.state(one), 4), [[0, 0, 0, expected]])


def test_a_group_is_answered_as_a_whole():
    problem = panels()
    script = np.array([[1, 0, 0, 0, 1, 0, 0], [0, 1, 0, 2, 0, 1, 1]])
    got = estimate(problem, Scripted(script), problem.state(problem.empty()), 2)
    for feature, asked in enumerate(np.eye(4, dtype=bool)):
        then = problem.partial(script, [asked, asked])
        assert got[0, feature] == pytest.approx(divergence_from_mean(problem.posterior(then)))


@pytest.mark.parametrize("max_rows", [1, 7, 50, 1000])
def test_the_memory_bound_does_not_change_the_estimate(max_rows):
    problem = noisy_tests()
    state = problem.state(brute.every_partial(problem)[::20])
    rows = problem.sample(30, np.random.default_rng(0))[0]
    for sampler in (ExactSampler(problem), MarginalSampler(rows), MarginalSampler(rows, shared=True)):
        whole = estimate(problem, sampler, state, 5)
        np.testing.assert_allclose(estimate(problem, sampler, state, 5, max_rows=max_rows), whole, atol=1e-15)


def test_the_memory_bound_holds():
    problem, seen = noisy_tests(), []

    class Watched(Predictor):
        def predict(self, state):
            seen.append(len(state))
            return problem.predict(state)

    state, rng = problem.state(problem.empty(20)), np.random.default_rng(0)
    estimate_worth(Watched(), ExactSampler(problem), state, problem.schema, n_samples=9, rng=rng, max_rows=100)
    assert sum(seen) == 20 * 6 * 9
    assert max(seen) <= 100


def test_single_precision_states_stay_so():
    problem = noisy_tests()
    kinds = []

    class Watched(Predictor):
        def predict(self, state):
            kinds.append(state.x.dtype)
            return problem.predict(state)

    state = problem.state(problem.empty())
    state = State(state.x.astype(np.float32), state.asked, state.known)
    rng = np.random.default_rng(0)
    estimate_worth(Watched(), ExactSampler(problem), state, problem.schema, n_samples=3, rng=rng)
    assert kinds == [np.float32]


def test_no_samples_are_refused():
    problem = noisy_tests()
    with raises(ParameterError, "out_of_range", name="n_samples", value=0, low=1):
        estimate(problem, ExactSampler(problem), problem.state(problem.empty()), 0)


# Convergence


def test_the_mean_of_two_samples_is_known_exactly():
    """E[I^2] by summing over all pairs of answers; it is below I, as the mean prediction is itself uncertain."""
    problem = twin_sensors()
    state = problem.state(problem.empty(40_000))
    got = estimate(problem, ExactSampler(problem), state, 2)
    for feature in range(4):
        chance = problem.answer_probabilities(problem.empty(), feature)[0]
        asked = np.eye(4, dtype=bool)[feature]
        after = problem.posterior(problem.partial(np.outer(np.arange(2), asked), [asked, asked]))
        exact = sum(chance[i] * chance[j] * divergence_from_mean(after[[i, j]]) for i, j in product((0, 1), repeat=2))
        error = got[:, feature].std() / np.sqrt(len(got))
        assert got[:, feature].mean() == pytest.approx(exact, abs=4.5 * error)
        assert exact < problem.cmi(problem.empty())[0, feature]


def spread_of_divergence(problem, record, feature):
    """The standard deviation over answers of KL(p(y | x_s, x_i) || p(y | x_s)), literally."""
    known = brute.known_of(problem, record.values[0], record.asked[0])
    now = brute.posterior(problem, known)
    terms = []
    for chance, then in brute.answers(problem, known, feature):
        terms.append((chance, sum(q * log(q / p) for q, p in zip(brute.posterior(problem, then), now, strict=True))))
    mean = sum(p * kl for p, kl in terms)
    return sum(p * (kl - mean) ** 2 for p, kl in terms) ** 0.5


@pytest.mark.parametrize("make", [noisy_tests, panels])
def test_the_error_shrinks_as_one_over_the_root_of_n(make):
    """The limit is I(y; x_i | x_s); to first order the error is that of a mean of n divergences, sd / sqrt(n).

    600 repetitions give each root mean square error to 3 or 4 %, and so the slope over n = 64, 256, 1024 to 0.025;
    terms of order 1/n tilt it by another 0.015 or so where sd is at least half of the information. Where sd is
    smaller (the answers move y equally far) those terms count for more, and the error falls faster.
    """
    problem = make()
    visits = problem.reachable(problem.greedy, 1)
    record = visits.partial[visits.depth == 1][-1:]  # after an answer to the first question of the greedy policy
    exact = problem.cmi(record)[0]
    state = problem.state(record[np.zeros(600, dtype=int)])
    sizes = np.array([64, 256, 1024])
    errors = np.array([estimate(problem, ExactSampler(problem), state, n, seed=n) - exact for n in sizes])
    rms = np.sqrt((errors**2).mean(axis=1))  # (sizes, features)
    plain = 0
    for feature in np.flatnonzero(~record.asked[0]):
        slope = np.polyfit(np.log(sizes), np.log(rms[:, feature]), 1)[0]
        sd = spread_of_divergence(problem, record, feature)
        if sd > 0.5 * exact[feature]:
            plain += 1
            assert slope == pytest.approx(-0.5, abs=0.08), problem.schema.names[feature]
            assert rms[-1, feature] == pytest.approx(sd / np.sqrt(1024), rel=0.15), problem.schema.names[feature]
        else:
            assert slope < -0.42, problem.schema.names[feature]
    assert plain >= 3


def test_the_error_of_marginal_sampling_does_not_shrink():
    """It tends to a limit of its own: several times the true worth of the twin, once its fellow was read."""
    problem = twin_sensors()
    rows, _ = problem.sample(200_000, np.random.default_rng(3))
    for reading in (0, 1):
        record = problem.partial([[reading, 0, 0, 0]], [[True, False, False, False]])
        got = estimate(problem, MarginalSampler(rows), problem.state(record), 100_000)[0]
        limit = [marginal_limit(problem, {0: reading}, feature) for feature in (1, 2, 3)]
        np.testing.assert_allclose(got[1:], limit, atol=1.5e-3)
        exact = problem.cmi(record)[0]
        assert got[1] > 5 * exact[1]
        assert exact.argmax() == 2
        assert got.argmax() == 1


def test_marginal_sampling_is_right_before_the_first_question():
    problem = twin_sensors()
    rows, _ = problem.sample(200_000, np.random.default_rng(3))
    got = estimate(problem, MarginalSampler(rows), problem.state(problem.empty()), 100_000)
    np.testing.assert_allclose(got, problem.cmi(problem.empty()), atol=2e-3)


def test_variance_estimate_tends_to_the_drop_of_the_variance():
    problem = gaussian_chain()
    x, _ = problem.sample(3, np.random.default_rng(0))
    known = np.array([[False] * 5, [False, False, True, False, False], [True, False, False, True, False]])
    shown = known[:, problem.schema.column_feature]
    state = State(np.where(shown, x, 0.0), known, known)
    got = estimate(problem, ExactSampler(problem), state, 40_000, spread=variance_of_means)
    exact = problem.variance(known)[:, None] - problem.expected_variance(known)
    np.testing.assert_allclose(got, exact, rtol=0.03, atol=1e-12)


# As policies


def test_samplers_and_policies_satisfy_their_protocols():
    problem = twin_sensors()
    rows, _ = problem.sample(10, np.random.default_rng(0))
    for sampler in (ExactSampler(problem), MarginalSampler(rows)):
        assert isinstance(sampler, Sampler)
        assert isinstance(SampledPolicy(problem, sampler, problem.schema), Policy)


def test_sampled_policies_earn_what_their_sampler_deserves():
    """With exact draws the policy is greedy; with marginal ones it asks the twin second, and loses by it."""
    problem = twin_sensors()
    rows, _ = problem.sample(4000, np.random.default_rng(0))
    exact = SampledPolicy(problem, ExactSampler(problem), problem.schema, n_samples=4000)
    marginal = SampledPolicy(problem, MarginalSampler(rows), problem.schema, n_samples=4000)
    greedy = problem.expected_loss(problem.greedy, 2)
    assert problem.expected_loss(exact, 2) == pytest.approx(greedy, abs=1e-12)
    visits = problem.reachable(marginal, 2)
    assert visits.pick[visits.depth == 1].tolist() == [1, 1]
    assert problem.expected_loss(marginal, 2) > greedy + 0.03


def test_the_same_state_gets_the_same_scores():
    problem = noisy_tests()
    policy = SampledPolicy(problem, ExactSampler(problem), problem.schema, n_samples=20)
    state = problem.state(problem.empty(3))
    np.testing.assert_array_equal(policy.score(state), policy.score(state))


def test_shared_rows_give_a_batch_what_its_cases_get_one_by_one():
    problem = noisy_tests()
    rows, _ = problem.sample(50, np.random.default_rng(0))
    policy = SampledPolicy(problem, MarginalSampler(rows, shared=True), problem.schema, n_samples=50)
    partial = brute.every_partial(problem)[::25]
    one_by_one = [policy.score(problem.state(partial[i : i + 1]))[0] for i in range(len(partial))]
    np.testing.assert_allclose(policy.score(problem.state(partial)), one_by_one, atol=1e-15)
    np.testing.assert_array_equal(
        MarginalSampler(rows, shared=True).draw(partial, 60, np.random.default_rng(0))[3, 50:], rows[:10]
    )
