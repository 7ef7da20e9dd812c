"""How far a regression's predictions are off, as a function of what is known."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from askless.models.networked import LogVariance
from askless.training.minimize import minimum

__all__ = ["fit_spread"]

STEPS = 100  # at most
LEAST = 1e-8  # squared residual: a perfect prediction has no logarithm
MOST_NUMBERS = 1 << 21  # in the states that are learned from
PRIOR_ROWS = 10  # how many rows it takes to outweigh the belief that the spread is the same everywhere


def fit_spread(known: np.ndarray, mean: np.ndarray, squared: np.ndarray, row: np.ndarray) -> LogVariance:
    """What the squared residuals (s,) of standardised means (s,) are in states where `known` (s, features) is known.

    They belong to the cases `row` (s,): validation rows, because the training rows' residuals are too small.
    """
    every = -(-known.size // MOST_NUMBERS)
    target = torch.from_numpy(squared[::every]).double().clamp_min(LEAST)
    values = torch.from_numpy(LogVariance.design(known[::every], mean[::every])).double()  # (s, features + 2)
    centre, scale = values.mean(dim=0), values.std(dim=0, correction=0).clamp_min(1e-6)
    design = (values - centre) / scale
    ridge = PRIOR_ROWS / max(len(np.unique(row)), 1)

    def loss(parameters: Tensor) -> Tensor:  # it is convex
        weight, bias = parameters[:-1], parameters[-1]
        log_variance = design @ weight + bias
        return (log_variance + target * (-log_variance).exp()).mean() + ridge * weight.square().sum()

    same_everywhere = torch.cat([torch.zeros(design.shape[1]), target.mean().log()[None]])
    found = minimum(loss, same_everywhere, STEPS)
    weight, bias = found[:-1], found[-1]
    fitted = design @ weight + bias
    raw = weight / scale
    weights = torch.cat([raw, (bias - raw @ centre)[None]]).float().numpy()
    return LogVariance(weights, np.array([float(fitted.min()), float(fitted.max())], dtype=np.float32))
