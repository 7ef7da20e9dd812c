"""Results as `run_task` returns them, made up: the report needs no fits to be tested or looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askless.experiments.results import pack_loss, pack_order, write_result
from askless.experiments.task import Task

VERSIONS = {"askless": "0.1.0", "torch": "2.13.0", "numpy": "2.3.0", "scikit-learn": "1.7.0", "python": "3.11.7"}


def result(
    dataset: str = "made",
    method: str = "greedy",
    *,
    seed: int = 0,
    curve: Sequence[float] = (0.5, 0.8, 0.9),
    metric: str = "auroc",
    features: Sequence[str] = ("age", "sex", "weight", "height"),
    order: np.ndarray | None = None,
    loss: np.ndarray | None = None,
    max_features: int | None = None,
    split_seed: int | None = None,
    seconds: float = 10.0,
    **task: Any,
) -> dict[str, Any]:
    """One result whose curve (budgets 0..k) is given; all that is not given follows from it."""
    given = [len(array) for array in (loss, order) if array is not None]
    k, n = len(curve) - 1, given[0] if given else 50
    rng = np.random.default_rng([seed, sum(map(ord, method))])
    regression = metric in ("r2", "rmse", "mae")
    score = np.asarray(curve, dtype=float)
    asked = (
        np.argsort(rng.random((n, len(features))) + np.arange(len(features)), axis=1)[:, :k]
        if order is None
        else order
    )
    losses = np.clip(rng.normal(1.2 - score, 0.2, (n, k + 1)), 0.01, None) if loss is None else loss
    others = (
        {"rmse": 1 - score, "mae": 0.8 - score} if regression else {"accuracy": score - 0.05, "log_loss": 1 - score}
    )
    described = Task(
        dataset=dataset,
        method=method,
        seed=seed,
        split_seed=seed if split_seed is None else split_seed,
        max_features=k if max_features is None else max_features,
        **task,
    )
    made = {
        "format": 1,
        "task": described.to_json(),
        "versions": VERSIONS,
        "data": {
            "task": "regression" if regression else "classification",
            "classes": [] if regression else ["no", "yes"],
            "features": list(features),
            "costs": [1.0] * len(features),
            "rows": {"train": 3 * n, "valid": n, "test": n},
        },
        "curves": {
            "budget": list(range(k + 1)),
            "cost": [float(i) for i in range(k + 1)],
            **_listed(others | {metric: score}),
        },
        "per_case": pack_loss(losses),
        "order": pack_order(asked, len(features)),
        "summary": {},
        "measured": {
            "fit_seconds": seconds,
            "fit_cpu_seconds": 1.1 * seconds,
            "rollout_seconds": 0.05,
            "peak_memory_mb": 400.0 + seed,
            "host_cpu": "a processor",
        },
    }
    if not regression:
        ece = 0.02 + 0.04 * (1 - score) + 0.004 * rng.random(k + 1)
        made["calibration"] = {"budget": list(range(k + 1)), **_listed({"ece": ece})}
    return made


def _listed(curves: Mapping[str, np.ndarray]) -> dict[str, list[float]]:
    return {name: [float(value) for value in curve] for name, curve in curves.items()}


def write(folder: Path, results: Sequence[dict[str, Any]]) -> Path:
    """Put the results where a report looks for them."""
    for made in results:
        write_result(folder, made)
    return folder
