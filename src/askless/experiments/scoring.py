"""Scores of a roll-out: curves against budgets, calibration, the loss of each case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from askless.acquisition import Trajectory
from askless.metrics import metric

__all__ = [
    "METRICS",
    "calibration_error",
    "case_losses",
    "losses",
    "padded_order",
    "scored_budgets",
    "scores",
    "steps_to_relevant",
]

METRICS = {
    "classification": ("auroc", "accuracy", "log_loss", "brier"),
    "regression": ("rmse", "mae", "r2"),
}
BINS = 15


def scored_budgets(max_features: int, trajectory: Trajectory) -> list[int]:
    """0 to the budget; and the end of the path of a method that asks more than the budget, as `all_features` does."""
    longest = trajectory.order.shape[1]
    return [*range(max_features + 1), *([longest] if longest > max_features else [])]


def scores(task: str, trajectory: Trajectory, y: np.ndarray, budgets: Sequence[int]) -> dict[str, Any]:
    """The parts "curves" and "calibration" of a result; `y` (n,) holds codes of classes, or numbers."""
    curves: dict[str, list[Any]] = {"budget": list(budgets)}
    for name in METRICS[task]:
        curves[name] = [float(metric(name)(y, trajectory.at(k))) for k in budgets]
    last = trajectory.cost.shape[1] - 1
    curves["cost"] = [float(trajectory.cost[:, min(k, last)].mean()) for k in budgets]
    parts: dict[str, Any] = {"curves": curves}
    if task == "classification":
        errors = [calibration_error(y, trajectory.at(k)) for k in budgets]
        parts["calibration"] = {"budget": list(budgets), "ece": errors}
    return parts


def calibration_error(y: np.ndarray, p: np.ndarray, bins: int = BINS) -> float:
    """The expected calibration error: confidence in the most probable class against how often it is right.

    The (n, classes) probabilities are cut into bins of equally many cases by their confidence.

    >>> p = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    >>> round(calibration_error(np.array([0, 0, 1, 0]), p, bins=2), 3)  # (|1 - 0.9| + |0.5 - 0.6|) / 2
    0.1
    """
    confidence = p.max(axis=1).astype(np.float64)
    right = (p.argmax(axis=1) == y).astype(np.float64)
    order = np.argsort(confidence, kind="stable")
    gaps = [abs(float((confidence[part] - right[part]).sum())) for part in np.array_split(order, bins)]
    return sum(gaps) / len(y)


def case_losses(task: str, trajectory: Trajectory, y: np.ndarray, budgets: Sequence[int]) -> np.ndarray:
    """(n, budgets) what each case loses after so many questions."""
    return np.stack([losses(task, trajectory.at(k), y) for k in budgets], axis=1)


def losses(task: str, predicted: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n,) the log loss of each prediction (n, outputs), as the metric clips it, or its squared error."""
    if task == "regression":
        return np.asarray((predicted[:, 0].astype(np.float64) - y) ** 2)
    tiny = float(np.finfo(predicted.dtype).eps)
    chance = predicted[np.arange(len(y)), y].astype(np.float64)
    return np.asarray(-np.log(np.clip(chance, tiny, 1 - tiny)))


def steps_to_relevant(order: np.ndarray, relevant: np.ndarray) -> np.ndarray:
    """(n,) how many questions (n, k) it took until all relevant features (n, features) were asked; 0 for never.

    >>> relevant = np.array([[True, False, True], [True, False, True]])
    >>> steps_to_relevant(np.array([[1, 2, 0], [1, 0, -1]]), relevant).tolist()
    [3, 0]
    """
    hit = (order >= 0) & np.take_along_axis(relevant, np.maximum(order, 0), axis=1)  # (n, k)
    complete = np.cumsum(hit, axis=1) >= relevant.sum(axis=1, keepdims=True)
    return np.where(complete.any(axis=1), complete.argmax(axis=1) + 1, 0)


def padded_order(trajectory: Trajectory, width: int) -> np.ndarray:
    """(n, at least width) what was asked, -1 where nothing was."""
    lacking = max(0, width - trajectory.order.shape[1])
    return np.pad(trajectory.order, [(0, 0), (0, lacking)], constant_values=-1)
