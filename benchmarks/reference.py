"""Quality and CPU time of the default greedy fit, for one or more versions of the code, in turns.

    python benchmarks/reference.py --code ../old/src --code src --output reference.json

Each task is one fit in a process of its own: a data set, a split and a seed. The versions take turns, so that a busy
machine slows all of them alike. The file keeps what is done; the same command continues after an interruption.
ASKLESS_DATA names the folder with the data sets.

Split i shuffles the rows with `numpy.random.default_rng(i)`: the first 20 % are for testing, the next 20 % for
validation, the rest for training. The score is the mean AUROC (x 100) over budgets 1 to 10 on the test rows.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

BUDGET = 10
DATASETS = {"spam": {}, "miniboone": {"subset": True}, "physionet2012": {}}
TASKS = [("spam", split, seed) for split in range(3) for seed in range(3)]
TASKS += [(name, split, split) for name in ("miniboone", "physionet2012") for split in range(3)]


def split_rows(n, seed):
    """Rows for training, validation and testing."""
    order = np.random.default_rng(seed).permutation(n)
    fifth = n // 5
    return order[2 * fifth :], order[fifth : 2 * fifth], order[:fifth]


def fit_once(name, split, seed):
    """The score of one fit and its CPU seconds; runs in a process of its own."""
    import time

    from askless import DynamicClassifier
    from askless.datasets import load_dataset

    data = load_dataset(name, **DATASETS[name])
    X, y = data.frame, data.target
    train, valid, test = split_rows(len(X), split)
    model = DynamicClassifier(max_features=BUDGET, method="greedy", groups=data.groups, random_state=seed)
    start = time.process_time()
    model.fit(X.iloc[train], y.iloc[train], validation=(X.iloc[valid], y.iloc[valid]))
    seconds = time.process_time() - start
    curve = model.curve(X.iloc[test], y.iloc[test], metric="auroc")
    return {"auroc": (100 * curve["score"][1:]).tolist(), "seconds": seconds}


def table(results, codes):
    """One line per data set and version, then the ratio of CPU seconds to the first version, task by task."""
    lines = []
    for name in DATASETS:
        for code in codes:
            runs = {key: run for key, run in results.items() if key.startswith(f"{code}|{name}|")}
            if runs:
                scores = [np.mean(run["auroc"]) for run in runs.values()]
                seconds = [run["seconds"] for run in runs.values()]
                line = f"{name:14} {code:30} AUROC {np.mean(scores):.2f} (sd {np.std(scores):.2f}, {len(runs)} runs)"
                first = [
                    run["seconds"] / results[key.replace(code, codes[0], 1)]["seconds"]
                    for key, run in runs.items()
                    if key.replace(code, codes[0], 1) in results
                ]
                lines.append(f"{line}, {np.mean(seconds):.1f} CPU s, ratio {np.median(first or [np.nan]):.2f}")
    zero = {
        code: [np.mean(r["auroc"]) for k, r in results.items() if k.startswith(f"{code}|spam|0|")] for code in codes
    }
    lines += [f"spam, split 0  {code:30} AUROC {np.mean(scores):.2f}" for code, scores in zero.items() if scores]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code", action="append", help="a folder with a version of the package; may be repeated")
    parser.add_argument("--output", type=Path, default=Path("reference.json"))
    parser.add_argument("--only", choices=list(DATASETS), help="only this data set")
    parser.add_argument("--task", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.task:
        name, split, seed = args.task
        print(json.dumps(fit_once(name, int(split), int(seed))))
        return
    codes = args.code or ["src"]
    results = json.loads(args.output.read_text()) if args.output.exists() else {}
    for name, split, seed in TASKS:
        for code in codes:
            key = f"{code}|{name}|{split}|{seed}"
            if key in results or args.only not in (None, name):
                continue
            command = [sys.executable, __file__, "--task", name, str(split), str(seed)]
            environment = {**os.environ, "PYTHONPATH": str(Path(code).resolve()), "OMP_NUM_THREADS": "1"}
            done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
            results[key] = json.loads(done.stdout.splitlines()[-1])
            args.output.write_text(json.dumps(results, indent=1))
    print(table(results, codes))


if __name__ == "__main__":
    main()
