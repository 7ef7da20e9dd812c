"""The parts of a result on money and stopping: scores with a limit of money, and with stopping rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from askless.acquisition import Policy, State, StoppingRule, Trajectory
from askless.acquisition.stopping import InformationPerCost, MaxCost
from askless.experiments.scoring import losses
from askless.metrics import metric

__all__ = [
    "CHOOSES",
    "FIXED",
    "Ask",
    "ScoresOnly",
    "choosing_part",
    "money_levels",
    "money_part",
    "stopping_part",
    "stopping_places",
]

CHOOSES = {
    "classification": "log_loss",
    "regression": "rmse",
}  # the metric to choose thresholds by; it must work with one class
FIXED = "features"  # the rule that asks every case the same number of questions

SHARES = (0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0)  # of what everything costs
CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999)  # of the most probable class
NATS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002)  # for the price of an average question

Ask = Callable[[Sequence[StoppingRule]], Trajectory]
"""Asks some rows up to the budget, unless the rules stop them before."""


class ScoresOnly(Policy):
    """A policy whose scores are not weighed against prices."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.needs_truth = policy.needs_truth

    def score(self, state: State) -> np.ndarray:
        return self.policy.score(state)

    def score_with_truth(self, state: State, truth: np.ndarray) -> np.ndarray:
        return self.policy.score_with_truth(state, truth)


def money_levels(prices: np.ndarray) -> list[float]:
    """Limits of money for a case: fractions of the total of the prices (features,)."""
    return [round(float(share * prices.sum()), 6) for share in SHARES]


def money_part(ask: Ask, y: np.ndarray, prices: np.ndarray, metrics: Sequence[str]) -> dict[str, list[Any]]:
    """The part "money" of a result: the scores with each limit of money."""
    levels = money_levels(prices)
    ends = [_ends(ask((MaxCost(level),))) for level in levels]
    return {"money": levels, **_scored(metrics, y, ends)}


End = tuple[np.ndarray, np.ndarray, np.ndarray]  # (n, outputs) the last prediction, (n,) features asked, (n,) money
Stops = dict[str, list[tuple[float, End]]]
"""By rule, each threshold and where it stops the cases."""


def stopping_places(
    trajectory: Trajectory, ask: Ask, *, budget: int, mean_price: float, certain: bool, informative: bool
) -> Stops:
    """Where each rule stops the rows of the trajectory, which asks up to the budget.

    Rules on class probabilities need `certain` (a classification), rules on information need `informative`.
    """
    stops: Stops = {FIXED: [(k, _after(trajectory, k)) for k in range(budget + 1)]}
    if certain:
        stops["confidence"] = [(p, _first_sure(trajectory, p)) for p in CONFIDENCES]
    if certain and informative:
        thresholds = [nats / mean_price for nats in NATS]
        stops["information_per_cost"] = [(t, _ends(ask((InformationPerCost(t),)))) for t in thresholds]
    return stops


def stopping_part(stops: Stops, y: np.ndarray, metrics: Sequence[str]) -> dict[str, dict[str, list[Any]]]:
    """The part "stopping" of a result: by rule, the mean cost and the scores of each threshold."""
    return {
        rule: {"threshold": [threshold for threshold, _ in places], **_scored(metrics, y, [end for _, end in places])}
        for rule, places in stops.items()
    }


def choosing_part(stops: Stops, y: np.ndarray, task: str) -> dict[str, dict[str, list[Any]]]:
    """The part "stopping_valid" of a result, to choose a threshold.

    `excess` is the mean loss minus that of the best fixed number of questions. `excess_error` is its standard error.
    The loss is the log loss, or the squared error of a regression.
    """
    part = stopping_part(stops, y, (CHOOSES[task],))
    lost = {rule: np.stack([losses(task, end[0], y) for _, end in places]) for rule, places in stops.items()}
    best = lost[FIXED][lost[FIXED].mean(axis=1).argmin()]  # (n,)
    for rule, rows in lost.items():  # (thresholds, n)
        excess = rows - best
        part[rule]["excess"] = excess.mean(axis=1).tolist()
        part[rule]["excess_error"] = (excess.std(axis=1) / np.sqrt(len(y))).tolist()
    return part


def _ends(trajectory: Trajectory) -> End:
    return trajectory.predictions[:, -1], trajectory.n_asked, trajectory.cost[:, -1]


def _after(trajectory: Trajectory, count: int) -> End:
    """After a fixed number of questions, or fewer if a case has no more."""
    last = min(count, trajectory.cost.shape[1] - 1)
    return trajectory.at(count), np.minimum(count, trajectory.n_asked), trajectory.cost[:, last]


def _first_sure(trajectory: Trajectory, confidence: float) -> End:
    """The first step of each case at which the most probable class has this probability."""
    sure = trajectory.predictions.max(axis=2) >= confidence  # (n, k + 1)
    steps = np.where(sure.any(axis=1), sure.argmax(axis=1), sure.shape[1] - 1)
    cases = np.arange(len(steps))
    return trajectory.predictions[cases, steps], np.minimum(steps, trajectory.n_asked), trajectory.cost[cases, steps]


def _scored(metrics: Sequence[str], y: np.ndarray, ends: Sequence[End]) -> dict[str, list[Any]]:
    """Lists of the mean features asked, the mean money spent, and each score."""
    told: dict[str, list[Any]] = {
        "features": [float(asked.mean()) for _, asked, _ in ends],
        "cost": [float(spent.mean()) for _, _, spent in ends],
    }
    for name in metrics:
        told[name] = [float(metric(name)(y, predicted)) for predicted, _, _ in ends]
    return told
