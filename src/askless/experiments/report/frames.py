"""The report's numbers in full precision, one table for each CSV file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.experiments.report.grids import rows_per_second
from askless.experiments.report.statistics import t_interval

if TYPE_CHECKING:
    import pandas as pd

    from askless.experiments.report.leads import Lead
    from askless.experiments.report.study import Entry, Study, Subject

__all__ = ["frames"]

RESOURCES = ("fit_seconds", "fit_cpu_seconds", "rollout_seconds")


def frames(study: Study, against: str | None, leads: dict[tuple[str, str], Lead]) -> dict[str, pd.DataFrame]:
    """By file name: scores, curves, differences, calibration and resources."""
    import pandas as pd

    lines = {
        "scores": [_score(subject, entry) for subject, entry in _entries(study)],
        "curves": [
            line
            for subject, entry in _entries(study)
            for name in entry.runs[0].result["curves"]
            if name != "budget"
            for line in _curve(subject, entry, name)
        ],
        "differences": [
            _difference(subject, entry, against, leads[subject.name, entry.row.label])
            for subject, entry in _entries(study)
            if (subject.name, entry.row.label) in leads
        ],
        "calibration": [
            line for subject, entry in _entries(study) if subject.classifies for line in _curve(subject, entry, "ece")
        ],
        "resources": [_resources(subject, entry) for subject, entry in _entries(study)],
    }
    return {f"{name}.csv": pd.DataFrame(rows) for name, rows in lines.items() if rows}


def _entries(study: Study) -> Iterator[tuple[Subject, Entry]]:
    for subject in study.subjects:
        for row in study.rows:
            if row.label in subject.entries:
                yield subject, subject.entries[row.label]


def _about(subject: Subject, entry: Entry) -> dict[str, Any]:
    return {"dataset": subject.name, "method": entry.row.label, "kind": entry.row.kind, "seeds": len(entry.runs)}


def _score(subject: Subject, entry: Entry) -> dict[str, Any]:
    label, estimate = entry.row.label, subject.scores[entry.row.label]
    known = subject.published.figures.get(label) if subject.published else None
    return {
        **_about(subject, entry),
        "metric": subject.metric.__name__,
        "budgets": f"{entry.budgets[0]}-{entry.budgets[-1]}",
        "mean": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "best": label in subject.best,
        "published": known,
    }


def _curve(subject: Subject, entry: Entry, name: str) -> Iterator[dict[str, Any]]:
    for budget, column in zip(entry.budgets, entry.curves(name).T, strict=True):
        estimate = t_interval(column)
        yield {
            **_about(subject, entry),
            "metric": name,
            "budget": int(budget),
            "mean": estimate.mean,
            "low": estimate.low,
            "high": estimate.high,
        }


def _difference(subject: Subject, entry: Entry, against: str | None, lead: Lead) -> dict[str, Any]:
    line = {
        **_about(subject, entry),
        "against": against,
        "metric": subject.metric.__name__,
        "pairs": lead.score.n,
        "lead": lead.score.mean,
        "low": lead.score.low,
        "high": lead.score.high,
        "loss": lead.loss_name,
        "loss_lead": None,
        "loss_low": None,
        "loss_high": None,
    }
    if lead.loss is not None:
        line |= {"loss_lead": lead.loss.mean, "loss_low": lead.loss.low, "loss_high": lead.loss.high}
    return line


def _resources(subject: Subject, entry: Entry) -> dict[str, Any]:
    return {
        **_about(subject, entry),
        **{name: float(np.mean(entry.measured(name))) for name in RESOURCES},
        "cases_per_second": rows_per_second(entry),
        "peak_memory_mb": float(np.max(entry.measured("peak_memory_mb"))),
    }
