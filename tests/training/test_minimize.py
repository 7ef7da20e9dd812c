"""Smooth functions of a few numbers."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from askless.training.calibration import minimum


def test_the_minimum_of_a_parabola_is_found():
    found = minimum(lambda t: (t[0] - 3.0) ** 2 + 10.0 * (t[1] + t[0]) ** 2, torch.zeros(2), 50)
    np.testing.assert_allclose(found.numpy(), [3.0, -3.0], atol=1e-6)
    assert found.dtype == torch.float64


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e6])
def test_the_spread_of_residuals_of_any_size_is_their_mean_square(scale):
    squared = scale * torch.tensor([1.0, 2.0, 6.0], dtype=torch.float64)
    found = minimum(lambda t: (t[0] + squared * (-t[0]).exp()).mean(), torch.zeros(1), 100)
    assert found.item() == pytest.approx(np.log(3.0 * scale), abs=1e-3)


def test_as_many_steps_as_are_allowed():
    def narrow_valley(t):
        return 100.0 * (t[1] - t[0] ** 2) ** 2 + (1.0 - t[0]) ** 2

    start = torch.tensor([-1.2, 1.0])
    one, many = (narrow_valley(minimum(narrow_valley, start, steps)) for steps in (1, 200))
    assert many < 1e-8 < one < narrow_valley(start)


FIT = """
import sys
import numpy as np
from askless import DynamicClassifier, DynamicRegressor
from askless.methods import Greedy
X = np.random.default_rng(0).normal(size=(120, 3))
for model, y in ((DynamicClassifier, X[:, 0] > 0), (DynamicRegressor, X[:, 0])):
    model(method=Greedy(epochs=1, pretrain_epochs=1), max_features=2).fit(X, y)
assert "torch" in sys.modules
print([name for name in ("torch._dynamo", "sympy") if name in sys.modules])
"""


def test_a_fit_does_not_load_torchs_compiler():
    """It takes a second: as long as a small fit."""
    ran = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "[]", ran.stderr
