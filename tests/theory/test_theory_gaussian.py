from itertools import combinations

import numpy as np
import pytest

from askless.acquisition import MaxFeatures, Policy, Predictor, State, rollout
from askless.exceptions import ParameterError
from askless.theory import GaussianProblem, gaussian_chain, gaussian_suppressor
from tests.coded import raises

ALL = [gaussian_chain, gaussian_suppressor]


def columns_of(problem, features):
    return [c for f in features for c in range(problem.schema.features[f].start, problem.schema.features[f].stop)]


def every_subset(problem):
    size = len(problem.features)
    return [s for k in range(size + 1) for s in combinations(range(size), k)]


def mask(problem, features):
    known = np.zeros((1, len(problem.features)), dtype=bool)
    known[0, list(features)] = True
    return known


def hidden(problem, x, known):
    return State(np.where(known[:, problem.schema.column_feature], x, 0.0), known, known)


def test_two_readings_by_hand():
    """y ~ N(1, 4); a = y + N(0, 4), b = y + N(0, 12): precisions add up, 1/4 + 1/4 + 1/12 = 7/12."""
    covariance = np.array([[8.0, 4.0, 4.0], [4.0, 16.0, 4.0], [4.0, 4.0, 4.0]])
    problem = GaussianProblem("readings", {"a": 1, "b": 1}, np.array([1.0, 1.0, 1.0]), covariance)
    known = np.array([[False, False], [True, False], [False, True], [True, True]])
    np.testing.assert_allclose(problem.variance(known), [4.0, 2.0, 3.0, 12 / 7])
    x = np.tile([3.0, 9.0], (4, 1))
    # 1; 1 + (3 - 1) / 2; 1 + (9 - 1) / 4; (1/4 + 3/4 + 9/12) / (7/12) = 3
    np.testing.assert_allclose(problem.posterior(hidden(problem, x, known)), [1.0, 2.0, 3.0, 3.0])
    np.testing.assert_allclose(problem.expected_variance(known)[0], [2.0, 3.0])
    np.testing.assert_allclose(problem.greedy.score(hidden(problem, x, known))[1], [0.0, 2 - 12 / 7])
    assert problem.best_subset(1) == problem.greedy_subset(1) == (0,)


@pytest.mark.parametrize("make", ALL)
def test_variance_is_the_inverse_of_the_precision(make):
    """Var(y | x_s) is 1 over y's entry of the inverted covariance of (x_s, y)."""
    problem = make()
    for subset in every_subset(problem):
        keep = [*columns_of(problem, subset), len(problem.mean) - 1]
        precision = np.linalg.inv(problem.covariance[np.ix_(keep, keep)])
        assert problem.subset_variance(subset) == pytest.approx(1 / precision[-1, -1], abs=1e-12)
        assert problem.variance(mask(problem, subset))[0] == problem.subset_variance(subset)


@pytest.mark.parametrize("make", ALL)
def test_means_and_variances_against_least_squares(make):
    """The conditional mean of a Gaussian is the regression on what is known."""
    problem = make()
    x, y = problem.sample(50_000, np.random.default_rng(0))
    for subset in every_subset(problem)[1::3]:
        columns = columns_of(problem, subset)
        design = np.column_stack([np.ones(len(x)), x[:, columns]])
        fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
        exact = problem.predict(hidden(problem, x, np.repeat(mask(problem, subset), len(x), axis=0)))[:, 0]
        assert np.sqrt(np.mean((fitted - exact) ** 2)) < 0.03
        assert np.mean((y - exact) ** 2) == pytest.approx(problem.subset_variance(subset), rel=0.03)


@pytest.mark.parametrize("make", ALL)
def test_expected_variance_of_every_candidate(make):
    problem = make()
    for subset in every_subset(problem):
        got = problem.expected_variance(mask(problem, subset))[0]
        expected = [problem.subset_variance(tuple({*subset, f})) for f in range(len(problem.features))]
        np.testing.assert_allclose(got, expected)


def test_different_subsets_in_one_batch():
    problem = gaussian_chain()
    subsets = every_subset(problem)
    x, _ = problem.sample(len(subsets), np.random.default_rng(1))
    known = np.concatenate([mask(problem, s) for s in subsets])
    batch = problem.posterior(hidden(problem, x, known))
    one_by_one = [problem.posterior(hidden(problem, x[i : i + 1], known[i : i + 1]))[0] for i in range(len(x))]
    np.testing.assert_allclose(batch, one_by_one, atol=1e-13)


@pytest.mark.parametrize("make", ALL)
def test_best_subset_is_the_best_of_all(make):
    problem = make()
    for budget in range(len(problem.features) + 1):
        tried = {s: problem.subset_variance(s) for s in combinations(range(len(problem.features)), budget)}
        assert problem.best_subset(budget) == min(tried, key=tried.get)
        assert problem.best_value(budget) == min(tried.values())
        assert problem.best_value(budget) <= problem.subset_variance(problem.greedy_subset(budget)) + 1e-12
    assert problem.best_value(99) == problem.best_value(len(problem.features))


def test_greedy_misses_the_best_pair():
    chain, suppressor = gaussian_chain(), gaussian_suppressor()
    assert chain.subset_variance(chain.greedy_subset(2)) > chain.best_value(2) + 0.15
    assert suppressor.subset_variance(suppressor.greedy_subset(2)) > suppressor.best_value(2) + 0.4


@pytest.mark.parametrize("make", ALL)
def test_roll_outs_reach_the_exact_losses(make):
    problem = make()
    assert isinstance(problem, Predictor)
    x, y = problem.sample(40_000, np.random.default_rng(2))
    for policy, subset in [
        (problem.greedy, problem.greedy_subset(2)),
        (problem.optimal_policy(2), problem.best_subset(2)),
    ]:
        assert isinstance(policy, Policy)
        t = rollout(policy, problem, problem.cases(x), problem.schema, stopping=MaxFeatures(2))
        assert set(t.order.ravel()) == set(subset)
        loss = np.mean((t.predictions[:, -1, 0] - y) ** 2)
        assert loss == pytest.approx(problem.subset_variance(subset), rel=0.03)


def test_the_greedy_roll_out_follows_the_greedy_order():
    problem = gaussian_chain()
    x, _ = problem.sample(4, np.random.default_rng(2))
    t = rollout(problem.greedy, problem, problem.cases(x), problem.schema)
    assert t.order.tolist() == [list(problem.greedy_subset(5))] * 4


def test_completions_have_the_conditional_moments():
    """E[x_h | x_s] = m_h + C_hs C_ss^-1 (x_s - m_s); Cov[x_h | x_s] = C_hh - C_hs C_ss^-1 C_sh."""
    problem = gaussian_chain()
    known = np.array([[True, False, False, True, False], [False, False, True, False, False]])
    x, _ = problem.sample(2, np.random.default_rng(4))
    drawn = problem.complete(hidden(problem, x, known), 100_000, np.random.default_rng(5))
    mean, covariance = problem.mean[:-1], problem.covariance[:-1, :-1]
    for row in range(2):
        s = columns_of(problem, np.flatnonzero(known[row]))
        r = [c for c in range(6) if c not in s]
        gain = covariance[np.ix_(r, s)] @ np.linalg.inv(covariance[np.ix_(s, s)])
        assert np.all(drawn[row][:, s] == x[row, s])
        np.testing.assert_allclose(drawn[row][:, r].mean(axis=0), mean[r] + gain @ (x[row, s] - mean[s]), atol=0.015)
        left = covariance[np.ix_(r, r)] - gain @ covariance[np.ix_(s, r)]
        np.testing.assert_allclose(np.cov(drawn[row][:, r].T), left, atol=0.02)


def test_wrong_input_is_named():
    with raises(ParameterError, "wrong_shape", name="mean", shape=(2,), expected=(3,)):
        GaussianProblem("short", {"a": 1, "b": 1}, np.zeros(2), np.eye(2))
    with raises(ParameterError, "out_of_range", name="covariance"):
        GaussianProblem("flat", {"a": 1}, np.zeros(2), np.ones((2, 2)) - 1e-3)
    with raises(ParameterError, "invalid_choice", name="covariance"):
        GaussianProblem("skew", {"a": 1}, np.zeros(2), np.array([[1.0, 0.5], [0.0, 1.0]]))
    with raises(ParameterError, "too_large", name="features", value=13, high=12):
        GaussianProblem("big", {f"x{i}": 1 for i in range(13)}, np.zeros(14), np.eye(14))
