"""The same tasks on a Dask cluster.

Tasks and results travel through the scheduler: no disk is shared. A worker runs each task in a process of its own, as
the local runner does, so that times and memory mean the same and a crash is the task's alone.
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

from askless.exceptions import ClusterError
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
"""What a worker does with a task; the result is as that of `run_task`."""


def run_on_dask(
    tasks: Sequence[Task], folder: Folder, watcher: Watcher, address: str, run: Run | None = None
) -> Board:
    """Run every task that has no result yet on the cluster at `address`; like `run_tasks`, which runs them here.

    Results are written here, as they come. The tasks of a worker that dies are run by the others; those whose results
    have come are not run again. `run` is what workers do with a task: `run_in_own_process`.
    """
    with connected(address) as client:
        _check_workers(client)
        cluster_run = _ClusterRun(Board(tasks, 1), folder, watcher, client, run or run_in_own_process)
        return cluster_run.to_the_end()


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the cluster's scheduler."""
    try:
        client = _distributed().Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address} ({error})") from error
    with client:
        yield client


def _distributed() -> Any:
    """The package; the error says how to get it."""
    try:
        return import_module("distributed")
    except ModuleNotFoundError as error:
        if error.name != "distributed":
            raise
        raise ModuleNotFoundError(
            "a Dask cluster needs the package distributed: pip install 'askless[cluster]'", name=error.name
        ) from None


def _check_workers(client: Client) -> None:
    """Raise an error unless there are workers, all with this version of askless; warn where tasks would share one."""
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER)
    except TimeoutError:
        raise ClusterError(f"the Dask scheduler has had no worker for {FIRST_WORKER} seconds; start some") from None
    for worker, found in client.run(_version_there, on_error="return").items():
        if isinstance(found, ModuleNotFoundError):
            raise ClusterError(f"the worker {worker} cannot import askless ({found}); install askless {__version__}")
        if isinstance(found, BaseException):
            raise ClusterError(f"the worker {worker} does not work: {type(found).__name__}: {found}")
        if found != __version__:
            raise ClusterError(_other_version(worker, found))
    shared = [worker for worker, threads in client.nthreads().items() if threads > 1]
    if shared:
        message = f"the worker {shared[0]} runs several tasks at once; start workers with --nthreads 1"
        warnings.warn(f"{message}, one for each core", UserWarning, stacklevel=3)


def _version_there() -> str:
    return __version__


def _other_version(worker: str, version: str) -> str:
    return f"the worker {worker} has askless {version}, this is {__version__}; install the same version on both"


# What workers do


def run_task_json(task: bytes, version: str, run: Run) -> bytes:
    """Run a task in a worker. Task and result are JSON; so is an error, which another worker would meet too."""
    worker = _distributed().get_worker().address
    if version != __version__:  # of a worker that came later
        raise ClusterError(f"the worker {worker} has askless {__version__}, the client {version}; use the same")
    try:
        return canonical_json({"worker": worker, "result": run(Task.from_json(json.loads(task)))})
    except _Failed as failed:
        return canonical_json(
            {"worker": worker, "error": failed.failure.error, "traceback": failed.failure.traceback}
        )


def run_in_own_process(task: Task) -> dict[str, Any]:
    """Run a task in a new process on the worker's machine, which ends with the worker."""
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


# What the client does


@dataclass
class _Remote:
    """A task that the cluster has."""

    task: Task
    lock: Lock
    future: Future

    def over(self) -> bool:
        """Whether there is a result or an error."""
        return bool(self.future.done())

    def end(self) -> None:
        """Nobody wants the result any more."""
        self.future.cancel()


class _ClusterRun(Runner):
    """The loop of the local runner, with a cluster in place of processes."""

    def __init__(self, board: Board, folder: Folder, watcher: Watcher, client: Client, run: Run) -> None:
        super().__init__(board, folder, watcher, 0, 1, ())
        self._client, self._work = client, run
        self._counted = -COUNT_AGAIN

    def _start(self) -> None:
        """Begin as many tasks as workers have threads: what waits here can still be run by others."""
        if self._client.status != "running":
            done = self.board.count("done")
            raise ClusterError(
                f"the Dask scheduler is gone; {done} tasks are done, the same command goes on from there"
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
        """Take note of a result, or of an error."""
        remote: _Remote = attempt
        self.running.remove(attempt)
        result, failure = _outcome(remote.future)
        # Otherwise Dask would run the task again, to have its result, if the worker that holds it died.
        remote.future.release()
        try:
            if result is not None:
                write_result(self.folder.path, result)
            self._settle(remote.task, result, failure)
        finally:
            remote.lock.release()


def _outcome(future: Future) -> tuple[dict[str, Any] | None, Failure | None]:
    """The result, or why there is none."""
    if future.status == "cancelled":
        raise ClusterError("the Dask scheduler has dropped a task; the same command goes on from what is done")
    if future.status == "error":
        error = future.exception()
        told = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return None, Failure(told, "".join(traceback.format_exception(error)), crashed=False)
    answer = json.loads(future.result())
    if "error" in answer:
        return None, Failure(f"{answer['error']} (on {answer['worker']})", answer["traceback"], crashed=False)
    return answer["result"], None
