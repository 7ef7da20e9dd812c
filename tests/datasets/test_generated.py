"""The generators against the formulas of their papers, written down once more, and against Bayes's rule."""

import math

import numpy as np
import pandas as pd
import pytest

from askless.datasets import load_dataset
from askless.datasets.sets.syn import syn_probability, syn_relevant


def slow_probability(name, x):
    """P(y=1) of one row, x[1] to x[11]."""
    a = 4 * x[1] * x[2]
    b = 1.2 * (x[3] ** 2 + x[4] ** 2 + x[5] ** 2 + x[6] ** 2) - 4.2
    c = -10 * math.sin(0.2 * x[7]) + abs(x[8]) + x[9] + math.exp(-x[10]) - 2.4
    below, above = {"syn1": (a, b), "syn2": (a, c), "syn3": (b, c)}[name]
    return 1 / (1 + math.exp(below if x[11] < 0 else above))


@pytest.mark.parametrize("name", ["syn1", "syn2", "syn3"])
class TestSyn:
    def test_the_formula(self, name):
        data = load_dataset(name, n=200)
        expected = [slow_probability(name, [math.nan, *row]) for row in data.frame.to_numpy().tolist()]
        np.testing.assert_allclose(syn_probability(name, data.frame), expected, rtol=1e-9, atol=1e-12)

    def test_the_labels_follow_it(self, name):
        data = load_dataset(name, n=40_000, random_state=1)
        p = syn_probability(name, data.frame)
        for chosen in (p < 0.3, (p >= 0.3) & (p < 0.7), p >= 0.7):
            spread = np.sqrt((p * (1 - p))[chosen].sum())
            assert abs((data.target.to_numpy() - p)[chosen].sum()) < 4 * spread

    def test_the_numbers_are_standard_normal(self, name):
        x = load_dataset(name, n=40_000, random_state=1).frame.to_numpy()
        np.testing.assert_allclose(x.mean(axis=0), 0, atol=0.02)
        np.testing.assert_allclose(np.cov(x.T), np.eye(11), atol=0.03)

    def test_only_what_is_relevant_matters(self, name):
        frame = load_dataset(name, n=500).frame
        relevant, p = syn_relevant(name, frame), syn_probability(name, frame)
        assert relevant.shape == (500, 11)
        assert relevant[:, 10].all()
        for j in range(10):
            changed = frame.copy()
            changed.iloc[:, j] += 0.5
            moved = np.abs(syn_probability(name, changed) - p) > 1e-12
            assert not (moved & ~relevant[:, j]).any()
            assert moved.sum() >= 0.9 * relevant[:, j].sum()
        below = (frame["x11"] < 0).to_numpy()
        counts = relevant.sum(axis=1)
        assert set(counts[below]) == {5 if name == "syn3" else 3}
        assert set(counts[~below]) == {5}


def test_extreme_values_do_not_overflow():
    frame = pd.DataFrame([[60.0, 60.0, *[0.0] * 8, -1.0], [60.0, -60.0, *[0.0] * 8, -1.0]])
    frame.columns = [f"x{i}" for i in range(1, 12)]
    assert syn_probability("syn1", frame).tolist() == [0.0, 1.0]


def normal(x, mean, sd):
    return np.exp(-0.5 * ((x - mean) / sd) ** 2) / sd


def code(c):
    return [c % 2, c // 2 % 2, c // 4]  # the lowest bit first


@pytest.fixture(scope="module")
def cube():
    return load_dataset("cube", n=40_000, random_state=1)


@pytest.fixture(scope="module")
def cube_nm():
    return load_dataset("cube_nm", n=40_000, random_state=1)


def test_moments_of_cube(cube):
    x, y = cube.frame.to_numpy(), cube.target.to_numpy()
    np.testing.assert_allclose(np.bincount(y) / len(y), 1 / 8, atol=0.01)
    for c in range(8):
        mean, sd = np.full(20, 0.5), np.full(20, 0.3)
        mean[c : c + 3], sd[c : c + 3] = code(c), 0.1
        np.testing.assert_allclose(x[y == c].mean(axis=0), mean, atol=0.025)
        np.testing.assert_allclose(x[y == c].std(axis=0), sd, atol=0.015)


def test_bayes_rule_predicts_cubes_classes(cube):
    x, y = cube.frame.to_numpy(), cube.target.to_numpy()
    likelihood = np.stack([_likelihood(x[:, :10], c, 0.1) for c in range(8)], axis=1)
    _check_posterior(likelihood, y)


def test_moments_of_cube_nm(cube_nm):
    x, y = cube_nm.frame.to_numpy(), cube_nm.target.to_numpy()
    context = x[:, :5].argmax(axis=1)  # a noise of 0.1 does not hide which it is
    np.testing.assert_allclose(np.bincount(context) / len(x), 0.2, atol=0.01)
    np.testing.assert_allclose((x[:, :5] - np.eye(5)[context]).std(axis=0), 0.1, atol=0.01)
    blocks = x[:, 5:].reshape(-1, 5, 10)
    for k, c in [(0, 0), (2, 5), (4, 7)]:
        chosen = blocks[(context == k) & (y == c)]
        mean = np.full((5, 10), 0.5)
        mean[k, c : c + 3] = code(c)
        np.testing.assert_allclose(chosen.mean(axis=0), mean, atol=0.05)
        np.testing.assert_allclose(chosen.std(axis=0), 0.3, atol=0.04)


def test_the_context_says_nothing_by_itself_but_decides_what_matters(cube_nm):
    x, y = cube_nm.frame.to_numpy(), cube_nm.target.to_numpy()
    context = x[:, :5].argmax(axis=1)
    table = np.histogram2d(context, y, bins=(5, 8))[0] / len(x)
    np.testing.assert_allclose(table, 1 / 40, atol=0.003)
    blocks = x[:, 5:].reshape(-1, 5, 10)
    own = blocks[np.arange(len(x)), context]
    _check_posterior(np.stack([_likelihood(own, c, 0.3) for c in range(8)], axis=1), y)
    other = blocks[np.arange(len(x)), (context + 1) % 5]
    posterior = np.stack([_likelihood(other, c, 0.3) for c in range(8)], axis=1)
    assert (posterior.argmax(axis=1) == y).mean() < 0.14  # chance is 1/8


def _likelihood(x, c, sd):
    """(n,) of ten features given class c."""
    mean, spread = np.full(10, 0.5), np.full(10, 0.3)
    mean[c : c + 3], spread[c : c + 3] = code(c), sd
    return normal(x, mean, spread).prod(axis=1)


def _check_posterior(likelihood, y):
    """Bayes's rule is calibrated: for each class, as many rows have it as the posterior says."""
    posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
    hit = y[:, None] == np.arange(8)
    for chosen in (posterior < 0.2, (posterior >= 0.2) & (posterior < 0.8), posterior >= 0.8):
        spread = np.sqrt((posterior * (1 - posterior))[chosen].sum())
        assert chosen.any()
        assert abs((hit - posterior)[chosen].sum()) < 4 * spread + 1e-9


def test_the_context_is_one_feature(cube_nm):
    assert cube_nm.groups == {"context": [f"context {k}" for k in range(1, 6)]}
    assert cube_nm.info.features == 51
