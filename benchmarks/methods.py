"""Every method on the paper's Spam protocol, beside the published figures.

    make methods       (ASKLESS_DATA names the folder that holds spam/spam.csv.gz)

The split is number 0 of `spam.py`; seeds 0, 1 and 2; budgets 1 to 10; default settings. Two processes of one thread
each. Results are kept in docs/results/methods.json as they come; without --again, what is there is not run again.
Writes docs/results/methods.md.
"""

import argparse
import json
import platform
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np
import torch
from spam import BUDGET, SEEDS, split
from threadpoolctl import threadpool_limits

import askless
from askless import DynamicClassifier
from askless.acquisition import MaxFeatures, rollout
from askless.datasets import load_dataset
from askless.files import write_atomic
from askless.methods import Greedy, find_method, list_methods
from askless.metrics import auroc

RESULTS = Path(__file__).parent.parent / "docs" / "results"
RANDOM_SUBSETS = "greedy, random subsets"
LEFT_OUT = ("auto", "fixed_order", "center_crop")  # a choice of other methods, an order of one's own, images only
PUBLISHED = {
    "permutation": 85.64,
    "sage": 89.70,
    "deeplift": 90.16,
    "integrated_gradients": 82.84,
    "concrete_autoencoder": 92.28,
    "opportunistic": 85.94,
    "cmi_marginal": 86.57,
    "cmi_pvae": 89.01,
    "greedy": 93.91,
}
LONG, THEIR_ROWS = 25, {"cmi_marginal": 2.1, "cmi_pvae": 3.0}  # features asked, and rows a second of the paper's code


def methods_of(kind):
    """The lines of the table of a kind: "static", "dynamic" or "control"."""
    names = [name for name, method in list_methods().items() if method.kind == kind and name not in LEFT_OUT]
    return sorted([*names, RANDOM_SUBSETS] if kind == Greedy.kind else names)


def method_of(name):
    """The method of a line of the table."""
    return Greedy(subsets="random") if name == RANDOM_SUBSETS else find_method(name)


def fitted(name, seed, budget):
    """A model of the training rows, the test rows' encoded cases and labels, and the CPU seconds of the fit."""
    data = load_dataset("spam")
    train, valid, test = split(len(data.frame), 0)
    X, y = data.frame, data.target
    model = DynamicClassifier(budget, method=method_of(name), random_state=seed)
    start = time.process_time()
    model.fit(X.iloc[train], y.iloc[train], validation=(X.iloc[valid], y.iloc[valid]))
    seconds = time.process_time() - start
    labels = np.searchsorted(model.classes_, y.iloc[test].to_numpy())
    return model.model_, model.model_.encoder.transform(X.iloc[test]), labels, seconds


def asked(model, cases):
    """The trajectory of the cases, an oracle's too, and rows a second of one processor."""
    start = time.process_time()
    rule = MaxFeatures(model.max_features)
    t = rollout(model.policy, model.predictor, cases, model.schema, stopping=rule, allow_truth=True)
    return t, len(cases) / (time.process_time() - start)


def run(task):
    """One method with one seed: AUROC (x 100) by budget; or how many rows a second are asked for many features."""
    name, seed, kind = task
    with threadpool_limits(1):
        torch.set_num_threads(1)
        model, cases, y, seconds = fitted(name, seed, BUDGET if kind == "score" else LONG)
        trajectory, rows = asked(model, cases if kind == "score" else cases[:256])
    result = {"method": name, "seed": seed, "kind": kind, "fit_seconds": seconds, "rows_per_second": rows}
    if kind == "score":
        last = trajectory.predictions.shape[1] - 1
        budgets = range(1, BUDGET + 1) if name != "all_features" else [last]
        result["auroc"] = [100 * auroc(y, trajectory.at(k)) for k in budgets]
    return result


def table(results, names):
    """Markdown: a line for each method."""
    lines = ["| method | mean | sd | seeds | published | 1 | 2 | 3 | 5 | 7 | 10 | CPU seconds of a fit |"]
    lines.append("|" + "---|" * 12)
    for name in names:
        mine = [r for r in results if r["method"] == name and r["kind"] == "score"]
        if not mine:
            continue
        curves = np.array([r["auroc"] for r in mine])
        means = curves.mean(axis=1)
        curve = curves.mean(axis=0)
        cells = [f"{curve[k - 1]:.1f}" if len(curve) > 1 else "" for k in (1, 2, 3, 5, 7, 10)]
        sd = f"{means.std(ddof=1):.2f}" if len(means) > 1 else ""
        known = f"{PUBLISHED[name]:.2f}" if name in PUBLISHED else ""
        seconds = np.mean([r["fit_seconds"] for r in mine])
        cells = [name, f"**{means.mean():.2f}**", sd, str(len(means)), known, *cells, f"{seconds:.0f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def speed(results):
    """Markdown: how fast the estimators of mutual information ask."""
    lines = ["| method | rows a second | the paper's code | ratio |", "|---|---|---|---|"]
    for name, theirs in THEIR_ROWS.items():
        for r in (r for r in results if r["method"] == name and r["kind"] == "speed"):
            rows = r["rows_per_second"]
            lines.append(f"| {name} | {rows:.0f} | {theirs} | **{rows / theirs:.0f} times** |")
    return "\n".join(lines)


def report(results):
    """The page docs/results/methods.md."""
    notes = (Path(__file__).parent / "methods_notes.md").read_text()
    return f"""# Every method on Spam

Mean AUROC (x 100) over budgets 1 to 10 on the test rows of split 0, with default settings; the sd is that of the
seeds' means. `all_features` is the AUROC with everything asked. `make methods` writes this page. Published: Table 1
of the paper.

## Static
{table(results, methods_of("static"))}

## Dynamic
{table(results, methods_of("dynamic"))}

## Controls
{table(results, methods_of("control"))}

## Asking {LONG} features
Rows for each CPU-second of one thread, 256 rows at once.

{speed(results)}

{notes}
askless {askless.__version__}, torch {torch.__version__}, Python {platform.python_version()}; one thread a fit, two
fits at once.
"""


def main():
    """Run what is not there yet, and write the page as results come."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", help="methods")
    parser.add_argument("--seeds", nargs="*", type=int, default=SEEDS)
    parser.add_argument("--again", action="store_true", help="run also what is there")
    args = parser.parse_args()
    file = RESULTS / "methods.json"
    results = json.loads(file.read_text()) if file.exists() else []
    names = args.only or [name for kind in ("static", "dynamic", "control") for name in methods_of(kind)]
    tasks = [(name, seed, "score") for seed in args.seeds for name in names]
    tasks += [(name, 0, "speed") for name in THEIR_ROWS if name in names]
    done = {(r["method"], r["seed"], r["kind"]) for r in results}
    start = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        futures = {pool.submit(run, task): task for task in tasks if args.again or task not in done}
        for future in as_completed(futures):
            new = future.result()
            results = [r for r in results if (r["method"], r["seed"], r["kind"]) != futures[future]] + [new]
            results.sort(key=lambda r: (r["method"], r["kind"], r["seed"]))
            write_atomic(file, json.dumps(results, indent=1).encode())
            told = f"{np.mean(new['auroc']):.2f}" if "auroc" in new else f"{new['rows_per_second']:.0f} rows/s"
            minutes = (time.perf_counter() - start) / 60
            print(f"{minutes:5.1f} min  {new['method']}, seed {new['seed']}: {told}", flush=True)
    write_atomic(RESULTS / "methods.md", report(results).encode())


if __name__ == "__main__":
    main()
