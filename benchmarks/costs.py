"""What prices do to scores: the page docs/results/costs.md, from the results of experiments/costs.toml.

askless experiment run experiments/costs.toml --output runs/costs
python benchmarks/costs.py runs/costs
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from askless.experiments.results import read_results
from askless.files import write_atomic

PAGE = Path(__file__).parent.parent / "docs" / "results" / "costs.md"
PAIRS = (("value", "value, cost-blind"), ("greedy", "greedy, cost-blind"))
ORDER = ("value", "greedy", "value, cost-blind", "greedy, cost-blind", "forward_selection", "mutual_information")
ORDER += ("forward_selection, cost-blind", "random")
INTRODUCTION = """# Scores for money

`experiments/costs.toml`, log loss on test rows (lower is better), mean over seeds. *Cost-blind* methods are fitted
and ask without regard to prices, and pay them. Every case may spend the same amount; what is too dear for it is
passed over. The second tables have rules that stop each case where enough is known; their money is the mean over
cases, beside that of asking all cases the number of questions that is best. `python benchmarks/costs.py FOLDER`
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
    """Markdown: what a case costs on average where a rule stops, beside every case asked as many questions."""
    lines = ["", "| method | rule | money for a case, mean | log loss |", "|---|---|---|---|"]
    for label in ORDER[:4]:
        chosen = [r for r in results if r["task"]["dataset"] == dataset and r["task"]["label"] == label]
        if not chosen:
            continue
        budget = {key: np.mean([r["curves"][key] for r in chosen], axis=0) for key in ("cost", "log_loss")}
        k = int(budget["log_loss"].argmin())
        lines.append(
            f"| {label} | the best number of questions, {k} | {budget['cost'][k]:.4g} | {budget['log_loss'][k]:.4f} |"
        )
        for rule, points in ((rule, [r["stopping"][rule] for r in chosen]) for rule in chosen[0]["stopping"]):
            mean = {key: np.mean([p[key] for p in points], axis=0) for key in ("threshold", "cost", "log_loss")}
            for j in np.flatnonzero(np.diff(mean["cost"], prepend=-1.0) > 0.02 * mean["cost"].max())[-4:]:
                name = f"{rule}, {mean['threshold'][j]:.3g}"
                lines.append(f"| {label} | {name} | {mean['cost'][j]:.4g} | {mean['log_loss'][j]:.4f} |")
    return lines


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
