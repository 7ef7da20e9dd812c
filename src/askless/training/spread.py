"""How far a regression's predictions are off, as a function of what is known."""

from __future__ import annotations

import numpy as np
import torch

from askless.training.optimizer import AdamW

__all__ = ["fit_spread", "spread_of"]

STEPS, LEARNING_RATE = 300, 0.05
PRIOR_ROWS = 10  # how many rows it takes to outweigh the belief that the spread is the same everywhere


def fit_spread(hidden: np.ndarray, squared: np.ndarray, row: np.ndarray) -> np.ndarray:
    """(hidden + 1,) weights of the residual's log variance over the predictor's last hidden layer, the bias last.

    `squared` (s,) are squared residuals in states whose last hidden layer is `hidden` (s, hidden), of the cases `row`
    (s,): validation rows, because the training rows' residuals are too small.
    """
    target = torch.from_numpy(squared).float()
    values = torch.from_numpy(hidden)
    centre, scale = values.mean(dim=0), values.std(dim=0).clamp_min(1e-6)
    design = (values - centre) / scale
    weight = torch.zeros(design.shape[1], requires_grad=True)
    bias = target.mean().clamp_min(1e-8).log().requires_grad_()
    ridge = PRIOR_ROWS / max(len(np.unique(row)), 1)
    optimizer = AdamW([weight, bias], weight_decay=0.0)
    for _ in range(STEPS):
        optimizer.zero_grad()
        log_variance = design @ weight + bias
        loss = (log_variance + target * (-log_variance).exp()).mean() + ridge * weight.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step(LEARNING_RATE)
    raw = (weight / scale).detach()
    result: np.ndarray = torch.cat([raw, (bias.detach() - raw @ centre)[None]]).numpy()
    return result


def spread_of(hidden: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(s,) the standard deviations that the weights give."""
    spread: np.ndarray = np.exp(0.5 * (hidden.astype(np.float64) @ weight[:-1] + weight[-1]))
    return spread
