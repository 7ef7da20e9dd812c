"""Certified stopping over many splits: how often is the promise broken, and how many questions does it save?

    python benchmarks/certified.py          (ASKLESS_DATA names the folder that holds spam/spam.csv.gz)

A model is fitted once on a part of the rows. The rest is split at random, 200 times, into cases on which a rule is
certified and cases on which it is tested. Writes docs/results/certified.json with every split, and certified.md. A
stopped run continues from the JSON file.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from askless import DynamicClassifier
from askless.acquisition.stopping import Certified
from askless.acquisition.stopping.certified import certified_on
from askless.datasets import load_dataset
from askless.files import write_atomic

SPLITS, CONFIDENCE, BUDGET = 200, 0.95, 10
PROBLEMS = {  # rows to fit on, cases to certify with, and the risks that are promised
    "spam": {"options": {}, "fit": 1800, "certify": 1000, "risks": (0.05, 0.1)},
    "triage": {"options": {"n": 12_000, "random_state": 5}, "fit": 4000, "certify": 2000, "risks": (0.1, 0.15)},
}
RESULTS = Path(__file__).parent.parent / "docs" / "results"

COLUMNS = ("data set", "cases", "promised", "broken", "error", "stopped", "asked", "fixed", "saved", "no rule found")
INTRODUCTION = f"""# Certified stopping over repeated splits

A model is fitted once (`greedy`, {BUDGET} features). The rows that it has not seen are split, {SPLITS} times,
at random into cases that certify the rule (confidence {CONFIDENCE:g}) and cases on which it is tried. *Broken* is
the share of splits in which more of the cases that stopped were wrong than promised. *Asked* is the mean number of
questions of the cases that stopped; *fixed* is the smallest budget with as low an error, if all of the same cases are
asked as many questions. The other cases abstain. `python benchmarks/certified.py` writes this page.
"""


def paths(name, options, fit):
    """The predictions (n, steps, classes) and classes (n,) of the cases that the fit did not see."""
    data = load_dataset(name, **options)
    order = np.random.default_rng(0).permutation(len(data.frame))
    own, rest = order[:fit], order[fit:]
    model = DynamicClassifier(BUDGET, method="greedy", groups=data.groups or None)
    model.fit(data.frame.iloc[own], data.target.iloc[own])
    return model.rollout(data.frame.iloc[rest]).predictions, np.searchsorted(model.classes_, data.target.iloc[rest])


def tried(rule, predictions, y):
    """What the rule does to cases that it was not certified on."""
    if rule.threshold is None:
        return {"threshold": None, "stopped": 0.0, "error": 0.0, "asked": 0.0, "fixed": 0}
    enough = predictions.max(axis=2) >= rule.threshold
    stopped, first = enough.any(axis=1), enough.argmax(axis=1)
    wrong = predictions.argmax(axis=2) != y[:, None]  # (n, steps)
    error = float(wrong[np.arange(len(y)), first][stopped].mean())
    by_budget = wrong[stopped].mean(axis=0)  # (steps,) of the same cases, if all were asked as many questions
    as_good = np.flatnonzero(by_budget <= error)
    return {
        "threshold": round(rule.threshold, 6),
        "stopped": round(float(stopped.mean()), 5),
        "error": round(error, 5),
        "asked": round(float(first[stopped].mean()), 4),
        "fixed": int(as_good[0]) if len(as_good) else predictions.shape[1],
    }


def study(name, settings, splits, done):
    """All splits of a data set, those that are done already as they are."""
    runs = list(done)
    missing = [(risk, i) for risk in settings["risks"] for i in range(splits)]
    missing = [key for key in missing if key not in {(run["risk"], run["split"]) for run in runs}]
    if missing:
        predictions, y = paths(name, settings["options"], settings["fit"])
        for risk, i in missing:
            order = np.random.default_rng(1000 + i).permutation(len(y))
            own, rest = order[: settings["certify"]], order[settings["certify"] :]
            rule = certified_on(Certified(risk, CONFIDENCE), predictions[own], y[own])
            runs.append({"risk": risk, "split": i, **tried(rule, predictions[rest], y[rest])})
    return runs


def page(results):
    """Markdown: a row for each data set and risk."""
    lines = [INTRODUCTION, f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for name, runs in results.items():
        for risk in sorted({run["risk"] for run in runs}):
            chosen = [run for run in runs if run["risk"] == risk]
            found = [run for run in chosen if run["threshold"] is not None]
            broken = np.mean([run["error"] > risk for run in chosen])
            mean = {key: np.mean([run[key] for run in found]) for key in ("error", "stopped", "asked", "fixed")}
            saved = 1 - mean["asked"] / mean["fixed"]
            lines.append(
                f"| {name} | {PROBLEMS[name]['certify']} | {risk:.0%} | **{broken:.1%}** | {mean['error']:.1%} | "
                f"{mean['stopped']:.0%} | {mean['asked']:.1f} | {mean['fixed']:.1f} | {saved:.0%} | "
                f"{1 - len(found) / len(chosen):.0%} |"
            )
    return "\n".join(lines) + "\n"


def as_text(results):
    """JSON with a line for each split."""
    parts = [f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, runs)) + "\n]" for name, runs in results.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    file = given.output / "certified.json"
    results = json.loads(file.read_text()) if file.exists() else {}
    for name, settings in PROBLEMS.items():
        results[name] = study(name, settings, given.splits, results.get(name, []))
        write_atomic(file, as_text(results).encode())
    write_atomic(given.output / "certified.md", page(results).encode())
    print(page(results))


if __name__ == "__main__":
    main()
