"""Validation as in use: real roll-outs of the exported models, without noise, dropout or relaxation."""

from __future__ import annotations

import numpy as np

from askless.acquisition import MaxFeatures, Policy, Predictor, StoppingRule, Trajectory, cases_at_once, rollout
from askless.acquisition.stopping import MaxCost
from askless.training.problem import Problem

__all__ = ["validation_loss", "validation_rollout"]

MONEY = (0.125, 0.25, 0.5, 1.0)  # budgets, as shares of what the questions cost on average


def validation_rollout(policy: Policy, predictor: Predictor, problem: Problem, *rules: StoppingRule) -> Trajectory:
    """The validation rows, or a sample of many, asked up to the budget."""
    cases, _ = problem.validation_sample
    stopping = (*rules, MaxFeatures(problem.max_features))
    size = cases_at_once(problem.schema)
    runs = (cases[start : start + size] for start in range(0, len(cases), size))
    parts = [
        rollout(
            policy,
            predictor,
            run,
            problem.schema,
            stopping=stopping,
            costs=problem.costs,
            missing=problem.missing,
            precedence=problem.precedence,
            allow_truth=True,  # training knows it anyway
        )
        for run in runs
    ]
    return Trajectory.join(parts)


def validation_loss(policy: Policy, predictor: Predictor, problem: Problem) -> float:
    """The mean loss on the validation rows: in nats, or squared in standard deviations.

    It is the mean over the budgets: after each answer, or, where questions have prices, with little and more money.
    """
    if not problem.priced:
        predictions = validation_rollout(policy, predictor, problem).predictions
        asked = predictions.shape[1] > 1  # else all validation rows lack all values, and the first prediction stays
        return _mean_loss(predictions[:, 1:] if asked else predictions, problem)
    total = problem.mean_price * problem.max_features
    ends = [validation_rollout(policy, predictor, problem, MaxCost(share * total)) for share in MONEY]
    return _mean_loss(np.stack([end.predictions[:, -1] for end in ends], axis=1), problem)


def _mean_loss(predictions: np.ndarray, problem: Problem) -> float:
    """Of predictions (n, budgets, outputs)."""
    _, y = problem.validation_sample
    if problem.task == "regression":
        _, scale = problem.target_scale
        return float(np.mean(((predictions[:, :, 0] - y[:, None]) / scale) ** 2))
    chance = np.take_along_axis(predictions, y[:, None, None], axis=2)
    return float(-np.mean(np.log(np.maximum(chance, np.finfo(np.float32).tiny), dtype=np.float64)))
