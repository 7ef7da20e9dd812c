"""Tables with a row for each method and a column for each data set, independent of the output format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from askless.experiments.report import words
from askless.experiments.report.kinds import CONTROL, DYNAMIC, STATIC, UNKNOWN
from askless.experiments.report.leads import Lead
from askless.experiments.report.numbers import Scale, amount, duration, scale_of
from askless.experiments.report.statistics import t_interval
from askless.experiments.report.study import Entry, Row, Study, Subject

__all__ = [
    "TITLES",
    "Cell",
    "Grid",
    "calibration_grid",
    "lead_grid",
    "make_grid",
    "relevant_grid",
    "resource_grid",
    "score_grid",
]

DASH = "–"
TITLES = {
    STATIC: "Static: one order for all cases",
    DYNAMIC: "Dynamic: the answers decide",
    UNKNOWN: "Unknown kind: not a method of this version of askless",
    CONTROL: "Controls",
}
ECE = Scale(100.0, 2)
STEPS = Scale(1.0, 3)


@dataclass(frozen=True)
class Cell:
    """A cell of a table: a number, text after it, and smaller text below."""

    main: str = DASH
    after: str = ""
    small: str = ""
    bold: bool = False


@dataclass(frozen=True)
class Grid:
    """A table: columns with two lines of heading, and rows in groups."""

    columns: tuple[tuple[str, str], ...]  # a data set, and the meaning of its numbers (may have several lines)
    groups: tuple[tuple[str, tuple[tuple[str, tuple[Cell, ...]], ...]], ...] = field(repr=False)

    def __bool__(self) -> bool:
        return bool(self.columns and self.groups)


def make_grid(
    study: Study, subjects: list[Subject], head: Callable[[Subject], str], cell: Callable[[Subject, Entry], Cell]
) -> Grid:
    """The table. A method without results on a data set has a dash there; a method without any has no row."""
    groups = []
    for kind, title in TITLES.items():
        lines = []
        for row in study.of_kind(kind):
            cells = tuple(_filled(subject, row, cell) for subject in subjects)
            if any(filled.main != DASH for filled in cells):
                lines.append((row.label, cells))
        if lines:
            groups.append((title, tuple(lines)))
    return Grid(tuple((subject.name, head(subject)) for subject in subjects), tuple(groups))


def _filled(subject: Subject, row: Row, cell: Callable[[Subject, Entry], Cell]) -> Cell:
    entry = subject.entries.get(row.label)
    return Cell() if entry is None else cell(subject, entry)


def score_grid(study: Study) -> Grid:
    """The mean over budgets and runs, with published results."""

    def cell(subject: Subject, entry: Entry) -> Cell:
        label, scale = entry.row.label, subject.scale
        estimate = subject.scores[label]
        if not np.isfinite(estimate.mean):
            return Cell()
        known = subject.published.figures.get(label) if subject.published else None
        small = [f"published {known}"] if known else []
        if len(entry.runs) != subject.runs:
            small.append(f"seeds: {len(entry.runs)}")
        return Cell(
            scale.number(estimate.mean), scale.plus_minus(estimate), "; ".join(small), bold=label in subject.best
        )

    return make_grid(study, list(study.subjects), words.head, cell)


def lead_grid(study: Study, leads: dict[tuple[str, str], Lead]) -> Grid:
    """The lead of the chosen method, by data set and method."""

    def cell(subject: Subject, entry: Entry) -> Cell:
        lead = leads.get((subject.name, entry.row.label))
        if lead is None or not np.isfinite(lead.score.mean):
            return Cell()
        below = subject.scale.span(lead.score, signed=True)
        if lead.loss is not None and lead.loss.low is not None and lead.loss.high is not None:
            loss = scale_of("loss", [lead.loss.low, lead.loss.high])
            mean, span = loss.number(lead.loss.mean, signed=True), loss.span(lead.loss, signed=True)
            below = f"{lead.loss_name} {mean} ({span})"
        main = subject.scale.number(lead.score.mean, signed=True)
        return Cell(main, small=below, bold=lead.score.beyond_chance)

    return make_grid(study, list(study.subjects), lambda subject: subject.metric_label, cell)


def calibration_grid(study: Study) -> Grid:
    """The mean expected calibration error over budgets and runs."""

    def cell(subject: Subject, entry: Entry) -> Cell:
        estimate = entry.estimate("ece")
        if not np.isfinite(estimate.mean):
            return Cell()
        return Cell(ECE.number(estimate.mean), ECE.plus_minus(estimate))

    classified = [subject for subject in study.subjects if subject.classifies]
    return make_grid(study, classified, lambda subject: "ECE ×100", cell)


def relevant_grid(study: Study) -> Grid:
    """The steps until all relevant features were asked, on data sets that know them."""

    def cell(subject: Subject, entry: Entry) -> Cell:
        known = [run.result["relevant"] for run in entry.runs if "relevant" in run.result]
        if not known or not all(each["found"] for each in known):
            return Cell()
        found = min(each["found"] for each in known)
        small = "" if found == 1.0 else f"in {100 * found:.1f}% of the cases"
        estimate = t_interval([each["steps"] for each in known])
        return Cell(STEPS.number(estimate.mean), STEPS.plus_minus(estimate), small)

    def head(subject: Subject) -> str:
        least = [run.result["relevant"]["least"] for entry in subject.entries.values() for run in entry.runs]
        return f"at least {STEPS.number(float(np.mean(least)))}"

    def knows(subject: Subject) -> bool:
        return all("relevant" in run.result for entry in subject.entries.values() for run in entry.runs)

    return make_grid(study, [subject for subject in study.subjects if knows(subject)], head, cell)


def resource_grid(study: Study) -> Grid:
    """Time and memory of a fit, and the speed of roll-outs."""

    def cell(subject: Subject, entry: Entry) -> Cell:
        fit, memory = np.mean(entry.measured("fit_cpu_seconds")), np.max(entry.measured("peak_memory_mb"))
        speed = rows_per_second(entry)
        return Cell(duration(float(fit)), small=f"{amount(speed)} cases/s; {amount(float(memory))} MB")

    return make_grid(study, list(study.subjects), lambda subject: "CPU time of a fit", cell)


def rows_per_second(entry: Entry) -> float:
    """Test cases per second of a roll-out, mean over runs."""
    cases = entry.runs[0].result["data"]["rows"]["test"]
    return float(cases / max(np.mean(entry.measured("rollout_seconds")), 1e-9))
