"""The filter against exact information, scikit-learn's count and hand arithmetic."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from askless import DynamicClassifier
from askless.acquisition import Cases, Feature, Part, Schema
from askless.exceptions import ParameterError
from askless.methods import MutualInformation
from askless.methods.mutual_information import equal_frequency_bins, estimated_information
from askless.theory import decision_tree, gaussian_chain, noisy_tests, noisy_xor, panels
from askless.training import Problem, Progress
from tests.coded import raises


def problem_of(schema, x, y, *, task="classification", present=None, missing="skip"):
    present = np.ones((len(x), len(schema)), dtype=bool) if present is None else present
    cases = Cases(np.where(present[:, schema.column_feature], x, 0).astype(np.float32), present)
    n_classes = int(y.max()) + 1 if task == "classification" else 0
    return Problem(
        schema=schema,
        train=cases,
        y_train=y,
        valid=cases[:50],
        y_valid=y[:50],
        task=task,
        n_classes=n_classes,
        max_features=2,
        missing=missing,
    )


def scores(problem, **settings):
    return MutualInformation(**settings)._scores(problem, 0, Progress(), None)[0]


def numbers(count):
    return Schema.of_numbers([f"x{i}" for i in range(count)])


# The estimate


def test_by_hand():
    x, y = np.array([0] * 4 + [1] * 4), np.array([0, 0, 0, 1, 0, 1, 1, 1])
    by_hand = 2 * (3 / 8 * np.log(3 / 2) + 1 / 8 * np.log(1 / 2))  # p log(p / (p_x p_y)) over four cells
    assert estimated_information(x, y, corrected=False) == pytest.approx(by_hand, abs=1e-12)
    # Entropies of 2, 2 and 4 cells are corrected by 1, 1 and 3 over 2n.
    assert estimated_information(x, y, corrected=True) == pytest.approx(by_hand - 1 / 16, abs=1e-12)


@pytest.mark.parametrize("levels", [2, 7, 40])
def test_is_the_information_of_the_empirical_joint(levels):
    rng = np.random.default_rng(levels)
    y = rng.integers(0, 4, 500)
    x = (y * rng.integers(0, 3, 500) + rng.integers(0, levels, 500)) % levels
    expected = mutual_info_score(x, y)
    assert estimated_information(x, y, corrected=False) == pytest.approx(expected, abs=1e-12)
    found = scores(problem_of(numbers(1), 0.5 * x[:, None] - 3, y), bins=levels, bias_correction=False)
    assert found == pytest.approx([expected], abs=1e-12)


def test_noise_is_worth_about_nothing():
    rng = np.random.default_rng(0)
    schema = numbers(200)
    problem = problem_of(schema, rng.normal(size=(1000, 200)), rng.integers(0, 3, 1000))
    corrected, plain = scores(problem), scores(problem, bias_correction=False)
    error = plain.std() / np.sqrt(200)
    # 16 bins and 3 classes: the plain estimate is too large by about 15 * 2 / 2n.
    assert plain.mean() == pytest.approx(0.015, abs=4 * error + 5e-4)
    assert abs(corrected.mean()) < 4 * error + 5e-4
    assert np.abs(corrected).max() < 0.02


@pytest.mark.parametrize("make", [noisy_tests, noisy_xor, panels, decision_tree])
def test_comes_to_the_exact_information(make):
    exact = make()
    values, y = exact.sample(60_000, np.random.default_rng(0))
    found = scores(problem_of(exact.schema, values, y))
    np.testing.assert_allclose(found, exact.cmi(exact.empty())[0], atol=0.008)  # four standard errors


def test_comes_to_the_exact_information_of_gaussians():
    exact = gaussian_chain()
    values, y = exact.sample(60_000, np.random.default_rng(0))
    found = scores(problem_of(exact.schema, values, y, task="regression"), bins=40)
    truth = []
    for feature in exact.schema.features:  # half the logarithm of how many times less the variance is
        columns = values[:, feature.start : feature.stop] - values[:, feature.start : feature.stop].mean(axis=0)
        left = y - y.mean() - columns @ np.linalg.lstsq(columns, y - y.mean())[0]
        truth.append(0.5 * np.log(y.var() / left.var()))
    assert np.argsort(found).tolist() == np.argsort(truth).tolist()
    np.testing.assert_allclose(found, truth, atol=0.01, rtol=0.05)  # bins lose a little


# Bins


def test_bins_have_about_equal_frequency():
    values = np.random.default_rng(0).normal(size=1000)
    codes = equal_frequency_bins(values, 8)
    assert np.bincount(codes).tolist() == [125] * 8
    assert (np.diff(codes[np.argsort(values)]) >= 0).all()


def test_equal_values_stay_together_and_frequent_ones_leave_room():
    rng = np.random.default_rng(0)
    values = np.concatenate([np.zeros(800), rng.random(200), np.full(300, 0.5)])
    codes = equal_frequency_bins(values, 6)
    assert len(np.unique(codes)) == 6
    assert len(np.unique(codes[values == 0])) == len(np.unique(codes[values == 0.5])) == 1
    assert np.bincount(codes).max() == 800
    assert sorted(np.bincount(codes))[:4] == [50] * 4  # the 200 others share the four bins that are left


@pytest.mark.parametrize("seed", range(20))
def test_there_are_never_more_bins(seed):
    rng = np.random.default_rng(seed)
    values = rng.choice(rng.normal(size=50), 300, p=rng.dirichlet(np.full(50, 0.2)))
    for bins in (2, 3, 10, 60):
        codes = equal_frequency_bins(values, bins)
        assert codes.max() < max(bins, 1)
        assert codes.min() >= 0
        pairs = len(np.unique(np.stack([values, codes]), axis=1).T)
        assert pairs == len(np.unique(values))  # one bin for each value


# Features


def test_missing_values_are_left_out():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    x = (y + (rng.random(4000) < 0.2)) % 2 + 1
    there = np.where(
        y == 0, rng.random(4000) < 0.9, rng.random(4000) < 0.3
    )  # to be missing says much, but is not asked
    problem = problem_of(numbers(1), x[:, None], y, present=there[:, None])
    doubted = there.sum() / (there.sum() + 50 * (1 - there.mean()))
    expected = mutual_info_score(x[there], y[there]) * doubted
    assert scores(problem, bias_correction=False) == pytest.approx([expected], abs=1e-12)
    answering = replace(problem, missing="answer")
    assert scores(answering, bias_correction=False) == pytest.approx([expected * there.mean()], abs=1e-12)


def test_a_group_is_worth_what_its_columns_say_together():
    rng = np.random.default_rng(0)
    a, b, weak = rng.normal(size=(3, 3000))
    y = ((a > 0) ^ (b > 0)).astype(int)
    weak = weak + 0.5 * y
    pair = Feature("pair", (Part("a", "number"), Part("b", "number")), 0, 4)
    schema = Schema((pair, Feature("weak", (Part("weak", "number"),), 4, 6)))
    x = np.stack([a, np.arctan(a), b, np.arctan(b), weak, np.arctan(weak)], axis=1)
    found = scores(problem_of(schema, x, y))
    assert found[0] > 0.6  # of log 2; each column alone says nothing
    assert 0.01 < found[1] < 0.1


def test_a_wide_group_of_noise_is_worth_about_nothing():
    rng = np.random.default_rng(0)
    schema = Schema((Feature("g", tuple(Part(f"p{i}", "number") for i in range(30)), 0, 30),))
    problem = problem_of(schema, rng.normal(size=(2000, 30)), rng.integers(0, 2, 2000))
    assert abs(scores(problem)[0]) < 0.05


def test_a_category_counts_by_its_levels():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 5, 1000)
    y = (kind + rng.integers(0, 2, 1000)) % 3
    schema = Schema((Feature("k", (Part("k", "category", tuple("abcde")),), 0, 5),))
    found = scores(problem_of(schema, np.eye(5)[kind], y), bins=2, bias_correction=False)
    assert found == pytest.approx([mutual_info_score(kind, y)], abs=1e-12)


def test_asks_in_that_order():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = rng.normal(size=(400, 4)) + y[:, None] * np.array([0.0, 0.7, 3.0, 1.5])
    method = MutualInformation(epochs=1, hidden=(4,))
    fitted = method.fit(problem_of(numbers(4), x, y), seed=0, progress=Progress())
    assert fitted.policy.scores.argsort()[::-1].tolist() == [2, 3, 1, 0]


def test_bins_are_checked():
    with raises(ParameterError, "out_of_range", name="bins", value=1, low=2, high=1000):
        MutualInformation(bins=1).fit(None, seed=0, progress=Progress())


def test_a_feature_that_is_nearly_always_missing_does_not_win_by_chance():
    """Six rows with six values seem to tell two classes apart; they must not seem to tell more than a good test."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 1000)
        sparse = np.full(1000, np.nan)
        sparse[rng.choice(1000, 6, replace=False)] = rng.normal(size=6)
        X = np.column_stack([sparse, y + rng.normal(size=1000), rng.normal(size=1000)])
        model = DynamicClassifier(2, method=MutualInformation(epochs=1, hidden=(8,))).fit(X, y)
        assert model.model_.policy.scores.argmax() == 1
