"""Tables for the terminal: scores by budget, and how often each feature is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from askless import metrics
from askless.cli.console import make_table
from askless.cli.parser import UsageError
from askless.hints import listed
from askless.metrics import Metric

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from askless.acquisition import Costs, StoppingRule, Trajectory
    from askless.model import FittedModel

__all__ = [
    "Scores",
    "absent_classes",
    "choose_metric",
    "leaking_features",
    "most_asked",
    "score",
    "score_table",
    "shown_budgets",
    "spending",
    "spending_table",
    "with_money",
]

INTERVAL, RESAMPLES = 0.95, 400
LEAK = 0.995  # the score after one question that looks like a leak: AUROC or R²
ENOUGH = 30  # rows; with fewer it may be chance
BESIDE = {"classification": "accuracy", "regression": "rmse"}


@dataclass(frozen=True)
class Scores:
    """The scores of a model on some rows; `frame` has a row for each number of features asked."""

    metric: Metric
    beside: Metric
    frame: pd.DataFrame  # budget, score, low, high, beside, cost (the mean)
    n_rows: int


def choose_metric(name: str | None, task: str) -> Metric:
    """The metric of that name, which must fit the task; the usual metric of the task without a name."""
    metric = metrics.metric(name) if name else metrics.usual_metric(task)
    if metric.task != task:
        exported = (getattr(metrics, each) for each in metrics.__all__)
        fitting = sorted(m.__name__ for m in exported if getattr(m, "task", None) == task)
        message = f"--metric: {name} is for {metric.task}, but this is {task}; choose from {', '.join(fitting)}"
        raise UsageError("invalid_choice", message, option="--metric", value=name, choices=fitting)
    return metric


def score(trajectory: Trajectory, y: np.ndarray, metric: Metric) -> Scores:
    """The scores of a roll-out with 95 % bootstrap intervals; `y` are codes of classes, or numbers."""
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


def absent_classes(scores: Scores, y: np.ndarray, classes: Sequence[Any]) -> str | None:
    """A note if AUROC, a mean over classes, leaves out classes that do not occur among the codes y."""
    absent = [label for code, label in enumerate(classes) if not (y == code).any()]
    if not absent or len(absent) > len(classes) - 2 or metrics.auroc not in (scores.metric, scores.beside):
        return None
    plural = "es" if len(absent) > 1 else ""
    return f"no row has the class{plural} {listed(absent)}; AUROC is the mean over the other classes"


def shown_budgets(last: int) -> list[int]:
    """The budgets to show: all up to 20, else the first ten and some round numbers.

    >>> shown_budgets(3), shown_budgets(50)
    ([0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50])
    """
    if last <= 20:
        return list(range(last + 1))
    step = 5 if last <= 40 else 10 * -(-last // 200)
    return sorted({*range(11), *range(10, last, step), last})


def with_money(
    model: FittedModel, costs: Costs | None = None, stopping: Iterable[StoppingRule] | None = None
) -> bool:
    """Whether tables show money: features have different costs, or a rule limits the money.

    `costs` and `stopping` are those of a call; None means the model's own. The money spent does not decide it: the
    features that were asked may all cost 1.
    """
    from askless.acquisition.costs import Uniform

    rules = model.stopping if stopping is None else stopping
    return not isinstance(model.context(costs).costs, Uniform) or any(map(_limits_money, rules))


def _limits_money(rule: StoppingRule) -> bool:
    from askless.acquisition.stopping import MaxCost

    return isinstance(rule, MaxCost) or any(map(_limits_money, rule.rules))


def score_table(scores: Scores, *, money: bool) -> Table:
    """Scores by budget, and the mean cost if `money` is true."""
    frame = scores.frame
    names = ["features asked", scores.metric.label, f"{INTERVAL:.0%} interval", scores.beside.label]
    table = make_table(*names, *(["mean cost"] if money else []), numbers=range(len(names) + money))
    for i in shown_budgets(len(frame) - 1):
        row = frame.iloc[i]
        cells = [f"{row.budget:.0f}", f"{row.score:.3f}", f"{row.low:.3f} to {row.high:.3f}"]
        cells.append("" if np.isnan(row.beside) else f"{row.beside:.3f}")
        table.add_row(*cells, *([f"{row.cost:.1f}"] if money else []))
    return table


def spending(trajectory: Trajectory) -> dict[str, dict[str, float]]:
    """The distributions of the number of features asked and of the money spent, and the reasons for stopping."""
    reasons, counts = np.unique(trajectory.stop_reason.astype(str), return_counts=True)
    return {
        "features_asked": _distribution(trajectory.n_asked),
        "money_spent": _distribution(trajectory.cost[:, -1]),
        "stop_reasons": {str(reason): int(count) for reason, count in zip(reasons, counts, strict=True)},
    }


def _distribution(values: np.ndarray) -> dict[str, float]:
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
    """The same as a table; the money only if `money` is true."""
    content = spending(trajectory)
    table = make_table("for each case", "mean", "least", "10 %", "median", "90 %", "most", numbers=range(1, 7))
    rows = {"features asked": content["features_asked"]}
    if money:
        rows["money spent"] = content["money_spent"]
    for name, values in rows.items():
        table.add_row(name, *(f"{value:.4g}" for value in values.values()))
    for reason, count in sorted(content["stop_reasons"].items(), key=lambda pair: -pair[1]):
        table.add_row(f"stopped: {reason}", f"{count / len(trajectory):.0%}", *[""] * 5)
    return table


def leaking_features(trajectory: Trajectory, scores: Scores) -> list[str]:
    """The first questions, the most frequent first, if they predict the target almost perfectly; else empty.

    The values of such a feature may be known only after the target.
    """
    if scores.n_rows < ENOUGH or not (scores.frame["score"].iloc[1:2] >= LEAK).any():
        return []
    first = trajectory.order[:, 0]
    asked = np.bincount(first[first >= 0], minlength=len(trajectory.feature_names))
    return [trajectory.feature_names[i] for i in np.argsort(-asked, kind="stable") if asked[i]]


def most_asked(trajectory: Trajectory, most: int = 8) -> Table:
    """The features that are asked most often, with their mean position in the order and the mean cost paid."""
    rows, steps = np.nonzero(trajectory.order >= 0)
    features, n_features = trajectory.order[rows, steps], len(trajectory.feature_names)
    asked = np.bincount(features, minlength=n_features)

    def mean_of(values: np.ndarray) -> np.ndarray:
        sums: np.ndarray = np.bincount(features, weights=values, minlength=n_features)
        return sums / np.maximum(asked, 1)

    mean_position, price = mean_of(steps + 1), mean_of(np.diff(trajectory.cost, axis=1)[rows, steps])
    table = make_table("asked most", "of the cases", "mean position", "cost", numbers=(1, 2, 3))
    for i in np.lexsort((mean_position, -asked))[:most]:
        if asked[i]:
            share = asked[i] / len(trajectory)
            table.add_row(trajectory.feature_names[i], f"{share:.0%}", f"{mean_position[i]:.1f}", f"{price[i]:.4g}")
    return table
