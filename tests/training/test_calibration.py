"""Temperatures and spreads: fitted where certainty is wrong, left alone where it is right."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askless.acquisition import Cases, Schema, State
from askless.models import NetPredictor, Network, Ranking
from askless.models.network import softmax
from askless.training import Problem
from askless.training.calibration import calibrated

N_FEATURES = 4


def linear_network(n_outputs, weight):
    """A network whose first output is `weight` times the sum of what is known: one unit for each sign."""
    value = np.full((N_FEATURES, 1), weight, dtype=np.float32)
    last = np.zeros((2, n_outputs), dtype=np.float32)
    last[:, 0] = 1.0, -1.0
    return Network(
        np.hstack([value, -value]),
        np.zeros((N_FEATURES, 2), dtype=np.float32),
        (np.zeros(2, dtype=np.float32), np.zeros(n_outputs, dtype=np.float32)),
        (last,),
    )


def problem_of(x, y, task):
    cases = Cases(x.astype(np.float32), np.ones(x.shape, dtype=bool))
    schema = Schema.of_numbers(list("abcd"))
    return Problem(
        schema=schema,
        train=cases,
        y_train=y,
        valid=cases,
        y_valid=y,
        task=task,
        n_classes=2 if task == "classification" else 0,
        max_features=N_FEATURES,
    )


def classes(n, rng, sure=1.0):
    """Cases whose log odds of class 0, given any known features, are a logistic regression's: exactly their sum.

    Given the class, feature i is normal with mean +-1/2 and variance 1: the log odds are the sum of the values.
    """
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, N_FEATURES)) + np.where(y == 0, 0.5, -0.5)[:, None]
    network = linear_network(2, sure)
    prior = np.array([0.5, 0.5])
    return problem_of(x, y, "classification"), NetPredictor(network, classes=True, prior=prior)


def everything_known(problem):
    asked = np.ones((len(problem.y_valid), N_FEATURES), dtype=bool)
    return State.of(problem.valid, problem.schema.column_feature, asked)


def test_a_predictor_that_is_three_times_too_sure():
    problem, predictor = classes(4000, np.random.default_rng(0), sure=3.0)
    fixed = calibrated(predictor, Ranking(-np.arange(4.0)), problem)
    assert_allclose(fixed.temperatures[1:], 3.0, rtol=0.15)
    state = everything_known(problem)
    honest = softmax(np.stack([state.x.sum(axis=1), np.zeros(len(state))], axis=1))
    assert np.abs(fixed.predict(state) - honest).mean() < 0.01


def test_an_honest_predictor_is_left_alone():
    problem, predictor = classes(4000, np.random.default_rng(2))
    assert calibrated(predictor, Ranking(-np.arange(4.0)), problem).temperatures is None


def test_certainty_that_is_wrong_only_where_much_is_known():
    problem, predictor = classes(6000, np.random.default_rng(2))
    # copies of the first feature: the network believes them four times, the truth says the same once
    x = np.repeat(problem.valid.x[:, :1], N_FEATURES, axis=1)
    problem = replace(problem, valid=Cases(x, problem.valid.present))
    fixed = calibrated(predictor, Ranking(-np.arange(4.0)), problem)
    assert_allclose(fixed.temperatures[[1, 2, 4]], [1.0, 2.0, 4.0], rtol=0.15)


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_spread_of_a_regression(factor):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3000, N_FEATURES))
    y = (x.sum(axis=1) + rng.normal(size=3000)) * factor  # each unknown feature adds to the variance
    problem = problem_of(x, y, "regression")
    offset, scale = problem.target_scale
    network = linear_network(1, factor / scale)
    predictor = NetPredictor(network, classes=False, prior=np.array([offset]), offset=offset, scale=scale)
    predictor = calibrated(predictor, Ranking(-np.arange(4.0)), problem)
    for known in (1, 2, 3):
        asked = np.zeros((3000, N_FEATURES), dtype=bool)
        asked[:, :known] = True
        state = State.of(problem.valid, problem.schema.column_feature, asked)
        off = predictor.predict(state)[:, 0] - y
        assert_allclose(np.sqrt(np.mean((off / predictor.spread(state)) ** 2)), 1.0, rtol=0.1)


def test_large_numbers_that_vary_more():
    """Where the spread grows with the mean, as that of prices does, it is learned."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4000, N_FEATURES)) * [1.0, 0.0, 0.0, 0.0]
    mean = x.sum(axis=1)
    y = mean + np.exp(mean) * rng.normal(size=4000)
    problem = problem_of(x, y, "regression")
    offset, scale = problem.target_scale
    predictor = NetPredictor(
        linear_network(1, 1.0 / scale), classes=False, prior=np.array([offset]), offset=offset, scale=scale
    )
    predictor.network.biases[-1][:] = -offset / scale
    spread = calibrated(predictor, Ranking(-np.arange(4.0)), problem).spread(everything_known(problem))
    for third in np.array_split(np.argsort(mean), 3):
        assert_allclose(np.sqrt(np.mean(((y - mean) / spread)[third] ** 2)), 1.0, rtol=0.2)


def test_files_keep_temperatures_and_refuse_wrong_ones():
    problem, predictor = classes(50, np.random.default_rng(4))
    predictor.temperatures = np.array([1.0, 2.0, 1.5, 1.25, 1.0], dtype=np.float32)
    again = NetPredictor.build(predictor.config(), predictor.arrays())
    state = everything_known(problem)
    assert_allclose(again.predict(state), predictor.predict(state))
    for wrong in ([1.0, 2.0], [1.0, 2.0, 0.0, 1.0, 1.0], [1.0, 2.0, np.nan, 1.0, 1.0]):
        arrays = predictor.arrays() | {"temperatures": np.array(wrong, dtype=np.float32)}
        with pytest.raises(ValueError, match="temperatures"):
            NetPredictor.build(predictor.config(), arrays)
