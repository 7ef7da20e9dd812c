"""How far a regression's predictions are off, as a function of what is known."""

from __future__ import annotations

import numpy as np
import torch

from askless.core import Cases, Policy, State
from askless.models import NetPredictor
from askless.training.data import Problem
from askless.training.optimizer import AdamW
from askless.training.validation import validation_rollout

__all__ = ["fit_spread"]

STEPS, LEARNING_RATE = 300, 0.05
PRIOR_ROWS = 10  # how many rows it takes to outweigh the belief that the spread is the same everywhere


def fit_spread(predictor: NetPredictor, policy: Policy, problem: Problem) -> np.ndarray:
    """(hidden + 1,) weights of the residual's log variance over the predictor's last hidden layer, the bias last.

    The residuals are those of the validation rows along real roll-outs: the training rows' are too small.
    """
    cases, y = problem.validation_sample
    hidden, means = _along(predictor, policy, problem, cases)
    squared = torch.from_numpy(((means - y[:, None]) / predictor.scale) ** 2).float().view(-1)  # (states,)
    centre, scale = hidden.mean(dim=0), hidden.std(dim=0).clamp_min(1e-6)
    design = (hidden - centre) / scale
    weight = torch.zeros(design.shape[1], requires_grad=True)
    bias = squared.mean().clamp_min(1e-8).log().requires_grad_()
    ridge = PRIOR_ROWS / len(y)
    optimizer = AdamW([weight, bias], weight_decay=0.0)
    for _ in range(STEPS):
        optimizer.zero_grad()
        log_variance = design @ weight + bias
        loss = (log_variance + squared * (-log_variance).exp()).mean() + ridge * weight.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step(LEARNING_RATE)
    raw = (weight / scale).detach()
    result: np.ndarray = torch.cat([raw, (bias.detach() - raw @ centre)[None]]).numpy()
    return result


def _along(
    predictor: NetPredictor, policy: Policy, problem: Problem, cases: Cases
) -> tuple[torch.Tensor, np.ndarray]:
    """The last hidden layer (n * steps, hidden) and the mean (n, steps) of every case, at every step."""
    trajectory = validation_rollout(policy, predictor, problem)
    means = trajectory.predictions[:, :, 0]
    columns = problem.schema.column_feature
    states = (State.of(cases, columns, trajectory.selected(k)) for k in range(means.shape[1]))
    hidden = np.stack([predictor.network.features(state.x, state.known) for state in states], axis=1)
    return torch.from_numpy(hidden.reshape(means.size, -1)), means
