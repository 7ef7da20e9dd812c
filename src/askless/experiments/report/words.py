"""The sentences of the report, the same in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from askless.experiments.report.kinds import CONTROL, FEWEST_FOR_BAND
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
    """The main result in one sentence."""
    compared = [subject for subject in study.subjects if against in subject.entries]
    contenders = sum(row.kind != CONTROL for row in study.rows)
    if against is None or not compared or contenders < 2 or not leads:
        return f"{count(len(study.rows), 'method')} on {count(len(study.subjects), 'data set')}"
    stands = [standing(subject, against, leads) for subject in compared]
    first, level = stands.count("first"), stands.count("level")
    if len(compared) == 1:
        name = compared[0].name
        rank = {"first": "is first", "level": "is level with the first", "behind": "is not first"}[stands[0]]
        return f"{against} {rank} on {name}"
    if first == len(compared):
        return f"{against} is first on all {len(compared)} data sets"
    sentence = f"{against} is first on {first} of {len(compared)} data sets"
    return sentence + (f", level with the first on {level}" if level else "")


def about_study(study: Study, against: str | None, leads: Leads) -> str:
    """The number of runs, and the meaning of "level"."""
    runs = sum(len(entry.runs) for subject in study.subjects for entry in subject.entries.values())
    seeds = sorted({subject.runs for subject in study.subjects})
    each = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else count(seeds[0], "seed")
    words = (
        f"{count(runs, 'run')} of {count(len(study.rows), 'method')}, {each} each; mean over budgets on test rows."
    )
    if against is not None and any(standing(subject, against, leads) == "level" for subject in study.subjects):
        words += " Level: another method has the best mean, but the 95% interval of the paired difference contains 0."
    return words


def place(subject: Subject, against: str, leads: Leads) -> str:
    """The rank of the chosen method on a data set."""
    stands = standing(subject, against, leads)
    others = sum(entry.row.kind != CONTROL for entry in subject.entries.values())
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
        f"{rows['train']:,} training rows, {rows['valid']:,} validation rows and {rows['test']:,} test rows. "
        f"At most {subject.limit} of {count(features, 'feature')} for each case. {_runs(subject)}"
    )
    if subject.cut["rows"] is not None:
        words = f"A random sample of the table: {words}"
    return words


def _runs(subject: Subject) -> str:
    """The number of runs, and the meaning of intervals over them."""
    if subject.runs == 1:
        return "One seed, so there are no intervals over seeds."
    counts = {len(entry.runs) for entry in subject.entries.values()}
    seeds = count(subject.runs, "seed") + ("" if len(counts) == 1 else " (some methods have fewer or more)")
    if subject.splits == 1:
        return f"{seeds} on one split: intervals show the variation from training, not from the split."
    return (
        f"{seeds} on {count(subject.splits, 'split')}: intervals show the variation from training and from the split."
    )


def head(subject: Subject) -> str:
    """The text below the name of a data set in the table of scores."""
    return f"{subject.metric_label}\nk = {subject.limit}, {count(subject.runs, 'seed')}"


def about_scores(study: Study) -> str:
    """Explains the first table."""
    labels = sorted({subject.metric.label for subject in study.subjects})
    lower = sorted({s.metric.label for s in study.subjects if not s.metric.greater_is_better})
    better = "higher is better" if not lower else f"lower is better for {', '.join(lower)}"
    words = (
        f"{', '.join(labels)} on test rows ({better}): the mean over budgets 1 to k and over seeds. ± is half of the "
        "95% interval (Student's t over seeds; none with one seed). The best score of a column is bold, ties after "
        "rounding included, controls excluded. A dash means that the method was not run."
    )
    if any(row.everything for row in study.rows):
        words += " all_features is the score with all features, not a mean over budgets."
    return words


def published_notes(study: Study) -> list[str]:
    """The sources of published results."""
    notes = []
    for subject in study.subjects:
        found = subject.published
        if found and any(label in found.figures for label in subject.entries):
            differs = f"; {found.differs}" if found.differs else ""
            if subject.cut["rows"] is not None:
                differs += f"; ours use {subject.cut['rows']:,} rows"
            notes.append(f"Published, {subject.name}: {found.source}{differs}.")
    return notes


def about_leads(study: Study, against: str, leads: Leads) -> str:
    """Explains the differences."""
    words = (
        f"How much {against} is better than each method: above 0 it is better, for every metric. Scores of the same "
        "seed and split are subtracted; the difference is a mean over budgets 1 to k. The second line is the 95% "
        "interval of the mean difference (Student's t over seeds). The difference is bold if the interval does not "
        "contain 0. Intervals are not corrected for the number of comparisons."
    )
    if any(lead.loss is not None for lead in leads.values()):
        words += (
            " If two methods share only one seed, the second line is the difference in the loss of test cases, with "
            "the interval of a paired bootstrap over cases. It shows the variation from the choice of test cases, "
            "not from training."
        )
    return words


def about_curves(subject: Subject) -> str:
    """Explains the curves."""
    words = f"{subject.metric_label} on test rows after each number of features."
    most = max(len(entry.runs) for entry in subject.entries.values())
    if most > 1:
        words += " Lines are means over seeds"
        banded = "; bands are pointwise 95% intervals of the mean, shown where they do not hide other lines."
        words += banded if most >= FEWEST_FOR_BAND else "."
    return words


def about_forest(subject: Subject, against: str) -> str:
    """Explains the figure of leads."""
    words = f"Lead of {against} over each method in {subject.metric_label}: right of 0 it is better. "
    if subject.runs > 1:
        words += "Bars are 95% intervals over seeds; a hollow marker means that the interval contains 0. "
    return words + "Circles are dynamic methods, squares static ones, diamonds methods of unknown kind."


def about_calibration_curves(subject: Subject, against: str | None) -> str:
    """Explains the figure of calibration."""
    chosen = subject.entries.get(against or "")
    banded = f"; the band is that of {against}, as above" if chosen and len(chosen.runs) >= FEWEST_FOR_BAND else ""
    return f"Expected calibration error by budget, lower is better{banded}."


def about_calibration() -> str:
    """Explains the calibration error."""
    return (
        "Expected calibration error: the difference between the probability of the most probable class and the "
        "accuracy, over 15 bins with equal numbers of test cases. Lower is better. Mean over budgets 1 to k and over "
        "seeds."
    )


def about_heat(subject: Subject, label: str) -> str:
    """Explains a heat map."""
    runs = len(subject.entries[label].runs)
    return f"{label}: share of test cases{'' if runs == 1 else f' of {runs} runs'} that were asked for a feature"


def about_relevant(study: Study) -> str:
    """Explains the steps to all relevant features."""
    words = (
        "The number of questions until every feature that the label of the case depends on is known: mean over test "
        "cases and seeds, lower is better. The smallest possible number is below each name."
    )
    if any(subject.dataset.startswith("syn") for subject in study.subjects):
        words += (
            " Published results on Syn1, Syn2 and Syn3 (SEFA, 2025): GDFS (here greedy) 4.568, 4.484, 5.587; "
            "DIME (here value) 4.079, 4.581, 5.667; SEFA 4.017, 4.099, 5.084."
        )
    return words


def about_resources() -> str:
    """Explains times and memory."""
    return (
        "CPU time of one fit, mean over seeds. The second line is the number of test cases per second in a roll-out "
        "over all budgets, and the largest memory of any run's process. Times depend on the machine and its load."
    )


def facts(study: Study) -> dict[str, str]:
    """Runs, versions and processors."""
    runs = [run for subject in study.subjects for entry in subject.entries.values() for run in entry.runs]
    versions = sorted({", ".join(f"{k} {v}" for k, v in sorted(run.result["versions"].items())) for run in runs})
    hosts = sorted({str(run.result["measured"].get("host_cpu", "unknown")) for run in runs})
    return {
        "runs": f"{len(runs)}: {count(len(study.subjects), 'data set')}, {count(len(study.rows), 'method')}",
        "made with": "; ".join(versions),
        "processors": "; ".join(hosts),
    }
