"""Scores against money: what a table and a figure show where questions have prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from askless.experiments.report.grids import Cell, Grid, make_grid
from askless.experiments.report.kinds import CONTROLS, FEWEST_FOR_BAND
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
    """Whether all results of a data set say what money buys."""
    return all("money" in run.result for entry in subject.entries.values() for run in entry.runs)


def money_curves(entry: Entry, name: str) -> tuple[np.ndarray, np.ndarray]:
    """(levels,) of money, and (runs, levels) a score with at most so much to spend on each case.

    A level is a share of what all features of a run cost. Where some runs lack a feature, whose column is empty in
    their training rows, the amounts differ a little: the mean is told.
    """
    levels, scores = (
        np.array([run.result["money"][part] for run in entry.runs], dtype=np.float64) for part in ("money", name)
    )
    return levels.mean(axis=0), scores


def money_grid(study: Study) -> Grid:
    """The mean over the amounts of money and the runs, and for how much the best score is had."""

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
    """How to read the table and the figures."""
    return (
        "The mean over fourteen amounts of money, from 2 % to all of what the features of a data set cost; below it, "
        "the best score and the smallest amount that it was had for. Each case may spend as much; what is too dear "
        "for it is passed over. Methods that ignore costs are fitted, and ask, without regard to prices; they pay."
    )


def money_figure(study: Study, subject: Subject, against: str | None) -> Figure:
    """The score against the money that each case may spend."""
    name = subject.metric.__name__
    ax = axes(None, SIZE)
    rows = sorted(study.rows, key=lambda row: row.label != against)
    lines, place = [], 0
    for row in rows:
        entry = subject.entries.get(row.label)
        if entry is None:
            continue
        levels, scores = money_curves(entry, name)
        if row.kind == CONTROLS:
            lines += ax.plot(levels, scores.mean(axis=0), color=QUIET, linewidth=1.2, dashes=(2, 2), label=row.label)
            continue
        estimates = [t_interval(column) for column in scores.T.tolist()]
        if len(entry.runs) >= FEWEST_FOR_BAND and place < 2:  # bands of all would hide the lines
            low, high = (np.array([getattr(each, end) for each in estimates]) for end in ("low", "high"))
            band(ax, place, levels, low, high)
        lines.append(line(ax, place, levels, np.array([each.mean for each in estimates]), row.label))
        place += 1
    return finished(ax, lines, "money for each case", subject.metric.label)


def finished(ax: Axes, lines: Sequence[Line2D], x: str, y: str) -> Figure:
    """The figure of the axes, whose sides and lines are named."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    name_lines(ax, lines, shorten([str(drawn.get_label()) for drawn in lines], 24))
    figure = ax.figure
    assert isinstance(figure, Figure)
    return figure
