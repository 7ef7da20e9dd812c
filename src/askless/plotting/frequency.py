"""How often each feature is asked within each budget."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from askless.acquisition.trajectory import Trajectory
from askless.exceptions import ParameterError
from askless.plotting.given import check_trajectory
from askless.plotting.style import HEAT, INK, TEXT, axes, percent, room, shorten

__all__ = ["plot_selection_frequency"]


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
    check_trajectory(trajectory)
    if max_features < 1:
        raise ParameterError(
            "out_of_range",
            f"max_features must be at least 1, not {max_features}",
            name="max_features",
            value=max_features,
            low=1,
        )
    if not (trajectory.order >= 0).any():
        raise ParameterError("required", "no feature was asked, so there is nothing to plot", name="trajectory")
    budgets = np.arange(1, trajectory.order.shape[1] + 1)
    shares = np.array([trajectory.selected(k).mean(axis=0) for k in budgets]).T  # (features, budgets)
    # By the share in the end; of equals first what is asked sooner.
    ranked = np.lexsort((-shares.sum(axis=1), -shares[:, -1]))
    ranked = ranked[shares[ranked, -1] > 0]
    shown = ranked[:max_features]
    names = shorten([trajectory.feature_names[i] for i in shown])

    letters = 0.07 * max(map(len, names))
    wide = min(14.0, max(4.2, 1.6 + letters + 0.36 * len(budgets)))
    ax = axes(ax, (wide, max(2.2, 1.0 + 0.25 * len(shown))), grid=False, pyplot=pyplot)
    mesh = ax.pcolormesh(shares[shown], cmap=HEAT, vmin=0, vmax=1, edgecolors="white", linewidth=1.2)
    ax.invert_yaxis()
    ax.spines["bottom"].set_visible(False)
    ax.set_yticks(np.arange(len(shown)) + 0.5, names, parse_math=False)
    ax.set_xlabel("features asked" + _left_out(len(shown), len(ranked), len(shares)))
    bar = ax.figure.colorbar(mesh, ax=ax, format=PercentFormatter(1), ticks=np.linspace(0, 1, 5), aspect=30, pad=0.03)
    bar.set_label("share of cases", color=INK, size=TEXT)
    bar.ax.tick_params(labelsize=TEXT - 1, length=0, colors=INK)
    bar.outline.set_visible(False)

    cell = np.array(room(ax)) / shares[shown].T.shape  # its width and height in points
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
    """Write percentages into the cells, if they can be read."""
    if size < 5:
        return
    for (row, column), share in np.ndenumerate(shares):
        if share > 0:
            color = "white" if share > 0.55 else INK
            ax.text(column + 0.5, row + 0.5, percent(share), ha="center", va="center", fontsize=size, color=color)
