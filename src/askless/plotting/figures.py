"""Figures of any trajectory: score against budget, how often each feature is asked, and the path of one case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from operator import index
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, PercentFormatter
from numpy.typing import ArrayLike

from askless.acquisition.trajectory import Trajectory
from askless.exceptions import ParameterError, bad_value
from askless.metrics import Metric, curve, usual_metric
from askless.metrics import metric as find_metric
from askless.plotting import style
from askless.plotting.style import HEAT, INK, PALETTE, QUIET, TEXT

MOST_CLASSES = 5  # lines of their own; all others together are one more


def plot_path(
    trajectory: Trajectory,
    row: int,
    *,
    values: Mapping[str, Any] | pd.Series | None = None,
    sd: ArrayLike | None = None,
    ax: Axes | None = None,
    pyplot: bool = True,
) -> Axes:
    """Draw what was predicted for one case at the start and after each answer.

    `values` holds answers by feature name, and may hold others; a group's may be a mapping. Of many classes those
    with the highest probability at any time have lines, and the rest one called "other"; a class has its colour by
    its place in `trajectory.outputs`. A regression's mean has a band of `sd` on either side, if given: one number,
    or one for the start and each answer of this case, which may go on as `trajectory.predictions[row]` does. If not,
    its end has a bar of the case's own, `trajectory.sd[row]`, where the trajectory tells it. `ax` and `pyplot` are as
    for every figure: see `askless.plotting`.

    >>> case = Trajectory(
    ...     order=np.array([[1, 0]]),
    ...     predictions=np.array([[[0.5, 0.5], [0.3, 0.7], [0.1, 0.9]]]),
    ...     cost=np.array([[0.0, 1.0, 2.0]]),
    ...     stop_reason=np.array(["asked 2 features"]),
    ...     feature_names=("age", "sex"),
    ...     outputs=("ill", "well"),
    ... )
    >>> ax = plot_path(case, 0, values={"age": 51})
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['start', 'sex', 'age = 51']
    """
    style.check_trajectory(trajectory)
    row = _place(row, len(trajectory))
    if values is not None and not isinstance(values, (Mapping, pd.Series)):
        raise bad_value("wrong_type", "values", values, f"a mapping or a Series, such as X.iloc[{row}]")
    asked = trajectory.names(row)
    path = trajectory.predictions[row, : len(asked) + 1]  # (steps, outputs)
    reach = None if sd is None else _reach(sd, trajectory, row)
    labels = ["start", *_steps(asked, {} if values is None else values)]
    letters = 0.07 * max(map(len, labels))
    ax = style.axes(ax, (min(11.0, max(5.0, 2.6 + 0.55 * len(path))), 3.4 + 0.7 * letters), pyplot=pyplot)
    steps = np.arange(len(path))
    _mark_steps(ax, labels)
    if style.is_regression(trajectory):
        style.line(ax, 0, steps, path[:, 0], "mean")
        ax.set_ylabel("predicted mean")
        if reach is not None:
            style.band(ax, 0, steps, path[:, 0] - reach, path[:, 0] + reach)
            ax.set_ylabel("predicted mean ± sd")
        elif trajectory.sd is not None:
            style.bar(ax, 0, steps[-1], path[-1, 0], trajectory.sd[row])
            ax.set_ylabel("predicted mean, ± sd at the end")
    else:
        _draw_classes(ax, steps, path, trajectory.outputs)
    return ax


def _place(row: Any, n: int) -> int:
    try:
        place = index(row)
    except TypeError:
        expected = "an integer, the position of a case in the table"
        raise bad_value("wrong_type", "row", row, expected) from None
    if not -n <= place < n:
        raise bad_value("out_of_range", "row", place, f"that of one of {n} cases", low=0, high=n - 1)
    return place


def _reach(sd: ArrayLike, trajectory: Trajectory, row: int) -> np.ndarray:
    """(steps,), how far the band goes to either side."""
    if not style.is_regression(trajectory):
        message = "sd is for regressions; these predictions are class probabilities"
        raise ParameterError("not_supported", message, name="sd")
    steps, longest = int(trajectory.n_asked[row]) + 1, trajectory.predictions.shape[1]
    wanted = f"a number, or one for each of the {steps} steps of row {row}"
    try:
        given = np.asarray(sd, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad_value("wrong_type", "sd", sd, wanted) from None
    # There may be as many cases as steps, so that the number of them does not tell one from the other.
    own = trajectory.sd is not None and np.array_equal(given, trajectory.sd)
    if own and len(given) > 1:
        message = (
            f"sd is that of the trajectory, one for the last prediction of each case; it must be {wanted} (without "
            "sd, the case's own is drawn at its end)"
        )
        raise ParameterError("wrong_shape", message, name="sd", shape=given.shape, expected=(steps,))
    if given.ndim > 1 or (given.ndim == 1 and len(given) not in (steps, longest)):
        message = f"sd has the shape {given.shape}; it must be {wanted}"
        raise ParameterError("wrong_shape", message, name="sd", shape=given.shape, expected=(steps,))
    reach = np.full(steps, given) if given.ndim == 0 else given[:steps]
    wrong = ~(np.isfinite(reach) & (reach >= 0))
    if wrong.any():
        raise bad_value("out_of_range", "sd", float(reach[wrong][0]), "finite and at least 0", low=0)
    return reach


def _draw_classes(ax: Axes, steps: np.ndarray, path: np.ndarray, outputs: tuple[Any, ...]) -> None:
    # The most probable in the end, then those with the highest peaks.
    ranked = np.lexsort((-path.max(axis=0), np.arange(path.shape[1]) != path[-1].argmax()))
    main = ranked if len(ranked) <= MOST_CLASSES + 1 else ranked[:MOST_CLASSES]
    labels = outputs or tuple(range(path.shape[1]))
    names = style.shorten([label if isinstance(label, str) else f"class {label}" for label in labels], 22)
    lines = [style.line(ax, look, steps, path[:, c], names[c]) for c, look in zip(main, _looks(main), strict=True)]
    for rank, drawn in enumerate(lines):
        drawn.set_zorder(3 - rank / 100)  # the most probable on top
    if len(main) < len(ranked):
        other = style.line(ax, MOST_CLASSES, steps, path[:, ranked[len(main) :]].sum(axis=1), "other")
        other.set(color=QUIET, marker="", linewidth=1.2)
        lines.append(other)
    ax.set_ylim(0, 1.03)
    ax.set_ylabel("probability")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ends = [style.percent(float(np.asarray(drawn.get_ydata())[-1])) for drawn in lines]
    style.name_lines(ax, lines, [f"{drawn.get_label()}  {end}%" for drawn, end in zip(lines, ends, strict=True)])


def _looks(main: Iterable[int]) -> list[int]:
    """The look of each class, by its place: the same in every case. Of two with one colour the later takes the next.

    >>> _looks([1, 0]), _looks([2, 9, 1])
    ([1, 0], [2, 1, 3])
    """
    looks: list[int] = []
    for c in main:
        looks.append(next(i % len(PALETTE) for i in range(c, c + len(PALETTE)) if i % len(PALETTE) not in looks))
    return looks


def _steps(asked: list[str], values: Mapping[str, Any] | pd.Series) -> list[str]:
    answers = [f" = {_text(values[name])}" if name in values else "" for name in asked]
    return [name + answer for name, answer in zip(style.shorten(asked, 24), answers, strict=True)]


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(_text(part) for part in value.values())
    if np.ndim(value) == 0 and pd.isna(value):
        return "unknown"
    return style.number(float(value)) if isinstance(value, (float, np.floating)) else style.shorten([value], 16)[0]


def _mark_steps(ax: Axes, labels: list[str]) -> None:
    """Name the steps, slanted if the names are longer than a step is wide."""
    longest, step = max(map(len, labels)), style.room(ax)[0] / (len(labels) - 0.5)  # in letters, in points
    ax.set_xticks(range(len(labels)), labels, parse_math=False)
    if 0.58 * TEXT * longest > step:
        angle = 35 if longest < 24 else 45
        size = min(TEXT, 0.9 * step * np.sin(np.radians(angle)))
        for label in ax.get_xticklabels():
            label.set(rotation=angle, ha="right", rotation_mode="anchor", fontsize=size)
    ax.set_xlim(-0.25, len(labels) - 0.75)


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
            message = f"{_called(name)} has no {lacks}; it must be a frame such as model.curve(X, y)"
            fields = {"name": name, "columns": sorted(missing)}
            raise ParameterError("missing_column" if missing else "too_few_rows", message, **fields)
    ax = style.axes(ax, (6.4, 4.0), pyplot=pyplot)
    lines = []
    for i, (name, frame) in enumerate(named.items()):
        budget, *columns = (frame[c].to_numpy() for c in ("budget", "score", "low", "high") if c in frame)
        if len(columns) == 3:
            style.band(ax, i, budget, *columns[1:])
        lines.append(style.line(ax, i, budget, columns[0], name))
    _mark_budgets(ax, sorted({int(b) for frame in named.values() for b in frame["budget"]}))
    first = next(iter(named.values()))
    ax.set_ylabel(metric_label or first.attrs.get("label", "score"))
    ax.set_xlabel("features asked")
    ax.margins(x=0.02, y=0.06)
    if "" not in named:
        style.name_lines(ax, lines, style.shorten(list(named)))
    return ax


def _called(name: str) -> str:
    """What an error calls the curve: the only one may have no name."""
    return f"the curve {name!r}" if name != "" else "the curve"


def _as_frame(
    name: str, item: pd.DataFrame | Trajectory, y: np.ndarray | None, metric: str | Metric | None
) -> pd.DataFrame:
    if isinstance(item, pd.DataFrame):
        return item
    if not isinstance(item, Trajectory):
        expected = "it must be a trajectory, such as model.rollout(X), or a frame, such as model.curve(X, y)"
        message = f"{_called(name)} is a {type(item).__name__}; {expected}"
        raise ParameterError("wrong_type", message, name=name, value=item)
    if y is None:
        raise ParameterError("required", "y, the true labels, is needed to score a trajectory", name="y")
    if metric is None:
        metric = usual_metric("regression" if style.is_regression(item) else "classification")
    chosen = find_metric(metric) if isinstance(metric, str) else metric
    if item.outputs == ("mean",) and chosen.task != "regression":
        message = f"the metric {chosen.__name__!r} is for a {chosen.task}; this is a regression"
        raise ParameterError("invalid_choice", message, name="metric", value=chosen.__name__, expected="regression")
    return curve(item, y, chosen, interval=0.95)


def _mark_budgets(ax: Axes, budgets: list[int]) -> None:
    """Integer ticks: each budget if none are too close, else round numbers."""
    gap = min((b - a for a, b in pairwise(budgets)), default=1)
    fits = budgets[-1] - budgets[0] <= 13 * gap
    ax.xaxis.set_major_locator(
        FixedLocator(budgets) if fits else MaxNLocator(nbins=10, steps=[1, 2, 5, 10], integer=True)
    )


def plot_selection_frequency(
    trajectory: Trajectory, *, max_features: int = 25, ax: Axes | None = None, pyplot: bool = True
) -> Axes:
    """Draw the share of cases in which each feature was asked within each budget, the most frequent on top.

    Features that were never asked are left out, as are all but the `max_features` most frequent; a note says how
    many. The cells are annotated in percent where there is room. `ax` and `pyplot` are as for every figure: see
    `askless.plotting`.

    >>> asked = Trajectory(
    ...     order=np.array([[0, 1], [0, 2]]),
    ...     predictions=np.full((2, 3, 1), 0.5),
    ...     cost=np.array([[0.0, 1.0, 2.0]] * 2),
    ...     stop_reason=np.array(["asked 2 features"] * 2),
    ...     feature_names=("age", "sex", "weight"),
    ... )
    >>> ax = plot_selection_frequency(asked)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['age', 'sex', 'weight']
    >>> ax.collections[0].get_array().tolist()
    [[1.0, 1.0], [0.0, 0.5], [0.0, 0.5]]
    """
    style.check_trajectory(trajectory)
    if max_features < 1:
        raise bad_value("out_of_range", "max_features", max_features, "at least 1", low=1)
    if not (trajectory.order >= 0).any():
        raise ParameterError("required", "no feature was asked, so there is nothing to plot", name="trajectory")
    budgets = np.arange(1, trajectory.order.shape[1] + 1)
    shares = np.array([trajectory.selected(k).mean(axis=0) for k in budgets]).T  # (features, budgets)
    # By the share in the end; of equals first what is asked sooner.
    ranked = np.lexsort((-shares.sum(axis=1), -shares[:, -1]))
    ranked = ranked[shares[ranked, -1] > 0]
    shown = ranked[:max_features]
    names = style.shorten([trajectory.feature_names[i] for i in shown])

    letters = 0.07 * max(map(len, names))
    wide = min(14.0, max(4.2, 1.6 + letters + 0.36 * len(budgets)))
    ax = style.axes(ax, (wide, max(2.2, 1.0 + 0.25 * len(shown))), grid=False, pyplot=pyplot)
    mesh = ax.pcolormesh(shares[shown], cmap=HEAT, vmin=0, vmax=1, edgecolors="white", linewidth=1.2)
    ax.invert_yaxis()
    ax.spines["bottom"].set_visible(False)
    ax.set_yticks(np.arange(len(shown)) + 0.5, names, parse_math=False)
    ax.set_xlabel("features asked" + _left_out(len(shown), len(ranked), len(shares)))
    style.colour_bar(ax, mesh, "share of cases", format=PercentFormatter(1), ticks=np.linspace(0, 1, 5))

    cell = np.array(style.room(ax)) / shares[shown].T.shape  # its width and height in points
    mesh.set_linewidth(min(1.2, cell.min() / 14))
    every = int(np.ceil(1.7 * TEXT / cell[0]))  # as wide as two digits and a space
    ticks = budgets[every - 1 :: every]
    ax.set_xticks(ticks - 0.5, [str(b) for b in ticks])
    ax.tick_params(axis="x", length=0)
    ax.tick_params(axis="y", labelsize=min(TEXT, 0.85 * cell[1]))
    _annotate(ax, shares[shown], min(TEXT - 1.5, 0.7 * cell[1], 0.42 * cell[0]))
    return ax


def _left_out(shown: int, asked: int, features: int) -> str:
    """A second line for the axis label, empty if every feature is shown."""
    rest = features - asked
    never = f"; {rest} {'was' if rest == 1 else 'were'} never asked" if rest else ""
    return f"\n(shown: {shown} of {features} features{never})" if shown < features else ""


def _annotate(ax: Axes, shares: np.ndarray, size: float) -> None:
    if size < 5:
        return
    for (row, column), share in np.ndenumerate(shares):
        if share > 0:
            color = "white" if share > 0.55 else INK
            ax.text(
                column + 0.5, row + 0.5, style.percent(share), ha="center", va="center", fontsize=size, color=color
            )
