"""Where an experiment stands: which tasks wait, run, are done or have failed, and how long the rest will take."""

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
    since: dict[str, float] = field(default_factory=dict)  # when a running task began
    seconds: dict[str, float] = field(default_factory=dict)  # how long a task took that is done
    failures: dict[str, str] = field(default_factory=dict)  # why a task has failed

    def __post_init__(self) -> None:
        self.status = {task.key: "waiting" for task in self.tasks}

    def set(self, task: Task, status: Status) -> None:
        """Note where a task stands."""
        if status == "running":
            self.since[task.key] = time.monotonic()
        self.status[task.key] = status

    def done(self, task: Task, result: dict[str, Any]) -> None:
        """Note that a task is done, and what it took."""
        measured = result["measured"]
        if not measured.get("resumed"):
            known = float(measured["fit_seconds"]) + float(measured["rollout_seconds"])
            here = self.status[task.key] == "running"
            self.seconds[task.key] = self.elapsed(task) if here else known
        self.status[task.key] = "done"

    def fail(self, task: Task, why: str) -> None:
        """Note that a task has failed for good."""
        self.failures[task.key] = why
        self.status[task.key] = "failed"

    def count(self, status: Status) -> int:
        """How many tasks are in that state."""
        return Counter(self.status.values())[status]

    def elapsed(self, task: Task) -> float:
        """Seconds since a running task began."""
        return time.monotonic() - self.since[task.key]

    def time_left(self) -> float | None:
        """Seconds until all is done, judged by what like tasks took; None as long as nothing is known."""
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
        """The mean time of the tasks that are most like this one."""
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
    """Who is told how an experiment gets on."""

    def begin(self, board: Board) -> None:
        """The tasks that were done before are known; the others begin."""
        ...

    def look(self, board: Board) -> None:
        """Called several times a second."""
        ...

    def tell(self, board: Board, task: Task, what: str) -> None:
        """Something has happened to a task."""
        ...

    def end(self, board: Board) -> None:
        """Nothing more will happen."""
        ...
