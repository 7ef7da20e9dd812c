"""One process that runs one task, and its outcome."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askless.experiments.locks import Lock
from askless.experiments.task import Task

__all__ = ["WORKER", "Attempt", "Failure", "start_attempt"]

WORKER = (sys.executable, "-m", "askless.experiments.worker")
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
KEPT_MEMORY = {  # glibc keeps freed memory for the next training step, which needs as much: 6 % faster
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
}
FULL = (errno.ENOSPC, errno.EDQUOT)
TAIL = 4000  # last characters of a process's output


@dataclass(frozen=True)
class Failure:
    """Why a process left no result."""

    error: str  # one sentence
    traceback: str
    crashed: bool  # the process died without an error message: run it once more
    disk_full: bool = False
    code: str | None = None  # of an error of askless


@dataclass
class Attempt:
    """A running process; its output goes to temporary files."""

    task: Task
    lock: Lock
    number: int  # of the attempts at this task, from 1 on
    process: subprocess.Popen[bytes]
    output: Any
    errors: Any

    def over(self) -> bool:
        """Whether the process has ended."""
        return self.process.poll() is not None

    def end(self) -> None:
        """Kill the process. It writes files in one step, so none is left half written."""
        self.process.kill()
        self.process.wait()
        self.close()

    def close(self) -> None:
        """Close the pipe and the files of the process."""
        for file in (self.process.stdin, self.output, self.errors):
            with suppress(OSError):  # the process did not read all input
                if file is not None:
                    file.close()

    def failure(self) -> Failure:
        """The error of the process, or how it ended."""
        said = _read(self.errors)
        if self.process.returncode == 1:
            with suppress(ValueError, KeyError, TypeError, IndexError):
                report = json.loads(_read(self.output, None).strip().splitlines()[-1])
                where = (
                    ""
                    if report["kind"].endswith("Error") and report["error"] != report["kind"]
                    else report["kind"] + ": "
                )
                error = " ".join(f"{where}{report['error']}".split())
                full = report["errno"] in FULL
                return Failure(error, report["traceback"], crashed=False, disk_full=full, code=report.get("code"))
        return Failure(_death(self.process.returncode), said, crashed=True)


def start_attempt(
    task: Task, folder: Path, lock: Lock, number: int, threads: int, command: Sequence[str] = WORKER
) -> Attempt:
    """Start a process for the task. Ctrl-C in the terminal does not reach it; the runner ends it."""
    output, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed with the attempt
    process = subprocess.Popen(
        [*command, str(folder)],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=errors,
        env={**KEPT_MEMORY, **os.environ, **dict.fromkeys(THREADS, str(threads))},
        start_new_session=True,
    )
    attempt = Attempt(task, lock, number, process, output, errors)
    with suppress(BrokenPipeError):  # it died at once; the runner notices later
        assert process.stdin is not None
        process.stdin.write(json.dumps(task.to_json()).encode() + b"\n")
        process.stdin.flush()
    return attempt


def _read(file: Any, most: int | None = TAIL) -> str:
    file.seek(0)
    text: str = file.read().decode(errors="replace")
    return text if most is None else text[-most:]


def _death(code: int) -> str:
    if code >= 0:
        return f"the process ended with exit code {code} and left no result"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " (possibly out of memory: try fewer --workers)" if name == "SIGKILL" else ""
    return f"the process was killed by {name}{hint}"
