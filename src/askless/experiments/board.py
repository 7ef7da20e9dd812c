"""The state of an experiment: which tasks wait, run, are done or have failed, and the time left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from askless.experiments.task import Task

__all__ = ["Board", "Status", "Watcher"]

Status = Literal["waiting", "running", "elsewhere", "done", "failed"]


@dataclass
class Board:
    """The state of every task."""

    tasks: Sequence[Task]
    workers: int
    status: dict[str, Status] = field(default_factory=dict)  # by key
    since: dict[str, float] = field(default_factory=dict)  # start times of running tasks
    seconds: dict[str, float] = field(default_factory=dict)  # durations of finished tasks
    failures: dict[str, str] = field(default_factory=dict)  # error messages of failed tasks

    def __post_init__(self) -> None:
        self.status = {task.key: "waiting" for task in self.tasks}

    def set(self, task: Task, status: Status) -> None:
        """Set the status of a task."""
        if status == "running":
            self.since[task.key] = time.monotonic()
        self.status[task.key] = status

    def done(self, task: Task, result: dict[str, Any]) -> None:
        """Set a task to done, with its duration."""
        measured = result["measured"]
        if not measured.get("resumed"):
            known = float(measured["fit_seconds"]) + float(measured["rollout_seconds"])
            here = self.status[task.key] == "running"
            self.seconds[task.key] = self.elapsed(task) if here else known
        self.status[task.key] = "done"

    def fail(self, task: Task, why: str) -> None:
        """Set a task to failed."""
        self.failures[task.key] = why
        self.status[task.key] = "failed"

    def count(self, status: Status) -> int:
        """How many tasks have this status."""
        return Counter(self.status.values())[status]

    def elapsed(self, task: Task) -> float:
        """Seconds since a running task started."""
        return time.monotonic() - self.since[task.key]

    def time_left(self) -> float | None:
        """Estimated seconds until all tasks are done, from similar tasks; None if no task is done yet."""
        if not self.seconds:
            return None
        left = 0.0
        for task in self.tasks:
            status = self.status[task.key]
            if status == "waiting":
                left += self._expected(task)
            elif status == "running":
                left += max(0.0, self._expected(task) - self.elapsed(task))
        return left / max(1, min(self.workers, self.count("waiting") + self.count("running")))

    def _expected(self, task: Task) -> float:
        """The mean time of the most similar finished tasks."""
        known = [other for other in self.tasks if other.key in self.seconds]
        for like in (
            [other for other in known if (other.dataset, other.label) == (task.dataset, task.label)],
            [other for other in known if other.label == task.label],
            [other for other in known if other.dataset == task.dataset],
            known,
        ):
            if like:
                return sum(self.seconds[other.key] for other in like) / len(like)
        return 0.0


class Watcher(Protocol):
    """Receives the progress of an experiment."""

    def begin(self, board: Board) -> None:
        """Called once, when the finished tasks are known and before others start."""
        ...

    def look(self, board: Board) -> None:
        """Called several times a second."""
        ...

    def tell(self, board: Board, task: Task, what: str) -> None:
        """Called when a task ends or is tried again."""
        ...

    def end(self, board: Board) -> None:
        """Called once, at the end."""
        ...
