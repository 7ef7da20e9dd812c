"""The folder of an experiment: results, failures, checkpoints and locks, all named by the keys of tasks."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from askless.exceptions import ExperimentError
from askless.experiments.config import Experiment
from askless.experiments.locks import Lock, take_lock
from askless.experiments.results import checkpoint_path, read_result, result_path
from askless.experiments.task import Task, canonical_json
from askless.files import write_atomic

__all__ = ["EXPERIMENT", "Folder"]

EXPERIMENT = "experiment.json"
PLACES = ("results", "failures", "checkpoints", "locks")


class Folder:
    """The folder that one or more runners write to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for place in PLACES:
            (path / place).mkdir(parents=True, exist_ok=True)
        self._before = {file.name: file.stat().st_mtime_ns for file in (path / "failures").glob("*.json")}

    def describe(self, experiment: Experiment) -> None:
        """Write the experiment to the folder; refuse a folder of another experiment."""
        other = self._experiment()
        if other is not None and other != experiment.name:
            raise ExperimentError(
                "wrong_file",
                f"{self.path} holds the results of the experiment {other!r}; choose another folder",
                path=str(self.path),
                name=other,
                expected=experiment.name,
            )
        write_atomic(self.path / EXPERIMENT, canonical_json(experiment.to_json()))

    def _experiment(self) -> str | None:
        """The name in `experiment.json`; None if it is missing or damaged, so that a run writes it again."""
        with suppress(FileNotFoundError, ValueError, TypeError, KeyError, RecursionError):
            return str(json.loads((self.path / EXPERIMENT).read_bytes())["name"])
        return None

    def done(self, task: Task) -> dict[str, Any] | None:
        """The task's result or None. A damaged result is renamed, so that the task runs again."""
        return read_result(result_path(self.path, task), set_aside=True)

    def failed_elsewhere(self, task: Task) -> bool:
        """Whether the task failed in another runner after this one started."""
        file = self._failure(task)
        try:
            return file.stat().st_mtime_ns != self._before.get(file.name)
        except FileNotFoundError:
            return False

    def take(self, task: Task) -> Lock | None:
        """The lock of the task, or None while another process runs it. Removes files of killed processes."""
        lock = take_lock(self.path / "locks" / task.key)
        if lock is not None:
            self.clear_up(task)
        return lock

    def leftovers(self) -> set[str]:
        """The keys of tasks that are running or whose process was killed."""
        files = [file for place in ("checkpoints", "locks") for file in (self.path / place).iterdir()]
        files += [file for place in ("results", "failures") for file in (self.path / place).glob(".*.part")]
        return {file.name.lstrip(".").partition(".")[0] for file in files}

    def clear_up_done(self, task: Task) -> None:
        """Remove the checkpoint of a process that was killed just after it had written the result."""
        lock = self.take(task)
        if lock is not None:
            checkpoint_path(self.path, task).unlink(missing_ok=True)
            lock.release()

    def clear_up(self, task: Task) -> None:
        """Remove partly written files of a killed process."""
        for place in PLACES:
            for file in (self.path / place).glob(f".{task.key}.*.part"):
                file.unlink(missing_ok=True)

    def note_failure(self, task: Task, failure: dict[str, Any]) -> Path:
        """Write the failure to a file; returns its path."""
        file = self._failure(task)
        write_atomic(file, json.dumps({"task": task.to_json(), **failure}, indent=1, ensure_ascii=False).encode())
        return file

    def forget_failure(self, task: Task) -> None:
        """Remove the failure of a task that has succeeded."""
        self._failure(task).unlink(missing_ok=True)

    def _failure(self, task: Task) -> Path:
        return self.path / "failures" / f"{task.key}.json"
