"""Validation as in use: real roll-outs of the exported models, without noise, dropout or relaxation."""

from __future__ import annotations

import numpy as np

from askless.core import MaxFeatures, Policy, Predictor, Trajectory, rollout
from askless.training.data import Problem

__all__ = ["mean_loss", "validation_rollout"]

ROWS_AT_ONCE = 1024  # as many as the processor's cache likes


def validation_rollout(policy: Policy, predictor: Predictor, problem: Problem) -> Trajectory:
    """The validation rows, or a sample of many, asked up to the budget."""
    cases, _ = problem.validation_sample
    rule = MaxFeatures(problem.max_features)
    runs = (cases[start : start + ROWS_AT_ONCE] for start in range(0, len(cases), ROWS_AT_ONCE))
    parts = [
        rollout(
            policy,
            predictor,
            run,
            problem.schema,
            stopping=rule,
            costs=problem.costs,
            missing=problem.missing,
            allow_truth=True,  # training knows it anyway
        )
        for run in runs
    ]
    return Trajectory.join(parts)


def mean_loss(trajectory: Trajectory, problem: Problem) -> float:
    """The mean loss of the predictions at each budget: in nats, or squared in standard deviations.

    The budgets are 1, 2, ... questions; where questions have prices, as much money as these cost on average.
    """
    if trajectory.order.shape[1] == 0:
        return float("inf")
    if problem.priced:
        predictions = np.stack([trajectory.within(money) for money in problem.money], axis=1)
    else:
        predictions = trajectory.predictions[:, 1:]  # (n, budgets, outputs)
    _, y = problem.validation_sample
    if problem.task == "regression":
        _, scale = problem.target_scale
        return float(np.mean(((predictions[:, :, 0] - y[:, None]) / scale) ** 2))
    chance = np.take_along_axis(predictions, y[:, None, None], axis=2)
    return float(-np.mean(np.log(np.maximum(chance, np.finfo(np.float32).tiny), dtype=np.float64)))
