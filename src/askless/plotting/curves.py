"""Score against budget."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator

from askless.acquisition.trajectory import Trajectory
from askless.exceptions import ParameterError
from askless.metrics import Metric, curve, usual_metric
from askless.metrics import metric as find_metric
from askless.plotting.given import is_regression
from askless.plotting.style import axes, band, line, name_lines, shorten

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

__all__ = ["plot_curve"]


def plot_curve(
    curves: Mapping[str, pd.DataFrame | Trajectory] | pd.DataFrame | Trajectory,
    y: np.ndarray | None = None,
    metric: str | Metric | None = None,
    *,
    metric_label: str | None = None,
    ax: Axes | None = None,
    pyplot: bool = True,
) -> Axes:
    """Draw the score against the number of features asked, one line for each named curve (or for the only one).

    A curve is a trajectory, whose cases have the truth `y` (numbers, class codes, or text labels), scored by the
    `metric` (a name in `askless.metrics`; None is the AUROC, or R² for a regression) and drawn with a 95 % band; or a
    frame as `askless.metrics.curve` makes it, whose columns `low` and `high`, if there, are drawn as a band. Lines
    are named at their ends, or in a legend on given axes whose figure has no layout engine. `ax` and `pyplot` are as
    for every figure: see `askless.plotting`.

    >>> import pandas as pd
    >>> greedy = pd.DataFrame({"budget": [0, 1, 2], "score": [0.5, 0.8, 0.9]})
    >>> ax = plot_curve({"greedy": greedy, "random": greedy.assign(score=0.5)}, metric_label="AUROC")
    >>> ax.get_ylabel(), [line.get_label() for line in ax.lines]
    ('AUROC', ['greedy', 'random'])
    """
    given = curves if isinstance(curves, Mapping) else {"": curves}
    if not given:
        raise ParameterError("required", "there are no curves to plot", name="curves")
    named = {name: _as_frame(name, item, y, metric) for name, item in given.items()}
    for name, frame in named.items():
        missing = {"budget", "score"} - set(frame.columns)
        if missing or frame.empty:
            lacks = " and no ".join(sorted(missing)) or "rows"
            raise ParameterError(
                "missing_column" if missing else "too_few_rows",
                f"{_called(name)} has no {lacks}; it must be a frame such as model.curve(X, y)",
                name=name,
                columns=sorted(missing),
            )
    ax = axes(ax, (6.4, 4.0), pyplot=pyplot)
    lines = []
    for i, (name, frame) in enumerate(named.items()):
        budget, *columns = (frame[c].to_numpy() for c in ("budget", "score", "low", "high") if c in frame)
        if len(columns) == 3:
            band(ax, i, budget, *columns[1:])
        lines.append(line(ax, i, budget, columns[0], name))
    _mark_budgets(ax, sorted({int(b) for frame in named.values() for b in frame["budget"]}))
    first = next(iter(named.values()))
    ax.set_ylabel(metric_label or first.attrs.get("label", "score"))
    ax.set_xlabel("features asked")
    ax.margins(x=0.02, y=0.06)
    if "" not in named:
        name_lines(ax, lines, shorten(list(named)))
    return ax


def _called(name: str) -> str:
    """What an error calls the curve: the only one may have no name."""
    return f"the curve {name!r}" if name != "" else "the curve"


def _as_frame(
    name: str, item: pd.DataFrame | Trajectory, y: np.ndarray | None, metric: str | Metric | None
) -> pd.DataFrame:
    """The scores of a trajectory; a frame as it is."""
    import pandas as pd

    if isinstance(item, pd.DataFrame):
        return item
    if not isinstance(item, Trajectory):
        raise ParameterError(
            "wrong_type",
            f"{_called(name)} is a {type(item).__name__}; it must be a trajectory, such as model.rollout(X), or a "
            "frame, such as model.curve(X, y)",
            name=name,
            value=item,
        )
    if y is None:
        raise ParameterError("required", "y, the true labels, is needed to score a trajectory", name="y")
    if metric is None:
        metric = usual_metric("regression" if is_regression(item) else "classification")
    chosen = find_metric(metric) if isinstance(metric, str) else metric
    if item.outputs == ("mean",) and chosen.task != "regression":
        raise ParameterError(
            "invalid_choice",
            f"the metric {chosen.__name__!r} is for a {chosen.task}; this is a regression",
            name="metric",
            value=chosen.__name__,
            expected="regression",
        )
    return curve(item, y, chosen, interval=0.95)


def _mark_budgets(ax: Axes, budgets: list[int]) -> None:
    """Integer ticks: each budget if none are too close, else round numbers."""
    gap = min((b - a for a, b in pairwise(budgets)), default=1)
    fits = budgets[-1] - budgets[0] <= 13 * gap
    ax.xaxis.set_major_locator(
        FixedLocator(budgets) if fits else MaxNLocator(nbins=10, steps=[1, 2, 5, 10], integer=True)
    )
