"""The effect of stopping rules, with thresholds chosen on the validation rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.experiments.report.grids import Cell, Grid, make_grid
from askless.experiments.report.kinds import CONTROL
from askless.experiments.report.money import SIZE, finished
from askless.experiments.report.numbers import count
from askless.experiments.report.statistics import t_interval
from askless.experiments.spending import FIXED
from askless.plotting.style import axes, colour, line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from askless.experiments.report.study import Entry, Run, Study, Subject

__all__ = [
    "Stop",
    "about_frontier",
    "about_stopping",
    "best_number",
    "cheapest_stop",
    "frontier_figure",
    "mean_of",
    "stopping_grid",
    "stops",
    "tells",
]

MOST_LINES = 4  # methods in one figure
WORTH, SURE = "information_per_cost", "confidence"


@dataclass(frozen=True)
class Stop:
    """A rule with its results on the test rows."""

    rule: str
    told: dict[str, float]  # its threshold, the mean cost of a case, and scores

    def __str__(self) -> str:
        """
        >>> str(Stop("confidence", {"threshold": 0.98})), str(Stop(FIXED, {"threshold": 7}))
        ('confidence 0.98', '7 questions')
        """
        threshold = self.told["threshold"]
        return count(round(threshold), "question") if self.rule == FIXED else f"{self.rule} {threshold:.3g}"


def stops(subject: Subject) -> bool:
    """Whether all results of a data set have the parts on stopping."""
    return subject.classifies and all(tells(run) for entry in subject.entries.values() for run in entry.runs)


def tells(run: Run) -> bool:
    """Whether a result has all parts to choose a threshold; results of earlier versions may lack some."""
    return "excess" in run.result.get("stopping_valid", {}).get(FIXED, {})


def best_number(run: Run) -> Stop:
    """The fixed number of questions that is best on the validation rows."""
    return _stop(run, FIXED, int(np.argmin(run.result["stopping_valid"][FIXED]["excess"])))


def cheapest_stop(run: Run) -> Stop:
    """The cheapest rule and threshold on the validation rows that is as good as the best fixed number of questions.

    "As good" means: worse by at most one standard error of the difference.
    """
    fit = [
        (part["cost"][i], rule, i)
        for rule, part in run.result["stopping_valid"].items()
        for i in np.flatnonzero(np.array(part["excess"]) <= np.array(part["excess_error"])).tolist()
    ]
    _, rule, i = min(fit)
    return _stop(run, rule, i)


def _stop(run: Run, rule: str, i: int) -> Stop:
    part: dict[str, list[Any]] = run.result["stopping"][rule]
    return Stop(rule, {name: float(values[i]) for name, values in part.items()})


def mean_of(chosen: list[Stop], name: str) -> float:
    """The mean cost or score over the stops of all runs."""
    return float(np.mean([stop.told[name] for stop in chosen]))


def stopping_grid(study: Study) -> Grid:
    """The score and the mean cost with the chosen rules."""

    def cell(subject: Subject, entry: Entry) -> Cell:
        if entry.row.everything:
            return Cell()
        name, scale = subject.metric.__name__, subject.scale
        chosen, fixed = [cheapest_stop(run) for run in entry.runs], [best_number(run) for run in entry.runs]
        score = t_interval([stop.told[name] for stop in chosen])
        small = (
            f"for {mean_of(chosen, 'cost'):.4g} ({', '.join(map(str, chosen))}); "
            f"{scale.number(mean_of(fixed, name))} for {mean_of(fixed, 'cost'):.4g} ({', '.join(map(str, fixed))})"
        )
        return Cell(scale.number(score.mean), scale.plus_minus(score), small)

    subjects = [subject for subject in study.subjects if stops(subject)]
    return make_grid(study, subjects, lambda subject: subject.metric_label, cell)


def about_stopping() -> str:
    """Explains the table."""
    return (
        "The score and the mean cost of the test cases with a stopping rule. They are chosen on the validation "
        "rows: the cheapest of those whose log loss is at most one standard error above that of the "
        "best fixed number of questions. After the semicolon: the score and the mean cost of that fixed number. In "
        "brackets: the choice of each run."
    )


def frontier_figure(study: Study, subject: Subject, against: str | None) -> Figure:
    """The score against the mean cost, with a rule and with a fixed number of questions (thin)."""
    name = subject.metric.__name__
    ax = axes(None, SIZE)
    rows = [row for row in study.rows if row.label in subject.entries and row.kind != CONTROL]
    lines = []
    for i, row in enumerate(sorted(rows, key=lambda row: row.label != against)[:MOST_LINES]):
        parts = [run.result["stopping"] for run in subject.entries[row.label].runs]
        rule = (
            WORTH if all(WORTH in part for part in parts) else SURE
        )  # `auto` may keep another policy with each seed
        ax.plot(*_mean_line(parts, FIXED, name), color=colour(i), linewidth=0.9, alpha=0.7)
        lines.append(line(ax, i, *_mean_line(parts, rule, name), row.label))
    return finished(ax, lines, "mean cost of a case", subject.metric.label)


def about_frontier() -> str:
    """Explains the figure."""
    return (
        "Each case stops when no remaining feature is worth its price. Methods that do not estimate information stop "
        "when the most probable class exceeds a threshold. Thin lines use a fixed number of questions for every "
        f"case. At most {MOST_LINES} methods are shown."
    )


def _mean_line(parts: list[dict[str, Any]], rule: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean cost and mean score over the runs at each threshold."""
    money, score = (np.mean([part[rule][key] for part in parts], axis=0) for key in ("cost", name))
    return money, score
