"""The paper's Spam protocol with `method="greedy"` and its default settings.

    make spam          (ASKLESS_DATA names the folder that holds spam/spam.csv.gz)

Split i shuffles the rows with `numpy.random.default_rng(i)`: the first 20 % are for testing, the next 20 % for
validation, the rest for training. The figure is the mean AUROC (x 100) over budgets 1 to 10 on the test rows. Writes
docs/results/spam.md and spam.json.
"""

import json
import platform
import time
from pathlib import Path

import numpy as np
import torch

import askless
from askless import DynamicClassifier
from askless.datasets import load_dataset
from askless.files import write_atomic

SPLITS, SEEDS, BUDGET = (0, 1, 2), (0, 1, 2), 10
RESULTS = Path(__file__).parent.parent / "docs" / "results"


def split(n, seed):
    """Rows for training, validation and testing."""
    order = np.random.default_rng(seed).permutation(n)
    fifth = n // 5
    return order[2 * fifth :], order[fifth : 2 * fifth], order[:fifth]


def run(data, split_seed, seed):
    """AUROC (x 100) on the test rows after 1 to 10 answers, and the CPU seconds of the fit."""
    train, valid, test = split(len(data.frame), split_seed)
    X, y = data.frame, data.target
    model = DynamicClassifier(max_features=BUDGET, method="greedy", random_state=seed)
    start = time.process_time()
    model.fit(X.iloc[train], y.iloc[train], validation=(X.iloc[valid], y.iloc[valid]))
    seconds = time.process_time() - start
    curve = model.curve(X.iloc[test], y.iloc[test], metric="auroc")
    return {"split": split_seed, "seed": seed, "auroc": (100 * curve["score"][1:]).tolist(), "seconds": seconds}


def table(runs):
    """Markdown: a row for each run, then the means."""
    head = "| split | seed | " + " | ".join(str(k) for k in range(1, BUDGET + 1)) + " | mean | CPU seconds |"
    lines = [head, "|" + "---|" * (BUDGET + 4)]

    def line(split_, seed, curves, seconds):
        mean = np.mean(curves, axis=0)
        cells = " | ".join(f"{value:.1f}" for value in mean)
        return f"| {split_} | {seed} | {cells} | **{mean.mean():.2f}** | {seconds:.1f} |"

    lines += [line(r["split"], r["seed"], [r["auroc"]], r["seconds"]) for r in runs]
    for name, chosen in [(str(s), [r for r in runs if r["split"] == s]) for s in SPLITS] + [("all", runs)]:
        seconds = np.mean([r["seconds"] for r in chosen])
        lines.append(line(name, "mean", [r["auroc"] for r in chosen], seconds))
    return "\n".join(lines)


def report(runs):
    """The page docs/results/spam.md."""
    zero = [np.mean(r["auroc"]) for r in runs if r["split"] == 0]
    by_split = [np.mean([np.mean(r["auroc"]) for r in runs if r["split"] == s]) for s in SPLITS]
    return f"""# Spam, the paper's protocol

Mean AUROC (x 100) over budgets 1 to 10 on the test rows, `DynamicClassifier(max_features=10, method="greedy")`;
`make spam` writes this page.

| what | askless | published |
|---|---|---|
| split 0, mean of seeds 0, 1, 2 | **{np.mean(zero):.2f}** (sd {np.std(zero, ddof=1):.2f}) | \
93.91 ± 0.17 (the paper), 94.32 (its code, this split) |
| splits 0, 1, 2, mean of three seeds each | **{np.mean(by_split):.2f}** | |

Split i shuffles the 4,601 rows with `numpy.random.default_rng(i)`: the first 20 % test, the next 20 % validate (they
choose the best weights), the rest train. Statistics of the encoding come from the training rows alone. The settings
were chosen by validation scores and by the exact problems, but the test figures were in sight while the method was
built, so read them as slightly optimistic. The splits differ by more than the seeds, as the means show.

{table(runs)}

askless {askless.__version__}, torch {torch.__version__}, Python {platform.python_version()}, one thread a fit.
"""


def main():
    """Run all splits and seeds, and write the page as results come."""
    data = load_dataset("spam")
    runs = []
    for split_seed in SPLITS:
        for seed in SEEDS:
            runs.append(run(data, split_seed, seed))
            print(f"split {split_seed} seed {seed}: {np.mean(runs[-1]['auroc']):.2f}", flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_atomic(RESULTS / "spam.json", json.dumps(runs, indent=1).encode())
    write_atomic(RESULTS / "spam.md", report(runs).encode())
    print(report(runs))


if __name__ == "__main__":
    main()
