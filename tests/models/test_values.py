"""What a value policy's outputs mean, by hand."""

import numpy as np
import pytest

from askless.acquisition import State
from askless.models import NetValue, Network

OUTPUTS = [-1.0, 0.25, 2.0]
ENTROPY = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))


def constant(outputs):
    """A network that says the same of every state."""
    zeros = np.zeros((3, 2), dtype=np.float32)
    biases = (np.zeros(2, dtype=np.float32), np.array(outputs, dtype=np.float32))
    return Network(zeros, zeros, biases, (np.zeros((2, len(outputs)), dtype=np.float32),))


def score(policy):
    known = np.array([[True, False, False], [False, True, True]])
    return policy.score(State(np.zeros((2, 3), dtype=np.float32), known, known))


def policy_of(task):
    predictor = constant(np.log([0.25, 0.75])) if task == "classification" else None
    return NetValue(constant(OUTPUTS), predictor=predictor, scale=1.0 if predictor else 3.0)


def test_values_are_shares_of_the_entropy_cut_off_at_none_and_all():
    np.testing.assert_allclose(
        score(policy_of("classification")), [np.array([0.0, 0.25, 1.0]) * ENTROPY] * 2, rtol=1e-6
    )


def test_values_of_a_regression_are_in_units_squared_and_not_negative():
    np.testing.assert_allclose(score(policy_of("regression")), [[0.0, 0.25 * 9.0, 2.0 * 9.0]] * 2, rtol=1e-6)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_it_is_built_again_from_its_config_and_arrays(task):
    policy = policy_of(task)
    again = NetValue.build(policy.config(), policy.arrays())
    np.testing.assert_array_equal(score(again), score(policy))
