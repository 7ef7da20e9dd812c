"""Scores against budgets, and how often features are asked, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from askless import metrics
from askless.cli.console import make_table
from askless.hints import listed
from askless.metrics import Metric

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from askless.acquisition import Costs, StoppingRule, Trajectory
    from askless.fitted import FittedModel

__all__ = [
    "Scores",
    "choose_metric",
    "gives_away",
    "left_out",
    "most_asked",
    "score",
    "score_table",
    "shown_budgets",
    "spending",
    "spending_table",
    "tells_of_money",
]

INTERVAL, RESAMPLES = 0.95, 400
GIVEN_AWAY = 0.995  # AUROC, or share of the variance, after one question
ENOUGH = 30  # rows, for that to be no luck
BESIDE = {"classification": "accuracy", "regression": "rmse"}


@dataclass(frozen=True)
class Scores:
    """What a model scored on some rows: a row of `frame` for each number of features asked."""

    metric: Metric
    beside: Metric
    frame: pd.DataFrame  # budget, score, low, high, beside, cost (the mean)
    n_rows: int


def choose_metric(name: str | None, task: str) -> Metric:
    """The metric of that name, if it is for the task; the task's usual one without a name."""
    metric = metrics.metric(name) if name else metrics.usual_metric(task)
    if metric.task != task:
        exported = (getattr(metrics, each) for each in metrics.__all__)
        fitting = sorted(m.__name__ for m in exported if getattr(m, "task", None) == task)
        raise ValueError(f"{name} is for {metric.task}, and this is {task}: choose from {', '.join(fitting)}")
    return metric


def score(trajectory: Trajectory, y: np.ndarray, metric: Metric) -> Scores:
    """The scores of a roll-out against the truth, codes of classes or numbers, with a 95 % bootstrap interval."""
    beside = metrics.metric(BESIDE[metric.task])
    if beside is metric:
        beside = metrics.usual_metric(metric.task)
    frame = metrics.curve(trajectory, y, metric, interval=INTERVAL, n_boot=RESAMPLES)
    try:
        frame["beside"] = metrics.curve(trajectory, y, beside)["score"]
    except ValueError:  # AUROC of one class
        frame["beside"] = np.nan
    frame["cost"] = trajectory.cost.mean(axis=0)
    return Scores(metric, beside, frame, len(trajectory))


def left_out(scores: Scores, y: np.ndarray, classes: Sequence[Any]) -> str | None:
    """That classes do not occur among the codes y, so that AUROC, a mean over classes, is one over the others."""
    absent = [label for code, label in enumerate(classes) if not (y == code).any()]
    if not absent or len(absent) > len(classes) - 2 or metrics.auroc not in (scores.metric, scores.beside):
        return None
    return (
        f"no row has the class{'es' if len(absent) > 1 else ''} {listed(absent)}: AUROC is the mean over the others"
    )


def shown_budgets(last: int) -> list[int]:
    """All budgets from 0 to the last, or of many the first ten and some round ones.

    >>> shown_budgets(3), shown_budgets(50)
    ([0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50])
    """
    if last <= 20:
        return list(range(last + 1))
    step = 5 if last <= 40 else 10 * -(-last // 200)
    return sorted({*range(11), *range(10, last, step), last})


def tells_of_money(
    model: FittedModel, costs: Costs | None = None, stopping: Iterable[StoppingRule] | None = None
) -> bool:
    """Whether somebody wants to know what the cases cost: questions have prices, or a rule limits the money.

    `costs` and `stopping` are those of a call, None: the model's own. What was paid does not say it: of questions
    with prices a case may be asked those alone that cost 1.
    """
    from askless.acquisition.costs import Uniform

    rules = model.stopping if stopping is None else stopping
    return not isinstance(model.context(costs).costs, Uniform) or any(map(_limits_money, rules))


def _limits_money(rule: StoppingRule) -> bool:
    from askless.acquisition.stopping import MaxCost

    return isinstance(rule, MaxCost) or any(map(_limits_money, rule.rules))


def score_table(scores: Scores, *, money: bool) -> Table:
    """Budgets and scores; the mean cost too, with `money` or where it is not the number of questions."""
    frame = scores.frame
    priced = money or not np.allclose(frame["cost"], frame["budget"])
    names = ["features asked", scores.metric.label, f"{INTERVAL:.0%} interval", scores.beside.label]
    table = make_table(*names, *(["mean cost"] if priced else []), numbers=range(len(names) + priced))
    for i in shown_budgets(len(frame) - 1):
        row = frame.iloc[i]
        cells = [f"{row.budget:.0f}", f"{row.score:.3f}", f"{row.low:.3f} to {row.high:.3f}"]
        cells.append("" if np.isnan(row.beside) else f"{row.beside:.3f}")
        table.add_row(*cells, *([f"{row.cost:.1f}"] if priced else []))
    return table


def spending(trajectory: Trajectory) -> dict[str, dict[str, float]]:
    """How many features were asked of the cases and what they cost, spread out; and why the cases stopped."""
    reasons, counts = np.unique(trajectory.stop_reason.astype(str), return_counts=True)
    return {
        "features_asked": _spread_out(trajectory.n_asked),
        "money_spent": _spread_out(trajectory.cost[:, -1]),
        "stop_reasons": {str(reason): int(count) for reason, count in zip(reasons, counts, strict=True)},
    }


def _spread_out(values: np.ndarray) -> dict[str, float]:
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9]).tolist()
    return {
        "mean": float(values.mean()),
        "least": float(values.min()),
        "p10": low,
        "median": middle,
        "p90": high,
        "most": float(values.max()),
    }


def spending_table(trajectory: Trajectory, *, money: bool) -> Table:
    """The same for the terminal: a row for the number of features, with `money` one for that, and the reasons."""
    told = spending(trajectory)
    table = make_table("for each case", "mean", "least", "10 %", "median", "90 %", "most", numbers=range(1, 7))
    rows = {"features asked": told["features_asked"]}
    if money:
        rows["money spent"] = told["money_spent"]
    for name, values in rows.items():
        table.add_row(name, *(f"{value:.4g}" for value in values.values()))
    for reason, count in sorted(told["stop_reasons"].items(), key=lambda pair: -pair[1]):
        table.add_row(f"stopped: {reason}", f"{count / len(trajectory):.0%}", *[""] * 5)
    return table


def gives_away(trajectory: Trajectory, scores: Scores) -> str | None:
    """The first question, where it tells nearly all there is to know; it may be the target in disguise."""
    if scores.n_rows < ENOUGH or not (scores.frame["score"].iloc[1:2] >= GIVEN_AWAY).any():
        return None
    asked = trajectory.order[:, 0]
    return trajectory.feature_names[int(np.bincount(asked[asked >= 0]).argmax())]


def most_asked(trajectory: Trajectory, most: int = 8) -> Table:
    """The features that are asked of the most cases, with the mean place in the order and the mean price paid."""
    rows, steps = np.nonzero(trajectory.order >= 0)
    features, n_features = trajectory.order[rows, steps], len(trajectory.feature_names)
    asked = np.bincount(features, minlength=n_features)

    def mean_of(values: np.ndarray) -> np.ndarray:
        sums: np.ndarray = np.bincount(features, weights=values, minlength=n_features)
        return sums / np.maximum(asked, 1)

    mean_place, price = mean_of(steps + 1), mean_of(np.diff(trajectory.cost, axis=1)[rows, steps])
    table = make_table("asked most", "of the cases", "mean place", "cost", numbers=(1, 2, 3))
    for i in np.lexsort((mean_place, -asked))[:most]:
        if asked[i]:
            share = asked[i] / len(trajectory)
            table.add_row(trajectory.feature_names[i], f"{share:.0%}", f"{mean_place[i]:.1f}", f"{price[i]:.4g}")
    return table
