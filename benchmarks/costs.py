"""What prices do to scores: the page docs/results/costs.md, from the results of experiments/costs.toml.

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

PAGE = Path(__file__).parent.parent / "docs" / "results" / "costs.md"
PAIRS = (("value", "value, cost-blind"), ("greedy", "greedy, cost-blind"))
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


def curves(results, dataset):
    """By method: {seed: log loss at each amount of money}; and the amounts."""
    found, money = {}, None
    for result in results:
        task = result["task"]
        if task["dataset"] == dataset:
            money = result["money"]["money"]
            found.setdefault(task["label"], {})[task["seed"]] = np.array(result["money"]["log_loss"])
    return found, np.array(money)


def table(found, money):
    """Markdown: a row for each method, a column for each amount."""
    lines = ["| method | mean | " + " | ".join(f"{m:.4g}" for m in money) + " |", "|---" * (len(money) + 2) + "|"]
    for label in [label for label in ORDER if label in found]:
        mean = np.mean(list(found[label].values()), axis=0)
        lines.append(f"| {label} | **{mean.mean():.4f}** | " + " | ".join(f"{v:.3f}" for v in mean) + " |")
    return lines


def compared(found, money, aware, blind):
    """Sentences: for how much the cost-blind method's best score is had, and where prices cost something."""
    seeds = sorted(set(found[aware]) & set(found[blind]))
    own, other = (np.mean([found[label][seed] for seed in seeds], axis=0) for label in (aware, blind))
    best = int(other.argmin())
    reached = np.flatnonzero(own <= other[best])
    near = np.flatnonzero(own <= other[best] + 0.005)
    told = (
        f"- **{aware}** against *{blind}*: the best score of the latter, {other[best]:.4f}, takes {money[best]:.4g}; "
    )
    told += f"the former has it for {money[reached[0]]:.4g}" if len(reached) else "the former does not reach it"
    told += f" ({money[reached[0]] / money[best]:.0%})" if len(reached) else ""
    told += (
        f", and comes within 0.005 of it for {money[near[0]]:.4g} ({money[near[0]] / money[best]:.0%})."
        if len(near)
        else "."
    )
    if len(seeds) < 2:
        return told + " One seed has no interval."
    gaps = [interval([found[aware][s][j] - found[blind][s][j] for s in seeds]) for j in range(len(money))]
    worse = [f"{money[j]:.4g} (by {gap:.4f} ± {half:.4f})" for j, (gap, half) in enumerate(gaps) if gap > half]
    told += (
        f" It is worse by more than the interval at {', '.join(worse)}."
        if worse
        else " It is nowhere worse by more than the interval."
    )
    return told


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
    lines.append("")
    for own, blind in PAIRS:
        if {own, blind} <= set(fixed):
            lines.append(saved(chosen[own], fixed[blind], own, f"*{blind}* pays with its best number of questions"))
            lines.append(saved(chosen[own], chosen[blind], own, f"*{blind}* pays by such rules"))
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
        lines += [compared(found, money, *pair) for pair in PAIRS if pair[0] in found and pair[1] in found]
        lines += [*stopped(results, dataset), ""]
    write_atomic(given.output, ("\n".join(lines)).encode())
    print("\n".join(lines))


if __name__ == "__main__":
    main()
