"""The path of one case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike

from askless.acquisition.trajectory import Trajectory
from askless.exceptions import ParameterError
from askless.plotting.given import check_trajectory, is_regression
from askless.plotting.style import (
    PALETTE,
    QUIET,
    TEXT,
    axes,
    band,
    bar,
    line,
    name_lines,
    number,
    percent,
    room,
    shorten,
)

__all__ = ["plot_path"]

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
    check_trajectory(trajectory)
    row = _place(row, len(trajectory))
    if values is not None and not isinstance(values, (Mapping, pd.Series)):
        raise ParameterError(
            "wrong_type",
            f"values must be a mapping or a Series, such as X.iloc[{row}], not a {type(values).__name__}",
            name="values",
            value=values,
        )
    asked = trajectory.names(row)
    path = trajectory.predictions[row, : len(asked) + 1]  # (steps, outputs)
    reach = None if sd is None else _reach(sd, trajectory, row)
    labels = ["start", *_steps(asked, {} if values is None else values)]
    letters = 0.07 * max(map(len, labels))
    ax = axes(ax, (min(11.0, max(5.0, 2.6 + 0.55 * len(path))), 3.4 + 0.7 * letters), pyplot=pyplot)
    steps = np.arange(len(path))
    _mark_steps(ax, labels)
    if is_regression(trajectory):
        line(ax, 0, steps, path[:, 0], "mean")
        ax.set_ylabel("predicted mean")
        if reach is not None:
            band(ax, 0, steps, path[:, 0] - reach, path[:, 0] + reach)
            ax.set_ylabel("predicted mean ± sd")
        elif trajectory.sd is not None:
            bar(ax, 0, steps[-1], path[-1, 0], trajectory.sd[row])
            ax.set_ylabel("predicted mean, ± sd at the end")
    else:
        _draw_classes(ax, steps, path, trajectory.outputs)
    return ax


def _place(row: Any, n: int) -> int:
    """The row as a place among n cases."""
    try:
        place = index(row)
    except TypeError:
        raise ParameterError(
            "wrong_type",
            f"row must be an integer, the position of a case in the table, not {row!r}",
            name="row",
            value=row,
        ) from None
    if not -n <= place < n:
        raise ParameterError(
            "out_of_range",
            f"there is no row {place}; the trajectory has {n} cases",
            name="row",
            value=place,
            low=0,
            high=n - 1,
        )
    return place


def _reach(sd: ArrayLike, trajectory: Trajectory, row: int) -> np.ndarray:
    """(steps,), how far the band goes to either side."""
    if not is_regression(trajectory):
        raise ParameterError(
            "not_supported", "sd is for regressions; these predictions are class probabilities", name="sd"
        )
    steps, longest = int(trajectory.n_asked[row]) + 1, trajectory.predictions.shape[1]
    wanted = f"it must be a number, or one for each of the {steps} steps of row {row}"
    try:
        given = np.asarray(sd, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("wrong_type", f"sd is {sd!r}; {wanted}", name="sd", value=sd) from None
    # There may be as many cases as steps, so that the number of them does not tell one from the other.
    own = trajectory.sd is not None and np.array_equal(given, trajectory.sd)
    if own and len(given) > 1:
        raise ParameterError(
            "wrong_shape",
            f"sd is that of the trajectory, one for the last prediction of each case; {wanted} (without sd, the "
            "case's own is drawn at its end)",
            name="sd",
            shape=given.shape,
            expected=(steps,),
        )
    if given.ndim > 1 or (given.ndim == 1 and len(given) not in (steps, longest)):
        raise ParameterError(
            "wrong_shape",
            f"sd has the shape {given.shape}; {wanted}",
            name="sd",
            shape=given.shape,
            expected=(steps,),
        )
    reach = np.full(steps, given) if given.ndim == 0 else given[:steps]
    wrong = ~(np.isfinite(reach) & (reach >= 0))
    if wrong.any():
        value = float(reach[wrong][0])
        raise ParameterError(
            "out_of_range", f"sd must be finite and at least 0, not {value}", name="sd", value=value, low=0
        )
    return reach


def _draw_classes(ax: Axes, steps: np.ndarray, path: np.ndarray, outputs: tuple[Any, ...]) -> None:
    """One line for each of the main classes, and one for the others."""
    # The most probable in the end, then those with the highest peaks.
    ranked = np.lexsort((-path.max(axis=0), np.arange(path.shape[1]) != path[-1].argmax()))
    main = ranked if len(ranked) <= MOST_CLASSES + 1 else ranked[:MOST_CLASSES]
    labels = outputs or tuple(range(path.shape[1]))
    names = shorten([label if isinstance(label, str) else f"class {label}" for label in labels], 22)
    lines = [line(ax, look, steps, path[:, c], names[c]) for c, look in zip(main, _looks(main), strict=True)]
    for rank, drawn in enumerate(lines):
        drawn.set_zorder(3 - rank / 100)  # the most probable on top
    if len(main) < len(ranked):
        other = line(ax, MOST_CLASSES, steps, path[:, ranked[len(main) :]].sum(axis=1), "other")
        other.set(color=QUIET, marker="", linewidth=1.2)
        lines.append(other)
    ax.set_ylim(0, 1.03)
    ax.set_ylabel("probability")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ends = [percent(float(np.asarray(drawn.get_ydata())[-1])) for drawn in lines]
    name_lines(ax, lines, [f"{drawn.get_label()}  {end}%" for drawn, end in zip(lines, ends, strict=True)])


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
    """The features' names, and the answers where they are known."""
    answers = [f" = {_text(values[name])}" if name in values else "" for name in asked]
    return [name + answer for name, answer in zip(shorten(asked, 24), answers, strict=True)]


def _text(value: Any) -> str:
    """An answer in a few characters."""
    if isinstance(value, Mapping):
        return ", ".join(_text(part) for part in value.values())
    if np.ndim(value) == 0 and pd.isna(value):
        return "unknown"
    return number(float(value)) if isinstance(value, (float, np.floating)) else shorten([value], 16)[0]


def _mark_steps(ax: Axes, labels: list[str]) -> None:
    """Name the steps, slanted if the names are longer than a step is wide."""
    longest, step = max(map(len, labels)), room(ax)[0] / (len(labels) - 0.5)  # in letters, in points
    ax.set_xticks(range(len(labels)), labels, parse_math=False)
    if 0.58 * TEXT * longest > step:
        angle = 35 if longest < 24 else 45
        size = min(TEXT, 0.9 * step * np.sin(np.radians(angle)))
        for label in ax.get_xticklabels():
            label.set(rotation=angle, ha="right", rotation_mode="anchor", fontsize=size)
    ax.set_xlim(-0.25, len(labels) - 0.75)
