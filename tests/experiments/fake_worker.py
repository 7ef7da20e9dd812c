"""Stands in for `askless.experiments.worker`: does at once, or badly, what the task's method says.

    python fake_worker.py FOLDER        (the task on standard input)

Appends a line to FOLDER/ran for each process, so that tests can count them.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np

from askless.experiments.results import checksum, pack_loss, pack_order, write_result
from askless.experiments.task import Task

COMMAND = (sys.executable, str(Path(__file__).resolve()))


def fake_task(method="ok", seed=0, **options):
    return Task(dataset="fake", method=method, method_options=options, seed=seed, max_features=2)


def fake_result(task, seconds=0.5):
    rng = np.random.default_rng(task.seed)
    result = {
        "format": 1,
        "task": task.to_json(),
        "versions": {"askless": "0"},
        "data": {
            "task": "classification",
            "classes": [0, 1],
            "features": ["a", "b", "c"],
            "costs": [1.0, 1.0, 1.0],
            "rows": {"train": 3, "valid": 1, "test": 4},
        },
        "curves": {"budget": [0, 1, 2], "auroc": rng.random(3).tolist(), "cost": [0.0, 1.0, 2.0]},
        "per_case": pack_loss(rng.random((4, 3))),
        "order": pack_order(rng.permuted(np.tile(np.arange(3), (4, 1)), axis=1)[:, :2], 3),
        "summary": {},
        "measured": {"fit_seconds": seconds, "rollout_seconds": 0.0},
    }
    return {**result, "sha256": checksum(result)}


def ran(folder):
    """The keys of the tasks for which a process was started, in order."""
    file = Path(folder) / "ran"
    return file.read_text().split() if file.exists() else []


def _fail(error, number=None):
    told = {"error": error, "kind": "OSError" if number else "ValueError", "errno": number, "traceback": "T r a c e"}
    print(json.dumps(told))
    sys.exit(1)


def main(folder, task):
    with open(folder / "ran", "a") as file:
        file.write(f"{task.key}\n")
    first = ran(folder).count(task.key) == 1
    time.sleep(task.method_options.get("seconds", 0))
    if task.method == "exits":
        os._exit(7)
    if task.method == "killed" or (task.method == "killed once" and first):
        os.kill(os.getpid(), signal.SIGKILL)
    if task.method == "says":
        _fail("the table is\n  wrong")
    if task.method == "full":
        _fail("No space left on device", 28)
    if task.method != "writes nothing":
        write_result(folder, fake_result(task))


def _end_with_the_runner():
    while os.read(0, 1024):
        pass
    os._exit(3)


if __name__ == "__main__":
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(0, 1) or os._exit(3)
    threading.Thread(target=_end_with_the_runner, daemon=True).start()
    main(Path(sys.argv[1]), Task.from_json(json.loads(line)))
