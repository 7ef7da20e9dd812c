"""What the report says in words, the same in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from askless.experiments.report.kinds import CONTROLS, FEWEST_FOR_BAND
from askless.experiments.report.leads import standing
from askless.experiments.report.numbers import count

if TYPE_CHECKING:
    from askless.experiments.report.leads import Lead
    from askless.experiments.report.study import Study, Subject

__all__ = [
    "about_calibration",
    "about_calibration_curves",
    "about_curves",
    "about_forest",
    "about_heat",
    "about_leads",
    "about_relevant",
    "about_resources",
    "about_scores",
    "about_study",
    "about_subject",
    "facts",
    "head",
    "headline",
    "place",
    "published_notes",
]

Leads = dict[tuple[str, str], "Lead"]


def headline(study: Study, against: str | None, leads: Leads) -> str:
    """What was found, in one sentence."""
    compared = [subject for subject in study.subjects if against in subject.entries]
    contenders = sum(row.kind != CONTROLS for row in study.rows)
    if against is None or not compared or contenders < 2 or not leads:
        return f"{count(len(study.rows), 'method')} on {count(len(study.subjects), 'data set')}"
    stands = [standing(subject, against, leads) for subject in compared]
    first, level = stands.count("first"), stands.count("level")
    if len(compared) == 1:
        name = compared[0].name
        told = {"first": "is first", "level": "is level with the first", "behind": "is not first"}[stands[0]]
        return f"{against} {told} on {name}"
    if first == len(compared):
        return f"{against} is first on all {len(compared)} data sets"
    sentence = f"{against} is first on {first} of {len(compared)} data sets"
    return sentence + (f", level with the first on {level}" if level else "")


def about_study(study: Study, against: str | None, leads: Leads) -> str:
    """How much was run, and what the headline's words mean."""
    runs = sum(len(entry.runs) for subject in study.subjects for entry in subject.entries.values())
    seeds = sorted({subject.runs for subject in study.subjects})
    each = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else count(seeds[0], "seed")
    words = (
        f"{count(runs, 'run')} of {count(len(study.rows), 'method')}, {each} each; mean over budgets on test rows."
    )
    if against is not None and any(standing(subject, against, leads) == "level" for subject in study.subjects):
        words += " Level: another method has the best mean, but the 95% interval of the paired difference holds 0."
    return words


def place(subject: Subject, against: str, leads: Leads) -> str:
    """Where the chosen method stands on a data set."""
    stands = standing(subject, against, leads)
    others = sum(entry.row.kind != CONTROLS for entry in subject.entries.values())
    if stands == "first":
        shared = sorted(subject.best - {against})
        return f"first of {others}" + (f", with {', '.join(shared)}" if shared else "")
    top = min(subject.best)
    lead = leads.get((subject.name, top))
    if lead is None:
        return f"best: {top}"
    span = subject.scale.span(lead.score, signed=True)
    gap = f"{subject.scale.number(lead.score.mean, signed=True)}" + (f", interval {span}" if span else "")
    return f"{'level with' if stands == 'level' else 'behind'} {top} ({gap})"


def about_subject(subject: Subject) -> str:
    """The rows, the features and the runs of a data set."""
    rows = subject.data["rows"]
    features = len(subject.data["features"])
    words = (
        f"{rows['train']:,} rows to learn from, {rows['valid']:,} to tune on, {rows['test']:,} to score on; at most "
        f"{subject.limit} of {count(features, 'feature')} asked of a case. {_runs(subject)}"
    )
    if subject.cut["rows"] is not None:
        words = f"A random part of the table: {words}"
    return words


def _runs(subject: Subject) -> str:
    """How many runs there are, and what an interval over them covers."""
    if subject.runs == 1:
        return "One seed, so there are no intervals over seeds."
    counts = {len(entry.runs) for entry in subject.entries.values()}
    seeds = count(subject.runs, "seed") + ("" if len(counts) == 1 else " (of some methods fewer or more)")
    if subject.splits == 1:
        return f"{seeds} on one split: intervals cover the luck of training, not that of the split."
    return f"{seeds} on {count(subject.splits, 'split')}: intervals cover the luck of training and that of the split."


def head(subject: Subject) -> str:
    """What stands below the data set's name over its scores."""
    return f"{subject.metric_label}\nk = {subject.limit}, {count(subject.runs, 'seed')}"


def about_scores(study: Study) -> str:
    """How to read the first table."""
    labels = sorted({subject.metric.label for subject in study.subjects})
    lower = sorted({s.metric.label for s in study.subjects if not s.metric.greater_is_better})
    better = "higher is better" if not lower else f"lower is better for {', '.join(lower)}"
    words = (
        f"{', '.join(labels)} on test rows ({better}): the mean over budgets 1 to k and over seeds. ± is half of a "
        "95% interval, Student's t over seeds; one seed has none. Bold is the best of a column, controls aside; what "
        "looks the same when rounded shares it. A dash: not run."
    )
    if any(row.everything for row in study.rows):
        words += " all_features is the score with everything asked, not a mean over budgets."
    return words


def published_notes(study: Study) -> list[str]:
    """Where published figures come from."""
    notes = []
    for subject in study.subjects:
        found = subject.published
        if found and any(label in found.figures for label in subject.entries):
            differs = f"; {found.differs}" if found.differs else ""
            if subject.cut["rows"] is not None:
                differs += f"; ours are of {subject.cut['rows']:,} rows"
            notes.append(f"Published, {subject.name}: {found.source}{differs}.")
    return notes


def about_leads(study: Study, against: str, leads: Leads) -> str:
    """How to read the differences."""
    words = (
        f"By how much {against} is better than each method: above 0 it is ahead, whatever the metric. Scores of the "
        "same seed and split are subtracted, mean over budgets 1 to k; below, the 95% interval of the mean "
        "difference (Student's t over seeds), in bold where it does not hold 0. Intervals are not corrected for "
        "the number of comparisons."
    )
    if any(lead.loss is not None for lead in leads.values()):
        words += (
            " Where two methods share one seed only, the second line is the lead in the loss of single test cases "
            "with the interval of a paired bootstrap over cases: it covers the choice of test cases, not the luck of "
            "training."
        )
    return words


def about_curves(subject: Subject) -> str:
    """What the curves show."""
    words = f"{subject.metric_label} on test rows after each number of features."
    most = max(len(entry.runs) for entry in subject.entries.values())
    if most > 1:
        words += " Lines are means over seeds"
        banded = "; bands are 95% intervals of that mean, budget by budget, where they leave the lines to be seen."
        words += banded if most >= FEWEST_FOR_BAND else "."
    return words


def about_forest(subject: Subject, against: str) -> str:
    """What the figure of leads shows."""
    words = f"Lead of {against} over each method in {subject.metric_label}: right of 0 it is ahead. "
    if subject.runs > 1:
        words += "Bars are 95% intervals over seeds; a hollow mark: it holds 0. "
    return words + "Round: dynamic, square: static."


def about_calibration_curves(subject: Subject, against: str | None) -> str:
    """What the figure of calibration shows."""
    chosen = subject.entries.get(against or "")
    banded = f"; the band is {against}'s, as above" if chosen and len(chosen.runs) >= FEWEST_FOR_BAND else ""
    return f"Expected calibration error by budget, lower is better{banded}."


def about_calibration() -> str:
    """What calibration means here."""
    return (
        "Expected calibration error: how far the confidence in the most probable class is from the share of cases in "
        "which it is right, over 15 bins of equally many test cases. Lower is better. Mean over budgets 1 to k and "
        "seeds."
    )


def about_heat(subject: Subject, label: str) -> str:
    """What a heat map shows."""
    runs = len(subject.entries[label].runs)
    return f"{label}: share of test cases{'' if runs == 1 else f' of {runs} runs'} in which a feature is asked"


def about_relevant(study: Study) -> str:
    """What counts as relevant, and how it is counted."""
    words = (
        "How many questions it takes until every feature that the case's label depends on was asked: mean over test "
        "cases and seeds, lower is better. The least possible stands below each name."
    )
    if any(subject.dataset.startswith("syn") for subject in study.subjects):
        words += (
            " Published on Syn1, Syn2 and Syn3 (SEFA, 2025): GDFS, which is greedy here, 4.568, 4.484, 5.587; DIME, "
            "which is value, 4.079, 4.581, 5.667; SEFA itself 4.017, 4.099, 5.084."
        )
    return words


def about_resources() -> str:
    """How time and memory are meant."""
    return (
        "CPU time of one fit, mean over seeds; then how many test cases are asked a second, all budgets on the way, "
        "and the largest memory of any run's process. Times depend on the machine and on what else it did."
    )


def facts(study: Study) -> dict[str, str]:
    """How all this was come by."""
    runs = [run for subject in study.subjects for entry in subject.entries.values() for run in entry.runs]
    versions = sorted({", ".join(f"{k} {v}" for k, v in sorted(run.result["versions"].items())) for run in runs})
    hosts = sorted({str(run.result["measured"].get("host_cpu", "unknown")) for run in runs})
    return {
        "runs": f"{len(runs)}: {count(len(study.subjects), 'data set')}, {count(len(study.rows), 'method')}",
        "made with": "; ".join(versions),
        "processors": "; ".join(hosts),
    }
