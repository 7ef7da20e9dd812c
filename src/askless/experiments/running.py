"""Running one task: load, split, fit, roll out the test rows, score."""

from __future__ import annotations

import os
import platform
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.acquisition import State, cost_model
from askless.exceptions import ExperimentError, ParameterError
from askless.experiments.results import FORMAT, checksum, pack_loss, pack_order
from askless.experiments.scoring import METRICS, case_losses, padded_order, scored_budgets, scores, steps_to_relevant
from askless.experiments.spending import (
    Ask,
    ScoresOnly,
    choosing_part,
    money_part,
    stopping_part,
    stopping_places,
)
from askless.experiments.task import Task
from askless.hints import did_you_mean, listed, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from askless.acquisition import CostModel, StoppingRule, Trajectory
    from askless.datasets import Dataset
    from askless.methods import Method
    from askless.model import FittedModel

__all__ = ["Split", "configured_method", "fit_task", "load_table", "run_task", "split_rows"]

TIMED = ("seconds", "explanation")  # parts of a model's summary that hold times
PACKAGES = ("torch", "numpy", "scikit-learn")  # their versions are in each result


@dataclass(frozen=True)
class Split:
    """Row numbers of a table."""

    train: np.ndarray
    valid: np.ndarray
    test: np.ndarray


def run_task(task: Task, checkpoint: str | os.PathLike[str] | None = None, threads: int = 1) -> dict[str, Any]:
    """The result of a task, ready for `write_result`.

    `checkpoint` is a file that keeps the progress of the fit, so that a killed process can continue. It does not
    change the result. The same versions give the same result, except `result["measured"]`, on any number of `threads`
    of the fit.
    """
    from askless.training import one_thread

    with one_thread():
        return _run(task, None if checkpoint is None else Path(checkpoint), threads)


def _run(task: Task, checkpoint: Path | None, threads: int) -> dict[str, Any]:
    data = load_table(task)
    rows = split_rows(len(data.frame), task)
    resumed = checkpoint is not None and checkpoint.exists()
    wall, cpu = time.perf_counter(), time.process_time()
    model = fit_task(task, data, rows, checkpoint, threads)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    prices = cost_model(data.cost_model, model.schema)
    test, valid = (_Part.of(task, model, data, prices, part) for part in (rows.test, rows.valid))
    start = time.perf_counter()
    trajectory, y = test.ask(()), test.y
    asking = time.perf_counter() - start
    budgets = scored_budgets(task.max_features, trajectory)
    alone = _alone(prices, model)
    result = {
        "format": FORMAT,
        "task": task.to_json(),
        "versions": _versions(),
        "data": {
            "task": model.task,
            "classes": [_plain(label) for label in model.classes],
            "features": list(model.schema.names),
            "costs": alone.tolist(),
            "rows": {"train": len(rows.train), "valid": len(rows.valid), "test": len(rows.test)},
        },
        **scores(model.task, trajectory, y, budgets),
        **({} if data.relevant is None else {"relevant": _relevant(trajectory, data.relevant[rows.test])}),
        **_spending(task, model, alone, test, valid, trajectory),
        "per_case": pack_loss(case_losses(model.task, trajectory, y, budgets)),
        "order": pack_order(padded_order(trajectory, task.max_features), len(model.schema)),
        "summary": _plain({name: part for name, part in model.summary.items() if name not in TIMED}),
        "measured": {
            "fit_seconds": wall,
            "fit_cpu_seconds": cpu,
            "method_seconds": _plain(model.summary["seconds"]),
            "rollout_seconds": asking,
            "peak_memory_mb": _peak_memory(),
            "host_cpu": _processor(),
            "resumed": resumed,  # then the times cover only the last part of the fit
        },
    }
    return {**result, "sha256": checksum(result)}


def _relevant(trajectory: Trajectory, relevant: np.ndarray) -> dict[str, float | None]:
    """After how many questions all relevant features were asked, and the least possible number."""
    steps = steps_to_relevant(trajectory.order, relevant)
    found = steps[steps > 0]
    return {
        "steps": float(found.mean()) if len(found) else None,
        "found": len(found) / len(steps),
        "least": float(relevant.sum(axis=1).mean()),
    }


def load_table(task: Task) -> Dataset:
    """The task's data set; raises if it has too few rows or features."""
    from askless.datasets import load_dataset

    data = load_dataset(task.dataset, **task.dataset_options)
    features = data.info.features
    if task.max_features > features:
        raise ExperimentError(
            "out_of_range",
            f"max_features must be at most {features}, the features of {task.dataset!r}, not {task.max_features}",
            name="max_features",
            value=task.max_features,
            high=features,
        )
    if task.rows is not None and task.rows > len(data.frame):
        raise ExperimentError(
            "out_of_range",
            f"rows must be at most {len(data.frame)}, the rows of {task.dataset!r}, not {task.rows}",
            name="rows",
            value=task.rows,
            high=len(data.frame),
        )
    return data


def split_rows(n: int, task: Task) -> Split:
    """Rows for training, validation and testing, out of `n`.

    The rows are permuted with `split_seed` and cut to `task.rows`. The first are for testing, the next for
    validation, and the rest for training.
    """
    order = np.random.default_rng(task.split_seed).permutation(n)[: task.rows]
    # A share of 0.142857142857 of 70,000 rows means 10,000 rows.
    test, valid = (int(len(order) * share + 1e-6) for share in (task.test_fraction, task.validation_fraction))
    if min(test, valid, len(order) - test - valid) < 1:
        raise ExperimentError(
            "too_few_rows",
            f"{len(order)} rows are too few for training, validation and test ({task})",
            rows=len(order),
        )
    return Split(order[test + valid :], order[test : test + valid], order[:test])


def configured_method(name: str, options: dict[str, Any]) -> Method:
    """The method of that name with these settings, checked; lists become tuples."""
    from askless.methods import find_method

    method = find_method(name)
    known = method.get_params(deep=False)
    for option in options:
        if option not in known:
            settings = f"its settings are {listed(known, most=99)}" if known else "it has no settings"
            raise ExperimentError(
                "unknown_name",
                f"the method {name!r} has no setting {option!r}{did_you_mean(option, known)}; {settings}",
                name=option,
                method=name,
                nearest=nearest(option, known),
                choices=list(known),
            )
    method.set_params(**{key: tuple(v) if isinstance(v, list) else v for key, v in options.items()})
    try:
        method.check()
    except ParameterError as error:
        fields = {**error.fields, "method": name}
        raise ExperimentError(error.code, f"the method {name!r}: {error}", **fields) from None
    return method


def fit_task(task: Task, data: Dataset, rows: Split, checkpoint: Path | None, threads: int = 1) -> FittedModel:
    """The fitted model; an interrupted fit continues from its checkpoint."""
    from askless.estimators import DynamicClassifier, DynamicRegressor

    pictures = data.info.image_shape is not None

    def part(numbers: np.ndarray) -> tuple[pd.DataFrame | np.ndarray, pd.Series]:
        return data.images[numbers] if pictures else data.frame.iloc[numbers], data.target.iloc[numbers]

    kind = DynamicClassifier if data.task == "classification" else DynamicRegressor
    estimator = kind(
        max_features=task.max_features,
        method=configured_method(task.method, task.method_options),
        groups=None if pictures else data.groups or None,
        patch_size=data.info.patch_size if pictures else None,
        costs=data.cost_model if task.costs == "used" else None,
        missing=task.missing,
        random_state=task.seed,
        device=task.device,
        n_threads=threads,
        verbose=False,
    )
    estimator.fit(*part(rows.train), validation=part(rows.valid), checkpoint=checkpoint)
    return estimator.model_


@dataclass(frozen=True)
class _Part:
    """Some rows: their roll-out, and their (n,) true labels or numbers."""

    ask: Ask
    y: np.ndarray

    @classmethod
    def of(cls, task: Task, model: FittedModel, data: Dataset, prices: CostModel, rows: np.ndarray) -> _Part:
        ask = partial(_ask, model, data.frame.iloc[rows], prices, task.costs == "used")
        return cls(ask, _truth(model, data.target.iloc[rows].to_numpy()))


def _ask(
    model: FittedModel, table: pd.DataFrame, prices: CostModel, weigh: bool, rules: Sequence[StoppingRule]
) -> Trajectory:
    """The roll-out of a table. Policies that need the true values are allowed, unlike in `model.rollout`.

    Prices are always paid. With `weigh` they also influence the choice of features.
    """
    from askless.acquisition import MaxFeatures, Trajectory, cases_at_once, rollout
    from askless.tables import row_chunks

    parts = [
        rollout(
            model.policy if weigh else ScoresOnly(model.policy),
            model.predictor,
            model.encoder.transform(chunk),
            model.schema,
            stopping=(*rules, MaxFeatures(model.max_features)),
            costs=prices,
            missing=model.missing,
            allow_truth=True,
        )
        for _, chunk in row_chunks(table, cases_at_once(model.schema))
    ]
    return Trajectory.join(parts)


def _alone(prices: CostModel, model: FittedModel) -> np.ndarray:
    """(features,) the cost of each feature as the first question."""
    nothing = np.zeros((1, len(model.schema)), dtype=bool)
    state = State(np.zeros((1, model.schema.n_columns), dtype=np.float32), nothing, nothing)
    return np.array(prices.prices(state)[0], dtype=np.float64)


def _spending(
    task: Task, model: FittedModel, prices: np.ndarray, test: _Part, valid: _Part, trajectory: Trajectory
) -> dict[str, Any]:
    """The parts of a result on money and stopping; empty if all prices (features,) are equal.

    Thresholds are chosen on the validation rows and evaluated on the test rows.
    """
    if bool(np.all(prices == prices[0])):
        return {}
    places = partial(
        stopping_places,
        budget=task.max_features,
        mean_price=float(prices.mean()),
        certain=model.task == "classification",
        informative=task.costs == "used" and model.informative,
    )
    metrics = METRICS[model.task]
    return {
        "money": money_part(test.ask, test.y, prices, metrics),
        "stopping": stopping_part(places(trajectory, test.ask), test.y, metrics),
        "stopping_valid": choosing_part(places(valid.ask(()), valid.ask), valid.y, model.task),
    }


def _truth(model: FittedModel, target: np.ndarray) -> np.ndarray:
    """(n,) codes of the model's classes, or numbers."""
    if model.task == "regression":
        return target.astype(np.float64)
    codes = {label: code for code, label in enumerate(model.classes)}
    strange = [label for label in target.tolist() if label not in codes]
    if strange:
        raise ExperimentError(
            "unknown_label", f"the label {strange[0]!r} is in the test rows but not in training", label=strange[0]
        )
    return np.array([codes[label] for label in target.tolist()], dtype=np.int64)


def _plain(value: Any) -> Any:
    """The value as JSON can hold it; a number that is not finite becomes null."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _versions() -> dict[str, str]:
    from askless.version import __version__

    packages = {name: version(name) for name in PACKAGES}
    return {"askless": __version__, **packages, "python": platform.python_version()}


def _peak_memory() -> float | None:
    """The peak memory of this process in megabytes; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024**2 if sys.platform == "darwin" else 1024), 1)  # bytes there, kilobytes elsewhere


def _processor() -> str:
    """The name of the processor."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
