"""The same tasks on a Dask cluster.

Tasks and results travel through the scheduler: no disk is shared. A worker runs each task in its own process, like
the local runner. Times and memory are comparable, and a crash affects one task only.
"""

from __future__ import annotations

import json
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from uuid import uuid4

from askless.exceptions import AsklessWarning, ClusterError
from askless.experiments.attempt import Failure, start_attempt
from askless.experiments.board import Board, Watcher
from askless.experiments.folder import Folder
from askless.experiments.locks import Lock, take_lock
from askless.experiments.results import read_result, result_path, write_result
from askless.experiments.runner import ATTEMPTS, Runner
from askless.experiments.task import Task, canonical_json
from askless.version import __version__

__all__ = ["connected", "run_in_own_process", "run_on_dask", "run_task_json"]

ANSWER, FIRST_WORKER = "10 s", 60  # how long to wait for the scheduler's answer, and for a worker to be there
COUNT_AGAIN = 1.0  # seconds until the workers are counted again

Client: TypeAlias = Any  # distributed's own types are incomplete
Future: TypeAlias = Any

Run = Callable[[Task], dict[str, Any]]
"""Runs a task on a worker and returns a result like that of `run_task`."""


def run_on_dask(
    tasks: Sequence[Task], folder: Folder, watcher: Watcher, address: str, run: Run | None = None
) -> Board:
    """Run every task without a result on the cluster at `address`; the counterpart of `run_tasks`.

    Results are written here as they arrive. If a worker dies, other workers run its unfinished tasks. `run` runs a
    task on a worker; the default is `run_in_own_process`.
    """
    with connected(address) as client:
        _check_workers(client)
        cluster_run = _ClusterRun(Board(tasks, 1), folder, watcher, client, run or run_in_own_process)
        return cluster_run.to_the_end()


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the cluster's scheduler."""
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            "cluster_failed", f"no Dask scheduler answers at {address} ({error})", address=address
        ) from error
    with client:
        yield client


def _distributed() -> Any:
    """The package `distributed`; the error says how to install it."""
    try:
        return import_module("distributed")
    except ModuleNotFoundError as error:
        if error.name != "distributed":
            raise
        raise ClusterError(
            "missing_package",
            "a Dask cluster needs the package `distributed`: pip install 'dask[dataframe]' distributed",
            package=error.name,
        ) from None


def _check_workers(client: Client) -> None:
    """Raise an error unless there are workers with this version of askless; warn if tasks would share a worker."""
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER)
    except TimeoutError:
        raise ClusterError(
            "cluster_failed", f"the Dask scheduler had no worker for {FIRST_WORKER} seconds; start workers"
        ) from None
    for worker, found in client.run(_version_there, on_error="return").items():
        if isinstance(found, ModuleNotFoundError):
            raise ClusterError(
                "cluster_failed",
                f"the worker {worker} cannot import askless ({found}); install askless {__version__}",
                worker=worker,
                expected=__version__,
            )
        if isinstance(found, BaseException):
            raise ClusterError(
                "cluster_failed", f"the worker {worker} failed: {type(found).__name__}: {found}", worker=worker
            )
        if found != __version__:
            raise _other_version(worker, found, __version__)
    shared = [worker for worker, threads in client.nthreads().items() if threads > 1]
    if shared:
        message = (
            f"the worker {shared[0]} runs several tasks at once; start one worker for each core with --nthreads 1"
        )
        warnings.warn(AsklessWarning("shared_worker", message, worker=shared[0]), stacklevel=3)


def _version_there() -> str:
    return __version__


def _other_version(worker: str, found: str, expected: str) -> ClusterError:
    return ClusterError(
        "cluster_failed",
        f"the worker {worker} has askless {found}, the client has {expected}; install the same version on both",
        worker=worker,
        value=found,
        expected=expected,
    )


# On the workers


def run_task_json(task: bytes, version: str, run: Run) -> bytes:
    """Run a task on a worker. Task and result are JSON, and so is an error that other workers would get too."""
    worker = _distributed().get_worker().address
    if version != __version__:  # of a worker that joined later
        raise _other_version(worker, __version__, version)
    try:
        return canonical_json({"worker": worker, "result": run(Task.from_json(json.loads(task)))})
    except _Failed as failed:
        failure = failed.failure
        return canonical_json(
            {"worker": worker, "error": failure.error, "code": failure.code, "traceback": failure.traceback}
        )


def run_in_own_process(task: Task) -> dict[str, Any]:
    """Run a task in a new process on the worker's machine; it ends with the worker."""
    with TemporaryDirectory(dir=_distributed().get_worker().local_directory) as folder:
        lock = take_lock(Path(folder) / "lock")
        assert lock is not None
        attempt = start_attempt(task, Path(folder), lock, 1, threads=1)
        try:
            code = attempt.process.wait()
            result = read_result(result_path(folder, task)) if code == 0 else None
            if result is not None:
                return result
            failure = attempt.failure()
        finally:
            attempt.close()
            lock.release()
    if failure.crashed:
        raise RuntimeError(failure.error)  # Dask tries again
    raise _Failed(failure)


class _Failed(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.error)
        self.failure = failure


# On the client


@dataclass
class _Remote:
    """A task that was sent to the cluster."""

    task: Task
    lock: Lock
    future: Future

    def over(self) -> bool:
        """Whether there is a result or an error."""
        return bool(self.future.done())

    def end(self) -> None:
        """Cancel the task."""
        self.future.cancel()


class _ClusterRun(Runner):
    """The loop of the local runner on a cluster."""

    def __init__(self, board: Board, folder: Folder, watcher: Watcher, client: Client, run: Run) -> None:
        super().__init__(board, folder, watcher, 0, 1, ())
        self._client, self._work = client, run
        self._counted = -COUNT_AGAIN

    def _start(self) -> None:
        """Send one task for each thread of the workers. Other runners can still take the tasks that wait here."""
        if self._client.status != "running":
            done = self.board.count("done")
            raise ClusterError(
                "cluster_failed",
                f"the Dask scheduler is gone; {done} tasks are done, run the same command to continue",
                done=done,
            )
        if time.monotonic() - self._counted > COUNT_AGAIN:
            self.workers = sum(self._client.nthreads().values())
            self.board.workers = max(1, self.workers)
            self._counted = time.monotonic()
        super()._start()

    def _launch(self, task: Task, lock: Lock, number: int) -> None:
        future = self._client.submit(
            run_task_json,
            canonical_json(task.to_json()),
            __version__,
            self._work,
            key=f"askless-{task.key}-{uuid4().hex}",
            pure=False,
            retries=ATTEMPTS - 1,
        )
        self.running.append(_Remote(task, lock, future))  # type: ignore[arg-type]
        self.board.set(task, "running")

    def _finish(self, attempt: Any) -> None:
        """Store a result or a failure."""
        remote: _Remote = attempt
        self.running.remove(attempt)
        result, failure = _outcome(remote.future)
        # Otherwise Dask would run the task again if the worker that holds its result died.
        remote.future.release()
        try:
            if result is not None:
                write_result(self.folder.path, result)
            self._settle(remote.task, result, failure)
        finally:
            remote.lock.release()


def _outcome(future: Future) -> tuple[dict[str, Any] | None, Failure | None]:
    """The result or the failure."""
    if future.status == "cancelled":
        raise ClusterError(
            "cluster_failed", "the Dask scheduler dropped a task; run the same command to continue with the rest"
        )
    if future.status == "error":
        error = future.exception()
        message = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return None, Failure(message, "".join(traceback.format_exception(error)), crashed=False)
    answer = json.loads(future.result())
    if "error" in answer:
        message = f"{answer['error']} (on {answer['worker']})"
        return None, Failure(message, answer["traceback"], crashed=False, code=answer["code"])
    return answer["result"], None
