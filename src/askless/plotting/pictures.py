"""Figures of images: which patches were revealed, and what was believed after each; where patches are asked first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from askless.acquisition.schema import Grid
from askless.acquisition.trajectory import Trajectory
from askless.exceptions import ParameterError, bad_value
from askless.hints import listed
from askless.plotting import style
from askless.plotting.style import HEAT, INK, PALETTE, QUIET, TEXT

HIDDEN = 0.86  # the grey of what is not revealed
GHOST = 0.10  # how much of the hidden image shines through
BARS = 3  # classes with a bar below each image


def plot_reveal(
    trajectory: Trajectory,
    images: np.ndarray,  # (n, height, width[, channels]), of the trajectory's cases
    grid: Grid,
    *,
    rows: Sequence[int] | None = None,
    budgets: Sequence[int] | None = None,
    truth: Sequence[Any] | None = None,  # (n,) labels, or numbers of a regression
    pyplot: bool = True,
) -> Figure:
    """Draw cases as they were revealed: a line for each, a column for each budget, the likeliest classes below.

    `rows` are the cases (default: the first six), `budgets` how many patches are revealed (default: six of them from
    1 to the most). With the truth its bar is coloured. Below a regression's images is the mean. `grid` is
    the model's, `model.schema_.grid`; `pyplot` is as for every figure: see `askless.plotting`.
    """
    style.check_trajectory(trajectory)
    style.check_grid(grid, trajectory)
    rows = range(min(6, len(trajectory))) if rows is None else rows
    rows = style.whole_numbers("rows", rows, "places of cases, from 0 on")
    most = trajectory.order.shape[1]
    if budgets is None:
        budgets = np.unique(np.geomspace(1, max(1, most), 6).round().astype(int)).tolist()
    budgets = style.whole_numbers("budgets", budgets, "how many patches are revealed")
    if any(not 0 <= k <= most for k in budgets):
        raise bad_value("out_of_range", "budgets", budgets, f"from 0 to {most} revealed patches", low=0, high=most)
    images = _checked_images(images, grid)
    if len(images) != len(trajectory):
        message = f"there are {len(images)} images of {len(trajectory)} cases"
        raise ParameterError("wrong_shape", message, name="images", shape=images.shape, expected=len(trajectory))
    if any(not 0 <= row < len(trajectory) for row in rows):
        last = len(trajectory) - 1
        raise bad_value("out_of_range", "rows", rows, f"from 0 to {last}", low=0, high=last)
    if not rows:
        raise ParameterError("required", "there are no cases to plot", name="rows")
    labels = trajectory.outputs or tuple(range(trajectory.predictions.shape[2]))
    names = style.shorten([str(label) for label in labels], 10)
    regression = style.is_regression(trajectory)
    true = [None] * len(rows) if truth is None else _true_outcomes(truth, rows, len(trajectory), labels, regression)
    size = 1.25 * (len(budgets) + 1), 1.85 * len(rows)
    figure = style.new_figure(size, pyplot=pyplot, padding=(0.03, 0.04))
    cells = figure.subplots(2 * len(rows), len(budgets) + 1, squeeze=False, height_ratios=[3, 1] * len(rows))
    for line, (row, right) in enumerate(zip(rows, true, strict=True)):
        picture = _scaled(images[row])
        _show(cells[2 * line, 0], picture)
        _blank(cells[2 * line + 1, 0])
        if right is not None:
            _write(cells[2 * line + 1, 0], f"truth {style.number(right)}" if regression else names[right])
        for column, k in enumerate(budgets, start=1):
            seen = np.zeros((1, grid.n_patches), dtype=bool)
            asked = trajectory.order[row, :k]
            seen[0, asked[asked >= 0]] = True
            shown = grid.upsample(seen)[0][:, :, None]  # (height, width, 1)
            _show(cells[2 * line, column], np.where(shown, picture, HIDDEN * (1 - GHOST) + GHOST * picture))
            below, predicted = cells[2 * line + 1, column], trajectory.predictions[row, k]
            if regression:
                _blank(below)
                _write(below, f"mean {style.number(predicted[0])}")
            else:
                _bars(below, predicted, names, right)
            if line == 0:
                cells[0, column].set_title(f"{k} of {grid.n_patches}", fontsize=TEXT, color=INK)
    cells[0, 0].set_title("all", fontsize=TEXT, color=INK)
    return figure


def plot_order_map(trajectory: Trajectory, grid: Grid, *, ax: Axes | None = None, pyplot: bool = True) -> Axes:
    """Draw when each patch is asked in the mean: dark is early. A patch that was not asked of a case counts as next.

    `ax` and `pyplot` are as for every figure: see `askless.plotting`.

    >>> asked = Trajectory(
    ...     order=np.array([[0, 1], [0, 3]]),
    ...     predictions=np.full((2, 3, 1), 0.5),
    ...     cost=np.zeros((2, 3)),
    ...     stop_reason=np.array(["asked 2 features"] * 2),
    ...     feature_names=tuple("abcd"),
    ... )
    >>> plot_order_map(asked, Grid(4, 4, 1, 2)).collections[0].get_array().tolist()
    [[1.0, 2.5], [3.0, 2.5]]
    """
    style.check_trajectory(trajectory)
    style.check_grid(grid, trajectory)
    n, k = trajectory.order.shape
    when = np.full((n, grid.n_patches), k + 1.0)
    row, step = np.nonzero(trajectory.order >= 0)
    when[row, trajectory.order[row, step]] = step + 1.0
    ax = style.axes(ax, (4.4, 3.6), grid=False, pyplot=pyplot)
    mesh = ax.pcolormesh(when.mean(axis=0).reshape(grid.rows, grid.columns), cmap=HEAT.reversed(), vmin=1, vmax=k + 1)
    ax.invert_yaxis()
    ax.set_aspect("equal")
    _blank(ax)
    style.colour_bar(ax, mesh, "asked as number, in the mean").ax.invert_yaxis()
    return ax


def _checked_images(images: Any, grid: Grid) -> np.ndarray:
    pixels = np.asarray(images)
    size = grid.height, grid.width
    if pixels.ndim not in (3, 4) or pixels.shape[1:3] != size:
        wanted = f"(n, {size[0]}, {size[1]}) of the grid, with or without channels at the end"
        message = f"images must have the shape {wanted}, not {pixels.shape}"
        raise ParameterError("wrong_shape", message, name="images", shape=pixels.shape, expected=size)
    return pixels


def _true_outcomes(truth: Any, rows: list[int], n: int, labels: tuple[Any, ...], regression: bool) -> list[Any]:
    """The truth of each row drawn: the place of its class among the labels, or the number of a regression."""
    given = np.asarray(truth, dtype=object)  # by place: the rows of a Series may have labels of their own
    if given.shape != (n,):
        what = repr(truth) if given.ndim == 0 else f"of shape {given.shape}"
        message = f"truth must have one {'number' if regression else 'label'} for each of {n} cases; it is {what}"
        raise ParameterError("wrong_shape", message, name="truth", shape=given.shape, expected=(n,))
    told = given.tolist()
    for row in rows:
        if regression and not isinstance(told[row], (int, float, np.number)):
            message = f"truth must be numbers; row {row} (0-based) has {told[row]!r}"
            raise ParameterError("bad_label", message, name="truth", row=row, label=told[row])
        if not regression and told[row] not in labels:
            message = f"unknown label {told[row]!r} in truth, row {row} (0-based); the classes are {listed(labels)}"
            where = {"name": "truth", "row": row, "label": told[row]}
            raise ParameterError("unknown_label", message, **where, choices=list(labels))
    return [float(told[row]) if regression else labels.index(told[row]) for row in rows]


def _scaled(image: np.ndarray) -> np.ndarray:
    """(height, width, 3) from 0 to 1."""
    pixels = image.reshape(*image.shape[:2], -1).astype(np.float64)
    low, high = float(np.nanmin(pixels)), float(np.nanmax(pixels))
    if image.dtype == np.uint8:
        low, high = 0.0, 255.0
    pixels = (pixels - low) / max(high - low, 1e-12)
    return pixels[:, :, :3] if pixels.shape[2] >= 3 else np.repeat(pixels[:, :, :1], 3, axis=2)


def _show(ax: Axes, picture: np.ndarray) -> None:
    ax.imshow(picture, vmin=0, vmax=1, interpolation="nearest")
    _blank(ax)


def _blank(ax: Axes) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)


def _write(ax: Axes, text: str) -> None:
    ax.text(0.5, 0.9, text, ha="center", va="top", fontsize=TEXT, color=INK, parse_math=False)


def _bars(ax: Axes, chances: np.ndarray, names: list[str], right: int | None) -> None:
    _blank(ax)
    top = np.argsort(-chances, kind="stable")[:BARS]
    colours = [PALETTE[0] if right is None or c == right else QUIET for c in top]
    ax.barh(np.arange(len(top)), chances[top], color=colours, alpha=0.35, height=0.85)
    for place, c in enumerate(top):
        how: dict[str, Any] = {"va": "center", "fontsize": TEXT - 2.5, "color": INK, "parse_math": False}
        ax.text(0.02, place, names[c], **how)
        ax.text(0.98, place, f"{style.percent(float(chances[c]))}%", ha="right", **how)
    ax.set_xlim(0, 1)
    ax.set_ylim(BARS - 0.4, -0.6)
