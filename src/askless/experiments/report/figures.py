"""The report's figures: curves against the budget, leads as a forest plot, and selection frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from askless.acquisition.trajectory import Trajectory
from askless.experiments.report.kinds import CONTENDERS, CONTROL, DYNAMIC, FEWEST_FOR_BAND, STATIC, UNKNOWN
from askless.experiments.report.statistics import t_interval
from askless.plotting import plot_selection_frequency
from askless.plotting.style import GRID, INK, PALETTE, QUIET, TEXT, axes, band, line, name_lines, new_figure, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from askless.experiments.report.leads import Lead
    from askless.experiments.report.study import Entry, Row, Run, Study, Subject

__all__ = ["curve_figure", "heat_figure", "lead_figure", "panels"]

WIDTH = 6.0  # inches of a panel
ONE_PANEL = 8  # lines that are readable in one panel
WIDE = 0.4  # of the figure's height: bands above it hide other lines
CONTROL_DASHES = {"random": (1.4, 1.3), "all_features": (7, 2), "oracle_order": (6, 1.4, 1.4, 1.4)}
KIND_LOOKS = {DYNAMIC: (PALETTE[0], "o"), STATIC: (PALETTE[1], "s"), UNKNOWN: (PALETTE[2], "D")}
HEAT_ROWS = 20


def panels(study: Study, subject: Subject) -> list[tuple[str, ...]]:
    """The kinds of methods that share a panel: all in one, or one panel for each kind if there are many methods."""
    present = [entry.row.kind for entry in subject.entries.values() if entry.row.kind != CONTROL]
    if len(present) <= ONE_PANEL or len(set(present)) < 2:
        return [CONTENDERS]
    return [(kind,) for kind in CONTENDERS if kind in present]


def curve_figure(
    study: Study, subject: Subject, curve: str, label: str, against: str | None, kinds: list[tuple[str, ...]]
) -> Figure:
    """A score against the budget, with bands; a panel for each of `kinds`, on the same scale."""
    height = 1.4 + 0.19 * max(7, len(subject.entries) * (0.75 if len(kinds) > 1 else 1.0))
    figure = new_figure((WIDTH * len(kinds), max(3.7, height)), pyplot=False)
    low, high = _limits(subject, curve)
    for place, shown in enumerate(kinds):
        ax = axes(figure.add_subplot(1, len(kinds), place + 1), (0, 0))
        ax.set_ylim(low, high)
        lines = _draw(ax, study, subject, curve, against, shown)
        ax.set_ylabel(label if place == 0 else "")
        ax.set_xlabel("features asked")
        ax.xaxis.set_major_locator(MaxNLocator(nbins=10, steps=[1, 2, 5, 10], integer=True))
        if subject.metric.__name__ in ("auroc", "accuracy") or curve == "ece":
            ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}"))
        if len(shown) == 1:
            ax.set_title(
                shown[0] if shown[0] != UNKNOWN else "unknown kind",
                loc="left",
                fontsize=TEXT + 1,
                color=INK,
                fontweight="bold",
                pad=10,
            )
        name_lines(ax, lines, shorten([str(drawn.get_label()) for drawn in lines], 24))
    return figure


def _limits(subject: Subject, curve: str) -> tuple[float, float]:
    """The range of all mean lines, with a margin. Bands are ignored: with two runs they can be very wide.

    Controls may leave the figure at the end of bad scores, so that contenders keep their space.
    """
    means = {label: entry.curves(curve).mean(axis=0) for label, entry in subject.entries.items()}
    contenders = [line for label, line in means.items() if subject.entries[label].row.kind != CONTROL]
    lower_is_better = curve == "ece" or not subject.metric.greater_is_better
    every, some = (_finite(lines) for lines in (list(means.values()), contenders or list(means.values())))
    low, high = (every if lower_is_better else some).min(), (some if lower_is_better else every).max()
    margin = 0.06 * max(high - low, 1e-3)
    return float(low - margin), float(high + margin)


def _finite(lines: list[np.ndarray]) -> np.ndarray:
    values = np.concatenate(lines)
    finite = values[np.isfinite(values)]
    return finite if len(finite) else np.array([0.0, 1.0])


def _draw(
    ax: Axes, study: Study, subject: Subject, curve: str, against: str | None, kinds: tuple[str, ...]
) -> list[Line2D]:
    """The lines of a panel. The chosen method is first and looks the same in every panel; controls are grey."""
    entries = [subject.entries[row.label] for row in _ranked(study, against) if row.label in subject.entries]
    lines, place = [], 1
    for entry in entries:
        own = entry.row.kind in kinds
        if entry.row.kind == CONTROL:
            lines.append(_control(ax, subject, entry, curve))
        elif own or entry.row.label == against:
            i = 0 if entry.row.label == against else place
            if i > 0:
                place += (
                    2 if (place + 1) % len(PALETTE) == 0 else 1
                )  # no other method has the colour of the chosen one
            middle, low, high = _band(entry, curve)
            if low is not None and high is not None and (i == 0 or not _covers(ax, curve, low, high)):
                band(ax, i, entry.budgets, low, high)
            lines.append(line(ax, i, entry.budgets, middle, entry.row.label))
    return lines


def _covers(ax: Axes, curve: str, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether bands would hide the lines: calibration curves overlap, and few runs give wide bands."""
    bottom, top = ax.get_ylim()
    return curve == "ece" or float(np.median(high - low)) > WIDE * (top - bottom)


def _ranked(study: Study, against: str | None) -> list[Row]:
    return sorted(study.rows, key=lambda row: row.label != against)


def _control(ax: Axes, subject: Subject, entry: Entry, curve: str) -> Line2D:
    """The line of a control; the score with all features is a horizontal line."""
    middle = entry.curves(curve).mean(axis=0)
    budgets = entry.budgets
    if entry.row.everything:
        budgets, middle = np.array([1, subject.limit]), np.repeat(middle, 2)
    dashes = CONTROL_DASHES.get(entry.row.method, (2, 2))
    (drawn,) = ax.plot(budgets, middle, color=QUIET, linewidth=1.2, dashes=dashes, zorder=2, label=entry.row.label)
    return drawn


def _band(entry: Entry, curve: str) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """(budgets,) each: the mean over runs and its pointwise interval."""
    estimates = [t_interval(column) for column in entry.curves(curve).T]
    middle = np.array([estimate.mean for estimate in estimates])
    if len(entry.runs) < FEWEST_FOR_BAND:
        return middle, None, None
    low, high = (np.array([getattr(estimate, end) for estimate in estimates]) for end in ("low", "high"))
    return middle, low, high


def lead_figure(study: Study, subject: Subject, against: str, leads: dict[tuple[str, str], Lead]) -> Figure | None:
    """The lead of the chosen method over each contender, smallest on top; None if there are none."""
    rows = [row for row in study.rows if row.kind != CONTROL and (subject.name, row.label) in leads]
    if not rows:
        return None
    rows.sort(key=lambda row: leads[subject.name, row.label].score.mean)
    factor = subject.scale.factor
    ax = axes(None, (WIDTH, 1.3 + 0.27 * len(rows)), grid=False)
    ax.grid(axis="x", color=GRID, linewidth=0.8)
    ax.axvline(0.0, color=QUIET, linewidth=1.0)
    for place, row in enumerate(rows):
        lead = leads[subject.name, row.label].score
        colour, marker = KIND_LOOKS[row.kind]
        if lead.low is not None and lead.high is not None:
            ax.plot([lead.low * factor, lead.high * factor], [place, place], color=colour, linewidth=2.2, alpha=0.5)
        filled = colour if lead.beyond_chance or lead.low is None else "white"
        ax.plot(lead.mean * factor, place, marker=marker, color=colour, markerfacecolor=filled, markersize=6)
    ax.set_yticks(range(len(rows)), shorten([row.label for row in rows]), parse_math=False)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel(f"lead of {against} in {subject.metric_label}", parse_math=False)
    figure = ax.figure
    assert isinstance(figure, Figure)
    return figure


def heat_figure(entry: Entry) -> Figure | None:
    """How often each feature is asked within each budget, over the test cases of all runs; None if nothing is."""
    names = _every_feature(entry)
    width = max(run.order.shape[1] for run in entry.runs)
    orders = [_order_of(run, names) for run in entry.runs]
    padded = [np.pad(order, ((0, 0), (0, width - order.shape[1])), constant_values=-1) for order in orders]
    order = np.concatenate(padded)[:, : entry.limit]
    if not (order >= 0).any():
        return None
    asked = Trajectory(
        order=order,
        predictions=np.zeros((len(order), order.shape[1] + 1, 1)),
        cost=np.zeros((len(order), order.shape[1] + 1)),
        stop_reason=np.full(len(order), ""),
        feature_names=names,
    )
    ax = plot_selection_frequency(asked, max_features=HEAT_ROWS, pyplot=False)
    figure = ax.figure
    assert isinstance(figure, Figure)
    return figure


def _every_feature(entry: Entry) -> tuple[str, ...]:
    """The features of all runs: a column that is empty in the training rows of a split is no feature of that run."""
    return tuple(dict.fromkeys(name for run in entry.runs for name in run.result["data"]["features"]))


def _order_of(run: Run, names: tuple[str, ...]) -> np.ndarray:
    """(n, k) features asked of each test case, as indices into `names`; -1 after the last."""
    places = {name: place for place, name in enumerate(names)}
    own = np.array([*(places[name] for name in run.result["data"]["features"]), -1])  # the last item stands for -1
    return np.asarray(own[run.order])
