"""Stopping each case where enough is known: what it saves, with thresholds chosen on the validation rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from askless.experiments.report.grids import Cell, Grid, make_grid
from askless.experiments.report.kinds import CONTROLS
from askless.experiments.report.money import SIZE
from askless.experiments.report.statistics import t_interval
from askless.experiments.spending import FIXED
from askless.plotting.style import axes, colour, line, name_lines, shorten

if TYPE_CHECKING:
    from askless.experiments.report.study import Entry, Run, Study, Subject

__all__ = ["Stop", "about_stopping", "best_number", "cheapest_stop", "frontier_figure", "stopping_grid", "stops"]

MOST_LINES = 4  # methods in one figure
CHOSEN_BY = "log_loss"


@dataclass(frozen=True)
class Stop:
    """A rule with its threshold, and what the test rows say of it."""

    rule: str
    threshold: float
    money: float  # for a case, on average
    scores: dict[str, float]


def stops(subject: Subject) -> bool:
    """Whether the results of a data set tell where rules stop, on validation rows too."""
    results = [run.result for entry in subject.entries.values() for run in entry.runs]
    return subject.classifies and all("stopping_valid" in result for result in results)


def best_number(run: Run) -> Stop:
    """The number of questions that is best on the validation rows, the same for every case."""
    return _stop(run, FIXED, int(np.argmin(run.result["stopping_valid"][FIXED][CHOSEN_BY])))


def cheapest_stop(run: Run) -> Stop:
    """Of all rules and thresholds that are, on the validation rows, no worse than the best number of questions for
    every case, the one that costs least there."""
    valid = run.result["stopping_valid"]
    enough = min(valid[FIXED][CHOSEN_BY])
    fit = [
        (part["cost"][i], rule, i)
        for rule, part in valid.items()
        for i, loss in enumerate(part[CHOSEN_BY])
        if loss <= enough
    ]
    _, rule, i = min(fit)
    return _stop(run, rule, i)


def _stop(run: Run, rule: str, i: int) -> Stop:
    part: dict[str, list[Any]] = run.result["stopping"][rule]
    told = {name: float(values[i]) for name, values in part.items()}
    return Stop(rule, told["threshold"], told["cost"], told)


def stopping_grid(study: Study) -> Grid:
    """The score where the chosen rules stop, and for how much money."""

    def cell(subject: Subject, entry: Entry) -> Cell:
        name, scale = subject.metric.__name__, subject.scale
        chosen, fixed = [cheapest_stop(run) for run in entry.runs], [best_number(run) for run in entry.runs]
        score = t_interval([stop.scores[name] for stop in chosen])
        beside = float(np.mean([stop.scores[name] for stop in fixed]))
        money, beside_money = (float(np.mean([stop.money for stop in stopped])) for stopped in (chosen, fixed))
        small = f"for {money:.4g}; {scale.number(beside)} for {beside_money:.4g} with one number for all"
        return Cell(scale.number(score.mean), scale.plus_minus(score), small)

    subjects = [subject for subject in study.subjects if stops(subject)]
    return make_grid(study, subjects, lambda subject: subject.metric_label, cell)


def about_stopping() -> str:
    """How to read the table."""
    return (
        "What test cases cost on average, and the score, where each stops by a rule: the cheapest of all rules and "
        "thresholds that, on the validation rows, has no higher log loss than the best number of questions for every "
        "case. Below it that number's, chosen on the validation rows too."
    )


def frontier_figure(study: Study, subject: Subject, against: str | None) -> Figure:
    """The score against the mean money spent: by a rule, and with one number of questions for all (thin)."""
    name = subject.metric.__name__
    ax = axes(None, SIZE)
    rows = [row for row in study.rows if row.label in subject.entries and row.kind != CONTROLS]
    lines = []
    for i, row in enumerate(sorted(rows, key=lambda row: row.label != against)[:MOST_LINES]):
        parts = [run.result["stopping"] for run in subject.entries[row.label].runs]
        rule = "information_per_cost" if "information_per_cost" in parts[0] else "confidence"
        ax.plot(*_mean_line(parts, FIXED, name), color=colour(i), linewidth=0.9, alpha=0.7)
        lines.append(line(ax, i, *_mean_line(parts, rule, name), row.label))
    ax.set_xlabel("money for a case, on average")
    ax.set_ylabel(subject.metric.label)
    name_lines(ax, lines, shorten([str(drawn.get_label()) for drawn in lines], 24))
    figure = ax.figure
    assert isinstance(figure, Figure)
    return figure


def _mean_line(parts: list[dict[str, Any]], rule: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Money and score at each threshold, means over the runs; as many thresholds as all of them have."""
    count = min(len(part[rule]["cost"]) for part in parts)
    money, score = (np.mean([part[rule][key][:count] for part in parts], axis=0) for key in ("cost", name))
    return money, score
