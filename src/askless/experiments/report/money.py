"""Scores against money: a table and a figure for data sets with prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from askless.experiments.report.grids import Cell, Grid, make_grid
from askless.experiments.report.kinds import CONTROL, FEWEST_FOR_BAND
from askless.experiments.report.statistics import t_interval
from askless.plotting.style import QUIET, axes, band, line, name_lines, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from askless.experiments.report.study import Entry, Study, Subject

__all__ = ["about_money", "finished", "money_figure", "money_grid", "priced"]

SIZE = (6.4, 4.2)  # inches


def priced(subject: Subject) -> bool:
    """Whether all results of a data set have scores by money."""
    return all("money" in run.result for entry in subject.entries.values() for run in entry.runs)


def money_curves(entry: Entry, name: str) -> tuple[np.ndarray, np.ndarray]:
    """(levels,) amounts of money, and (runs, levels) the score with this limit for each case.

    A level is a fraction of the total cost of all features. Runs whose training rows have an empty column lack a
    feature, so their amounts differ slightly; the mean is returned.
    """
    levels, scores = (
        np.array([run.result["money"][part] for run in entry.runs], dtype=np.float64) for part in ("money", name)
    )
    return levels.mean(axis=0), scores


def money_grid(study: Study) -> Grid:
    """The mean over amounts of money and runs, and the smallest amount with the best score."""

    def cell(subject: Subject, entry: Entry) -> Cell:
        levels, scores = money_curves(entry, subject.metric.__name__)
        estimate = t_interval(scores.mean(axis=1).tolist())
        mean = scores.mean(axis=0)
        best = int(mean.argmax() if subject.metric.greater_is_better else mean.argmin())
        small = f"best {subject.scale.number(float(mean[best]))} for {levels[best]:.4g}"
        return Cell(subject.scale.number(estimate.mean), subject.scale.plus_minus(estimate), small)

    subjects = [subject for subject in study.subjects if priced(subject)]
    return make_grid(study, subjects, lambda subject: subject.metric_label, cell)


def about_money(study: Study) -> str:
    """Explains the table and the figures."""
    return (
        "The mean score over fourteen limits, from 2% to 100% of the total cost of all features. The second line is "
        "the best score and the smallest limit that reaches it. Each case may spend up to the limit; features that "
        "cost more than the rest are skipped. Methods that ignore costs do not use prices in training or when "
        "they choose features, but they pay them."
    )


def money_figure(study: Study, subject: Subject, against: str | None) -> Figure:
    """The score against the limit for each case."""
    name = subject.metric.__name__
    ax = axes(None, SIZE)
    rows = sorted(study.rows, key=lambda row: row.label != against)
    lines, place = [], 0
    for row in rows:
        entry = subject.entries.get(row.label)
        if entry is None:
            continue
        levels, scores = money_curves(entry, name)
        if row.kind == CONTROL:
            lines += ax.plot(levels, scores.mean(axis=0), color=QUIET, linewidth=1.2, dashes=(2, 2), label=row.label)
            continue
        estimates = [t_interval(column) for column in scores.T.tolist()]
        if len(entry.runs) >= FEWEST_FOR_BAND and place < 2:  # more bands would hide the lines
            low, high = (np.array([getattr(each, end) for each in estimates]) for end in ("low", "high"))
            band(ax, place, levels, low, high)
        lines.append(line(ax, place, levels, np.array([each.mean for each in estimates]), row.label))
        place += 1
    return finished(ax, lines, "limit for each case", subject.metric.label)


def finished(ax: Axes, lines: Sequence[Line2D], x: str, y: str) -> Figure:
    """The figure of the axes, with axis labels and line labels."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    name_lines(ax, lines, shorten([str(drawn.get_label()) for drawn in lines], 24))
    figure = ax.figure
    assert isinstance(figure, Figure)
    return figure
