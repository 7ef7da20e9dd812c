"""The lead of the chosen method over each other method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.experiments.report.statistics import Estimate, case_lead, paired_lead
from askless.experiments.report.study import Entry, Study, Subject

__all__ = ["Lead", "leads_over", "standing"]


@dataclass(frozen=True)
class Lead:
    """The lead of the chosen method over another one on a data set; above 0 it is better, for every metric."""

    score: Estimate  # of the metric, paired over runs
    loss: Estimate | None  # of the loss over test cases, if they share exactly one run
    loss_name: str


def leads_over(study: Study, against: str) -> dict[tuple[str, str], Lead]:
    """The lead of `against` by data set and method, over runs with the same seed and split."""
    leads = {}
    for subject in study.subjects:
        chosen = subject.entries.get(against)
        if chosen is None or chosen.row.everything:
            continue
        for label, other in subject.entries.items():
            if label != against and not other.row.everything:  # a score with all features is no mean over budgets
                lead = _lead(subject, chosen, other)
                if lead is not None:
                    leads[subject.name, label] = lead
    return leads


def _lead(subject: Subject, chosen: Entry, other: Entry) -> Lead | None:
    name = subject.metric.__name__
    better = subject.metric.greater_is_better
    score = paired_lead(chosen.scores(name), other.scores(name), greater_is_better=better)
    if score is None:
        return None
    loss = _loss_lead(chosen, other) if score.n == 1 else None
    return Lead(score, loss, "log loss" if subject.classifies else "squared error")


def _loss_lead(chosen: Entry, other: Entry) -> Estimate | None:
    """The lead in the loss of single cases, in the run that both share."""
    theirs = {run.key: run for run in other.runs}
    ours = next(run for run in chosen.runs if run.key in theirs)
    pair = [
        run.loss[:, np.isin(run.budgets, entry.budgets)].mean(axis=1)
        for run, entry in ((ours, chosen), (theirs[ours.key], other))
        if run.loss is not None
    ]
    if len(pair) < 2:
        return None
    if len(pair[0]) != len(pair[1]) or not np.isfinite(pair).all():  # an infinite loss
        return None
    return case_lead(*pair)


def standing(subject: Subject, against: str, leads: dict[tuple[str, str], Lead]) -> str:
    """The rank of the chosen method on a data set: "first", "level" with the first, "behind" it, or "absent"."""
    if against not in subject.entries or not subject.best:
        return "absent"
    if against in subject.best:
        return "first"
    lead = leads.get((subject.name, min(subject.best)))
    if lead is None or lead.score.low is None:
        return "behind"
    return "behind" if lead.score.beyond_chance else "level"
