"""How far a regression's predictions are off, as a function of what is known."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from askless.core import Policy, State
from askless.nn import MaskedMLP
from askless.training.data import Problem
from askless.training.live import LivePredictor, validation_rollout

__all__ = ["fit_spread"]

STEPS, LEARNING_RATE = 300, 0.05
PRIOR_ROWS = 10  # how many rows it takes to outweigh the belief that the spread is the same everywhere


def fit_spread(module: MaskedMLP, policy: Policy, problem: Problem) -> np.ndarray:
    """(hidden + 1,) weights of the residual's log variance over the predictor's last hidden layer, the bias last.

    The residuals are those of the validation rows along real roll-outs: the training rows' are too small.
    """
    valid = problem.tensors("valid")
    recording = _Recording(module, problem)
    validation_rollout(policy, recording, valid, problem)
    hidden = torch.cat(recording.hidden)  # (states, hidden)
    squared = (torch.cat(recording.means) - valid.y.repeat(len(recording.means))).square()
    centre, scale = hidden.mean(dim=0), hidden.std(dim=0).clamp_min(1e-6)
    design = (hidden - centre) / scale
    weight = torch.zeros(design.shape[1], requires_grad=True)
    bias = squared.mean().clamp_min(1e-8).log().requires_grad_()
    ridge = PRIOR_ROWS / len(valid)
    optimizer = torch.optim.Adam([weight, bias], lr=LEARNING_RATE)
    for _ in range(STEPS):
        log_variance = design @ weight + bias
        loss = (log_variance + squared * (-log_variance).exp()).mean() + ridge * weight.square().sum()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    raw = (weight / scale).detach()
    result: np.ndarray = torch.cat([raw, (bias.detach() - raw @ centre)[None]]).numpy()
    return result


class _Recording(LivePredictor):
    """Keeps the last hidden layer and the mean at every step."""

    def __init__(self, module: MaskedMLP, problem: Problem) -> None:
        super().__init__(module, problem)
        self.hidden: list[Tensor] = []
        self.means: list[Tensor] = []

    def predict(self, state: State) -> Tensor:
        """(n, 1) standardised means."""
        mean = super().predict(state)
        self.hidden.append(self.module.trunk(state.x, state.known.to(state.x.dtype)))
        self.means.append(mean[:, 0])
        return mean
