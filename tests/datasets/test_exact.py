import numpy as np
import pytest

from askless import theory
from askless.datasets import describe, list_datasets, load_dataset

EXACT = [name for name in list_datasets() if name.startswith("exact_")]
DISCRETE = [name for name in EXACT if describe(name).task == "classification"]
GAUSSIAN = [name for name in EXACT if describe(name).task == "regression"]


def problem_of(name):
    return getattr(theory, name.removeprefix("exact_"))()


def test_every_problem_of_the_theory_is_a_data_set():
    problems = set(theory.problems.__all__) | {name for name in theory.__all__ if name.startswith("gaussian_")}
    assert {f"exact_{name}" for name in problems} == set(EXACT)


@pytest.mark.parametrize("name", EXACT)
def test_features_are_the_problems(name):
    problem, data = problem_of(name), load_dataset(name, n=20)
    parts = [part.name for feature in problem.schema.features for part in feature.parts]
    assert list(data.frame.columns) == parts
    assert data.info.features == len(problem.schema)
    assert {group: len(columns) for group, columns in data.groups.items()} == {
        feature: width for feature, width in problem.features.items() if width > 1
    }


@pytest.mark.parametrize("name", DISCRETE)
def test_the_exact_posterior_fits_the_table(name):
    problem, data = problem_of(name), load_dataset(name, n=20_000, random_state=1)
    asked = np.random.default_rng(0).random((20_000, len(problem.schema))) < 0.6
    exact = problem.posterior(problem.partial(data.frame.to_numpy(), asked))
    surprise = (data.target.to_numpy()[:, None] == np.arange(problem.n_classes)) - exact
    spread = np.sqrt((exact * (1 - exact)).sum(axis=0))
    assert np.all(np.abs(surprise.sum(axis=0)) < 4 * spread)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_the_moments_fit_the_table(name):
    problem, data = problem_of(name), load_dataset(name, n=20_000, random_state=1)
    joint = np.column_stack([data.frame.to_numpy(), data.target.to_numpy()])
    scale = np.sqrt(np.diag(problem.covariance))
    np.testing.assert_allclose(joint.mean(axis=0) / scale, problem.mean / scale, atol=0.04)
    np.testing.assert_allclose(
        np.cov(joint.T) / np.outer(scale, scale), problem.covariance / np.outer(scale, scale), atol=0.05
    )
