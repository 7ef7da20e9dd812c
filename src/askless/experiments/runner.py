"""The local runner: one process for each task, several at once; finished tasks are not run again."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from askless.experiments.attempt import WORKER, Attempt, Failure, start_attempt
from askless.experiments.board import Board, Watcher
from askless.experiments.folder import Folder
from askless.experiments.locks import Lock
from askless.experiments.task import Task
from askless.signals import terminable

__all__ = ["Runner", "check_tables", "run_tasks"]

DISK_FULL = "the disk is full; free some space and run the same command to continue"
ATTEMPTS = 2  # of a task whose process dies
LOOK = 0.05  # seconds between two looks at the processes
LOOK_AGAIN = 1.0  # seconds until a task that another runner has is looked at again


def run_tasks(
    tasks: Sequence[Task],
    folder: Folder,
    watcher: Watcher,
    workers: int | None = None,
    command: Sequence[str] = WORKER,
) -> Board:
    """Run every task without a result; returns the final state of all tasks.

    A failure is written to the folder and does not stop other tasks. A task whose process dies runs once more.
    Several runners may share a folder: each task runs in one of them, and each runner waits for all tasks.
    """
    cores = os.cpu_count() or 1
    workers = workers or cores
    run = Runner(Board(tasks, workers), folder, watcher, workers, max(1, cores // workers), tuple(command))
    return run.to_the_end()


def check_tables(tasks: Sequence[Task]) -> None:
    """Load each data set once, so that a missing file or too few rows raise an error before anything runs."""
    from askless.experiments.running import load_table, split_rows

    lengths: dict[tuple[Any, ...], int] = {}
    for task in tasks:
        table = (task.dataset, repr(task.dataset_options), task.max_features, task.rows)
        if table not in lengths:
            lengths[table] = len(load_table(task).frame)
        split_rows(lengths[table], task)


class Runner:
    """The state of `run_tasks`."""

    def __init__(
        self, board: Board, folder: Folder, watcher: Watcher, workers: int, threads: int, command: tuple[str, ...]
    ) -> None:
        self.board, self.folder, self.watcher = board, folder, watcher
        self.workers, self.threads, self.command = workers, threads, command
        self.waiting: list[Task] = []
        self.running: list[Attempt] = []
        self.next_look: dict[str, float] = {}  # by key: when to look again at a task of another runner

    def to_the_end(self) -> Board:
        """Run the loop; an interrupt leaves the folder in order."""
        with terminable():
            try:
                self.loop()
            except KeyboardInterrupt:
                done = self.board.count("done")
                raise KeyboardInterrupt(
                    f"{done} of {len(self.board.tasks)} tasks are done; run the same command to continue"
                ) from None
            finally:
                self.end()
        return self.board

    def loop(self) -> None:
        """Until every task is done or has failed."""
        leftovers = self.folder.leftovers()
        for task in self.board.tasks:
            result = self.folder.done(task)
            if result is None:
                self.waiting.append(task)
                continue
            self.board.done(task, result)
            if task.key in leftovers:
                self.folder.clear_up_done(task)
        self.watcher.begin(self.board)
        with _interrupts_wait() as interrupts:
            while self.waiting or self.running:
                self._start()
                for attempt in [attempt for attempt in self.running if attempt.over()]:
                    self._finish(attempt)
                self.watcher.look(self.board)
                if interrupts:
                    raise KeyboardInterrupt
                time.sleep(LOOK)

    def end(self) -> None:
        """End the running processes, and release their locks."""
        for attempt in self.running:
            attempt.end()
            self.folder.clear_up(attempt.task)
            attempt.lock.release()
        self.running = []
        self.watcher.end(self.board)

    def _start(self) -> None:
        """Start waiting tasks until all workers are busy."""
        for task in list(self.waiting):
            if len(self.running) >= self.workers:
                return
            if time.monotonic() < self.next_look.get(task.key, 0.0):
                continue
            lock = self.folder.take(task)
            if lock is None:
                self.board.set(task, "elsewhere")
                self.next_look[task.key] = time.monotonic() + LOOK_AGAIN
                continue
            self.waiting.remove(task)
            if not self._settled_elsewhere(task, lock):
                self._launch(task, lock, 1)

    def _settled_elsewhere(self, task: Task, lock: Lock) -> bool:
        """Whether another runner finished the task before this one got the lock."""
        result = self.folder.done(task)
        if result is not None:
            self.board.done(task, result)
            self.watcher.tell(self.board, task, "done by another runner")
        elif self.folder.failed_elsewhere(task):
            self.board.fail(task, "failed in another runner")
            self.watcher.tell(self.board, task, "failed in another runner")
        else:
            return False
        lock.release()
        return True

    def _launch(self, task: Task, lock: Lock, number: int) -> None:
        self.running.append(start_attempt(task, self.folder.path, lock, number, self.threads, self.command))
        self.board.set(task, "running")

    def _finish(self, attempt: Attempt) -> None:
        """Store the result or the failure of a process that has ended."""
        task = attempt.task
        result = self.folder.done(task) if attempt.process.returncode == 0 else None
        failure = None if result is not None else attempt.failure()
        self.running.remove(attempt)
        attempt.close()
        if failure is not None and failure.crashed and attempt.number < ATTEMPTS:
            self.folder.clear_up(task)
            self._launch(task, attempt.lock, attempt.number + 1)
            self.watcher.tell(self.board, task, f"{failure.error}; it runs once more")
            return
        try:
            self._settle(task, result, failure)
        finally:
            self.folder.clear_up(task)
            attempt.lock.release()

    def _settle(self, task: Task, result: dict[str, Any] | None, failure: Failure | None) -> None:
        """Store the end of a task."""
        if result is not None:
            self.board.done(task, result)
            self.folder.forget_failure(task)
            self.watcher.tell(self.board, task, f"done in {self.board.elapsed(task):.0f} s")
        elif failure is not None:
            if failure.disk_full:
                raise OSError(errno.ENOSPC, DISK_FULL, str(self.folder.path))
            file = self.folder.note_failure(
                task, {"error": failure.error, "code": failure.code, "traceback": failure.traceback}
            )
            self.board.fail(task, failure.error)
            self.watcher.tell(self.board, task, f"failed: {failure.error} ({file})")


@contextmanager
def _interrupts_wait() -> Iterator[list[int]]:
    """A list of the interrupts so far, which the loop reads between two steps; a second interrupt acts at once."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def note(number: int, frame: Any) -> None:
        came.append(number)
        if len(came) > 1:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
