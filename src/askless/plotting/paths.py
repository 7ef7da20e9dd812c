"""The path of one case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike

from askless.core.trajectory import Trajectory
from askless.plotting.style import QUIET, TEXT, axes, band, line, name_lines, percent, room, shorten

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
    with the highest probability at any time have lines, and the rest one called "other". A regression's mean has
    a band of `sd` on either side, if given: one number, or one for the start and each answer (more are cut off).
    `ax` and `pyplot` are as for every figure: see `askless.plotting`.

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
    if not -len(trajectory) <= row < len(trajectory):
        raise ValueError(f"there is no row {row}; the trajectory has {len(trajectory)} cases")
    asked = trajectory.names(row)
    path = trajectory.predictions[row, : len(asked) + 1]  # (steps, outputs)
    regression = path.shape[1] == 1 and trajectory.outputs in ((), ("mean",))
    reach = None if sd is None else _reach(sd, len(path), regression)
    labels = ["start", *_steps(asked, {} if values is None else values)]
    letters = 0.07 * max(map(len, labels))
    ax = axes(ax, (min(11.0, max(5.0, 2.6 + 0.55 * len(path))), 3.4 + 0.7 * letters), pyplot=pyplot)
    steps = np.arange(len(path))
    _mark_steps(ax, labels)
    if regression:
        if reach is not None:
            band(ax, 0, steps, path[:, 0] - reach, path[:, 0] + reach)
        line(ax, 0, steps, path[:, 0], "mean")
        ax.set_ylabel("predicted mean" + ("" if sd is None else " ± sd"))
    else:
        _draw_classes(ax, steps, path, trajectory.outputs)
    return ax


def _reach(sd: ArrayLike, steps: int, regression: bool) -> np.ndarray:
    """(steps,), how far the band goes to either side."""
    if not regression:
        raise ValueError("sd is the standard deviation of a regression; these predictions are of classes")
    given = np.asarray(sd, dtype=np.float64)
    if given.ndim > 1 or (given.ndim == 1 and len(given) < steps):
        raise ValueError(f"sd has the shape {given.shape}; it must be a number, or one for each of {steps} steps")
    return np.full(steps, given) if given.ndim == 0 else given[:steps]


def _draw_classes(ax: Axes, steps: np.ndarray, path: np.ndarray, outputs: tuple[Any, ...]) -> None:
    """One line for each of the main classes, and one for the others."""
    # The most probable in the end, then those with the highest peaks.
    ranked = np.lexsort((-path.max(axis=0), np.arange(path.shape[1]) != path[-1].argmax()))
    main = ranked if len(ranked) <= MOST_CLASSES + 1 else ranked[:MOST_CLASSES]
    labels = outputs or tuple(range(path.shape[1]))
    names = shorten([label if isinstance(label, str) else f"class {label}" for label in labels], 22)
    lines = [line(ax, i, steps, path[:, c], names[c]) for i, c in enumerate(main)]
    if len(main) < len(ranked):
        other = line(ax, MOST_CLASSES, steps, path[:, ranked[len(main) :]].sum(axis=1), "other")
        other.set(color=QUIET, marker="", linewidth=1.2)
        lines.append(other)
    ax.set_ylim(0, 1.03)
    ax.set_ylabel("probability")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ends = [percent(float(np.asarray(drawn.get_ydata())[-1])) for drawn in lines]
    name_lines(ax, lines, [f"{drawn.get_label()}  {end}%" for drawn, end in zip(lines, ends, strict=True)])


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
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else shorten([value], 16)[0]


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
