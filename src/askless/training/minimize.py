"""Where a smooth function of a few numbers is least.

scipy's quasi-Newton method with torch's gradients: making one of torch's own optimisers loads its compiler, which in
a fresh process takes a second, as long as a small fit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

__all__ = ["minimum"]


def minimum(loss: Callable[[Tensor], Tensor], start: Tensor, steps: int) -> Tensor:
    """(p,) where the loss is least, from `start` (p,) on, after so many steps at most; in double precision."""

    def with_gradient(place: np.ndarray) -> tuple[float, np.ndarray]:
        at = torch.tensor(place, dtype=torch.float64, requires_grad=True)
        value = loss(at)
        (gradient,) = torch.autograd.grad(value, at)
        return float(value.detach()), gradient.numpy()

    start_at = start.detach().double().numpy()
    found = minimize(with_gradient, start_at, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    return torch.from_numpy(found.x)
