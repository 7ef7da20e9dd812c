"""What the figures share: colours, bare axes, short names, and names written at the ends of lines."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine, TightLayoutEngine
from matplotlib.lines import Line2D

from askless.acquisition.schema import Grid
from askless.acquisition.trajectory import Trajectory
from askless.exceptions import ParameterError, bad_value

# Simulated for the three kinds of colour blindness, any two colours stay 17 apart (Lab); the first four also differ
# in lightness by 11, so that they survive a grey printer. Lines differ in dashes and markers as well.
PALETTE = ("#0559B1", "#F78B05", "#15949C", "#791146", "#89ACED", "#A0720F", "#473A75", "#7C9E7F")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 1.6), (1.4, 1.3), (6, 1.4, 1.4, 1.4))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
INK, QUIET, GRID = "#2B2B2B", "#5F5F5F", "#E3E3E3"
HEAT = LinearSegmentedColormap.from_list("askless", ["#F3F6F9", "#BDD3E8", "#629BD0", "#1A63AE", "#0A3A75"])
TEXT = 9.0  # points


def line(ax: Axes, i: int, x: np.ndarray, y: np.ndarray, name: str) -> Line2D:
    """Draw the i-th line, in a look of its own (32 differ) and below those before it."""
    (drawn,) = ax.plot(
        x,
        y,
        color=colour(i),
        dashes=DASHES[(i + i // len(PALETTE)) % len(DASHES)],
        linewidth=1.8,
        marker=MARKERS[i % len(MARKERS)],
        markersize=5,
        markeredgecolor="white",
        markeredgewidth=0.7,
        markevery=max(1, len(x) // 12),
        zorder=3 - i / 100,
        label=name or "_nolegend_",
    )
    return drawn


def band(ax: Axes, i: int, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Draw the i-th line's band."""
    ax.fill_between(x, low, high, color=colour(i), alpha=0.14, linewidth=0)


def bar(ax: Axes, i: int, x: float, y: float, reach: float) -> None:
    """Draw how far one point of the i-th line reaches to either side."""
    ax.errorbar(x, y, reach, fmt="none", ecolor=colour(i), elinewidth=1.4, capsize=4, alpha=0.6)


def colour(i: int) -> str:
    """The i-th line's colour."""
    return PALETTE[i % len(PALETTE)]


def new_figure(size: tuple[float, float], *, pyplot: bool, padding: tuple[float, float] = (0.1, 0.1)) -> Figure:
    """A white figure of that size in inches; pyplot's current one, or one that belongs to the caller alone."""
    how: dict[str, Any] = {
        "figsize": size,
        "layout": ConstrainedLayoutEngine(w_pad=padding[0], h_pad=padding[1]),
        "facecolor": "white",
    }
    if not pyplot:
        return Figure(**how)
    import matplotlib.pyplot as plt  # here, because it chooses a backend, which a report or a server must not need

    return plt.figure(**how)


def axes(ax: Axes | None, size: tuple[float, float], *, grid: bool = True, pyplot: bool = False) -> Axes:
    """The given axes or new ones of that size in inches, without what does not carry information."""
    if ax is None:
        ax = new_figure(size, pyplot=pyplot).add_subplot()
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(QUIET)
    ax.tick_params(colors=INK, labelsize=TEXT, length=0, pad=5)
    ax.tick_params(axis="x", length=3, color=QUIET)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(INK)
        axis.label.set_fontsize(TEXT + 1)
    ax.set_axisbelow(True)
    if grid:
        ax.grid(axis="y", color=GRID, linewidth=0.8)
    return ax


def colour_bar(ax: Axes, mesh: QuadMesh, label: str, **how: Any) -> Colorbar:
    """A colour bar right of the axes, without an outline."""
    bar = ax.figure.colorbar(mesh, ax=ax, aspect=30, pad=0.03, **how)
    bar.set_label(label, color=INK, size=TEXT)
    bar.ax.tick_params(labelsize=TEXT - 1, length=0, colors=INK)
    bar.outline.set_visible(False)
    return bar


def has_layout(ax: Axes) -> bool:
    """Whether the figure makes room for what is written around its axes."""
    return isinstance(ax.figure.get_layout_engine(), (ConstrainedLayoutEngine, TightLayoutEngine))


def room(ax: Axes) -> tuple[float, float]:
    """The width and height of the axes in points, as far as it is known while other things may still be drawn."""
    engine = ax.figure.get_layout_engine()
    if engine is not None and has_layout(ax):
        engine.execute(ax.figure.figure)
    box = ax.get_window_extent()
    return box.width * 72 / ax.figure.dpi, box.height * 72 / ax.figure.dpi


def shorten(names: Sequence[str], width: int = 28) -> list[str]:
    """The names cut in the middle to at most `width` characters, or to the fewest more that tell them apart.

    >>> shorten(["age", "mean corpuscular haemoglobin concentration"], 20)
    ['age', 'mean corpuscu…ration']
    >>> shorten(["glucose before a meal, mg/dl", "glucose before the meal, mg/dl"], 12)
    ['glucos…a meal, mg/dl', 'glucos…e meal, mg/dl']
    """
    names = [str(name) for name in names]
    for allowed in range(width, max(map(len, names), default=0)):
        for share in (1 / 3, 1 / 2, 2 / 3):  # of what is left, at the end
            tail = round((allowed - 1) * share)
            cuts = [f"{name[: allowed - 1 - tail].rstrip()}…{name[-tail:].lstrip()}" for name in names]
            short = [name if len(name) <= allowed else cut for name, cut in zip(names, cuts, strict=True)]
            if len(set(short)) == len(set(names)):
                return short
    return names


def spread(wanted: np.ndarray, gap: float, low: float, high: float) -> np.ndarray:
    """Positions at least `gap` apart, in [low, high] if they fit, and nearest (least squares) to the wanted ones.

    >>> spread(np.array([0.5, 0.5, 0.9]), 0.1, 0.0, 1.0)
    array([0.45, 0.55, 0.9 ])
    """
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    free = np.asarray(wanted, dtype=np.float64)[order] - steps  # these must not decrease: isotonic regression
    sums = np.concatenate([[0.0], np.cumsum(free)])
    level = [
        max(min((sums[k] - sums[j]) / (k - j) for k in range(i + 1, len(sums))) for j in range(i + 1))
        for i in range(len(free))
    ]
    placed = np.empty(len(wanted))
    placed[order] = np.clip(level, low, max(low, high - steps[-1])) + steps
    return placed


def percent(share: float) -> str:
    """The share in whole percent; only none is 0 and only all is 100.

    >>> [percent(share) for share in (0.0, 0.004, 0.256, 0.999, 1.0)]
    ['0', '<1', '26', '>99', '100']
    """
    if 0 < share < 0.01:
        return "<1"
    return ">99" if 0.99 < share < 1 else f"{100 * share:.0f}"


def number(value: float) -> str:
    """The number in four digits; from a thousand to ten million whole.

    >>> [number(value) for value in (0.123456, 3.0, 342.18, 9999.7, 15234.5, 1.5e9)]
    ['0.1235', '3', '342.2', '10000', '15234', '1.5e+09']
    """
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.4g}"


def name_lines(ax: Axes, lines: Sequence[Line2D], names: Sequence[str]) -> None:
    """Write each line's name right of its end; in a legend where no layout engine makes room for that."""
    if not has_layout(ax):
        size = TEXT if len(names) < 8 else TEXT - 1.5
        legend = ax.legend(lines, names, fontsize=size, labelcolor=INK, handlelength=2.8, edgecolor="none")
        for text in legend.get_texts():
            text.set_parse_math(False)
        return
    low, high = ax.get_ylim()
    gap = 1.35 * TEXT / room(ax)[1] * (high - low)
    points = (np.asarray(drawn.get_xydata())[-1] for drawn in lines)
    ends = [(x, min(max(y, low), high)) for x, y in points]  # a line that leaves the axes is named at their edge
    heights = spread(np.array([y for _, y in ends]), gap, low + gap / 2, high)
    for drawn, name, (x, y), height in zip(lines, names, ends, heights, strict=True):
        ax.annotate(
            name,
            xy=(x, y),
            xytext=(1.04, height),
            textcoords=ax.get_yaxis_transform(),
            color=_dark(str(drawn.get_color())),
            fontsize=TEXT,
            va="center",
            parse_math=False,  # a name may hold dollars
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": drawn.get_color(),
                "linewidth": 0.7,
                "alpha": 0.7,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 4.5,
            },
        )


def _dark(color: str) -> tuple[float, float, float]:
    """The colour with a third of black: thin letters need more contrast than lines."""
    red, green, blue = to_rgb(color)
    return red * 0.67, green * 0.67, blue * 0.67


def check_trajectory(given: object) -> None:
    """Refuse what is no trajectory, such as the model that makes one."""
    if not isinstance(given, Trajectory):
        message = f"trajectory must be a trajectory, such as model.rollout(X), not a {type(given).__name__}"
        raise ParameterError("wrong_type", message, name="trajectory", value=given)


def check_grid(grid: object, trajectory: Trajectory) -> None:
    """Refuse what is no grid, or the grid of other images than the trajectory's."""
    if not isinstance(grid, Grid):
        what = "None" if grid is None else f"a {type(grid).__name__}"
        message = (
            f"grid must be that of a model of images, model.schema_.grid, not {what} (a model of a table has none)"
        )
        raise ParameterError("wrong_type", message, name="grid", value=grid)
    last = int(trajectory.order.max(initial=-1))
    if last >= grid.n_patches:
        high = grid.n_patches - 1
        message = f"grid has the patches 0 to {high}, but the trajectory asked for {last}; use the same model's grid"
        raise ParameterError("wrong_shape", message, name="grid", value=last, high=high)


def whole_numbers(name: str, given: Any, what: str) -> list[int]:
    """The argument of that name as integers, where `what` says what they count.

    >>> whole_numbers("rows", range(2), "places of cases")
    [0, 1]
    """
    try:
        return [index(number) for number in given]
    except TypeError:
        raise bad_value("wrong_type", name, given, f"a list of integers, {what}") from None


def is_regression(trajectory: Trajectory) -> bool:
    """Whether a mean is predicted, not classes."""
    return trajectory.predictions.shape[2] == 1 and trajectory.outputs in ((), ("mean",))
