"""How time and memory of a fit grow with rows, features and the budget. Each fit runs in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

SWEEPS: dict[str, list[tuple[int, int, int]]] = {  # (rows, features, budget)
    "rows": [(10**k, 100, 10) for k in (3, 4, 5, 6)],
    "features": [(2000, features, 10) for features in (10, 100, 1000, 5000)],
    "budget": [(5000, 100, budget) for budget in (1, 5, 20, 50)],
}
SETTINGS: dict[str, dict[str, object]] = {  # a fit of 5,000 features takes minutes: a third of the usual steps
    "features": {"epochs": 26, "pretrain_epochs": 40, "polish": False},
}
QUICK: dict[str, list[tuple[int, int, int]]] = {"rows": [(200, 10, 3), (400, 10, 3)]}


def growth(quick: bool) -> dict[str, list[dict[str, float]]]:
    """Seconds and peak memory (MiB, all of the process) of fits, with the default settings where none are given."""
    if quick:
        tiny: dict[str, object] = {"epochs": 1, "pretrain_epochs": 1}
        return {name: [_measured(*shape, tiny) for shape in shapes] for name, shapes in QUICK.items()}
    return {name: [_measured(*shape, SETTINGS.get(name, {})) for shape in shapes] for name, shapes in SWEEPS.items()}


def exponent(sizes: list[float], costs: list[float]) -> float:
    """The slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def _measured(rows: int, features: int, budget: int, settings: dict[str, object]) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__)), json.dumps([rows, features, budget, settings])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print("growth", told, flush=True)
    return told


def _peak() -> float:
    """MiB; Linux counts a child's memory from before it became another program, so ask the kernel's other record."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if "VmHWM" in line) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))


def _fit(rows: int, features: int, budget: int, settings: dict[str, Any]) -> dict[str, float]:
    """A fit on numbers of which ten tell about the class, each less than the one before."""
    from askless import DynamicClassifier
    from askless.methods import Greedy

    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features), dtype=np.float32)
    telling = X[:, : min(10, features)]
    logit = telling @ np.geomspace(3, 0.3, telling.shape[1]) + rng.logistic(size=rows)
    y = (logit > 0).astype(int)
    before = _peak()
    method = Greedy(**settings)
    start = time.perf_counter()
    model = DynamicClassifier(max_features=budget, method=method).fit(X, y)
    seconds = time.perf_counter() - start
    score = model.score(X[:5000], y[:5000])
    return {
        "rows": rows,
        "features": features,
        "budget": budget,
        "seconds": seconds,
        "peak": _peak(),
        "before": before,
        "accuracy": float(score),
    }


if __name__ == "__main__":
    print(json.dumps(_fit(*json.loads(sys.argv[1]))))
