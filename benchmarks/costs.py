"""The effect of prices on scores: writes docs/results/costs.md from the results of experiments/costs.toml.

askless experiment run experiments/costs.toml --output runs/costs
python benchmarks/costs.py runs/costs
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from askless.experiments.report.stopping import best_number, cheapest_stop, mean_of, tells
from askless.experiments.report.study import Run
from askless.experiments.results import read_results
from askless.files import write_atomic
from askless.metrics import metric

PAGE = Path(__file__).parent.parent / "docs" / "results" / "costs.md"
PAIRS = (("value", "value, cost-blind"), ("greedy", "greedy, cost-blind"))
NEAR = 0.005  # of a score
ORDER = ("value", "greedy", "value, cost-blind", "greedy, cost-blind", "forward_selection", "mutual_information")
ORDER += ("forward_selection, cost-blind", "random")
INTRODUCTION = """# Scores for money

`experiments/costs.toml`, log loss on test rows (lower is better), mean over seeds. *Cost-blind* methods are fitted
and ask without regard to prices, and pay them. Every case may spend the same amount; what is too dear for it is
passed over. The second tables stop: every case after the number of questions that is best on the validation rows, or
each case by the rule that costs least there of all that are as good: worse by no more than a standard error of the
difference. What is told is of the test rows, the money the mean over cases. `python benchmarks/costs.py FOLDER`
writes this page.
"""


def interval(differences):
    """The mean of several differences, and half of its 95 % interval; none for a single one."""
    n = len(differences)
    half = student.ppf(0.975, n - 1) * np.std(differences, ddof=1) / np.sqrt(n) if n > 1 else np.inf
    return float(np.mean(differences)), float(half)


def curves(results, dataset, name="log_loss"):
    """By method: {seed: score at each amount of money}; and the amounts."""
    found, money = {}, None
    for result in results:
        task = result["task"]
        if task["dataset"] == dataset:
            money = result["money"]["money"]
            found.setdefault(task["label"], {})[task["seed"]] = np.array(result["money"][name])
    return found, np.array(money)


def table(found, money):
    """Markdown: a row for each method, a column for each amount."""
    lines = ["| method | mean | " + " | ".join(f"{m:.4g}" for m in money) + " |", "|---" * (len(money) + 2) + "|"]
    for label in [label for label in ORDER if label in found]:
        mean = np.mean(list(found[label].values()), axis=0)
        lines.append(f"| {label} | **{mean.mean():.4f}** | " + " | ".join(f"{v:.3f}" for v in mean) + " |")
    return lines


def compared(results, dataset, name, aware, blind):
    """Sentences: for how much the cost-blind method's best score is had, and where prices cost something."""
    found, money = curves(results, dataset, name)
    score, seeds = metric(name), sorted(set(found[aware]) & set(found[blind]))
    sign = -1 if score.greater_is_better else 1  # so that less is better
    own, other = (sign * np.array([found[label][seed] for seed in seeds]) for label in (aware, blind))
    best = int(other.mean(axis=0).argmin())
    gap = own.mean(axis=0) - other.mean(axis=0)[best]  # to the best of the other
    told = [f"its best score, {abs(other.mean(axis=0)[best]):.4f}, takes {money[best]:.4g}"]
    for reached, words in ((gap <= 0, "has it"), (gap <= NEAR, f"comes within {NEAR} of it")):
        first = money[reached.argmax()]
        told.append(f"{aware} {words} for {first:.4g} ({first / money[best]:.0%})" if reached.any() else "")
    if not (gap <= 0).any():
        told[1] = f"{aware} does not reach it"
    gaps = [interval(own[:, j] - other[:, j]) for j in range(len(money))]
    worse = [f"{money[j]:.4g} (by {mean:.4f} ± {half:.4f})" for j, (mean, half) in enumerate(gaps) if mean > half]
    if len(seeds) < 2:
        told.append("one seed has no interval")
    else:
        told.append(f"{'it is' if worse else 'nowhere'} worse by more than the interval{' at ' * bool(worse)}")
        told[-1] += ", ".join(worse)
    return f"- **{aware}** against *{blind}*, {score.label}: {'; '.join(filter(None, told))}."


def with_hindsight(results, dataset, aware, blind):
    """A sentence: for how much a rule, chosen on the test rows, has the cost-blind method's best log loss there."""
    own, other = (
        [r for r in results if (r["task"]["dataset"], r["task"]["label"]) == (dataset, label)]
        for label in (aware, blind)
    )
    losses, spent = (np.mean([r["money"][name] for r in other], axis=0) for name in ("log_loss", "cost"))
    best, found = int(losses.argmin()), []
    for rule in own[0]["stopping"]:
        means = {name: np.mean([r["stopping"][rule][name] for r in own], axis=0) for name in ("log_loss", "cost")}
        reached = np.flatnonzero(means["log_loss"] <= losses[best])
        found += [(means["cost"][i], rule, means["log_loss"][i]) for i in reached]
    told = (
        f"- **{aware}**, stopping by a rule whose threshold is read off these test rows, has *{blind}*'s best score, "
    )
    told += f"{losses[best]:.4f} (for which {spent[best]:.4g} of {other[0]['money']['money'][best]:.4g} are spent), "
    if not found:
        return told + "for no sum."
    cost, rule, loss = min(found)
    return told + f"for {cost:.4g} by {rule} ({loss:.4f}): {cost / spent[best]:.0%} of what is spent."


def stopped(results, dataset):
    """Markdown: what a case costs on average where a rule stops, beside every case asked as many questions; and what
    stopping by prices saves against the method that is blind for them."""
    lines = ["", "| method | stops after | money for a case | log loss | by rule | money for a case | log loss |"]
    lines.append("|---" * 7 + "|")
    fixed, chosen = {}, {}
    for label in ORDER:
        runs = [Run(r) for r in results if r["task"]["dataset"] == dataset and r["task"]["label"] == label]
        runs = sorted((run for run in runs if tells(run)), key=lambda run: run.key)
        if not runs or label == "random":
            continue
        fixed[label], chosen[label] = [best_number(run) for run in runs], [cheapest_stop(run) for run in runs]
        cells = [label]
        for stops in (fixed[label], chosen[label]):
            cells += [
                ", ".join(map(str, stops)),
                f"{mean_of(stops, 'cost'):.4g}",
                f"{mean_of(stops, 'log_loss'):.4f}",
            ]
        lines.append("| " + " | ".join(cells) + " |")
    if not fixed:
        return ["", "These results do not tell where rules stop on validation rows."]
    lines.append("")
    for own, blind in PAIRS:
        if {own, blind} <= set(fixed):
            lines.append(saved(chosen[own], fixed[blind], own, f"*{blind}* pays with its best number of questions"))
            lines.append(saved(chosen[own], chosen[blind], own, f"*{blind}* pays by such rules"))
            lines.append(with_hindsight(results, dataset, own, blind))
    return lines


def saved(chosen, fixed, aware, against):
    """A sentence: the score and the money of stopping by rules against others' stops."""
    share = mean_of(chosen, "cost") / mean_of(fixed, "cost")
    pairs = zip(chosen, fixed, strict=True)
    loss, half = interval([own.told["log_loss"] - other.told["log_loss"] for own, other in pairs])
    return (
        f"- **{aware}**, stopping by rules, pays {share:.0%} of what {against}; its log loss is higher by "
        f"{loss:+.4f} ± {half:.4f} (95 %, paired by seed)."
    )


def main():
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    results = read_results(given.folder)
    lines = [INTRODUCTION]
    for dataset in dict.fromkeys(result["task"]["dataset"] for result in results):
        found, money = curves(results, dataset)
        seeds = max(len(runs) for runs in found.values())
        rows = next(r["data"]["rows"] for r in results if r["task"]["dataset"] == dataset)
        lines += [f"## {dataset}", "", f"{rows['train']} training rows, {seeds} seeds.", "", *table(found, money), ""]
        pairs = [pair for pair in PAIRS if set(pair) <= set(found)]
        lines += [compared(results, dataset, name, *pair) for pair in pairs for name in ("log_loss", "auroc")]
        lines += [*stopped(results, dataset), ""]
    write_atomic(given.output, ("\n".join(lines)).encode())
    print("\n".join(lines))


if __name__ == "__main__":
    main()
