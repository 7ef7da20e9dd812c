"""One process that runs one task, and what became of it."""

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
KEPT_MEMORY = {  # glibc keeps what a step of training frees for the next one, which needs as much: 6 % faster
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
}
FULL = (errno.ENOSPC, errno.EDQUOT)
TAIL = 4000  # characters of what a process said last


@dataclass(frozen=True)
class Failure:
    """Why a process left no result."""

    error: str  # one sentence
    traceback: str
    crashed: bool  # it died, and did not say why: worth another try
    disk_full: bool = False


@dataclass
class Attempt:
    """A running process; its output goes to files without a name, which no reader has to empty."""

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
        """End the process, whatever it does: all it writes is whole or not there."""
        self.process.kill()
        self.process.wait()
        self.close()

    def close(self) -> None:
        """Let the process's pipe and files go."""
        for file in (self.process.stdin, self.output, self.errors):
            with suppress(OSError):  # what could not be sent any more
                if file is not None:
                    file.close()

    def failure(self) -> Failure:
        """What the process said, or what became of it."""
        said = _read(self.errors)
        if self.process.returncode == 1:
            with suppress(ValueError, KeyError, TypeError, IndexError):
                told = json.loads(_read(self.output, None).strip().splitlines()[-1])
                where = (
                    "" if told["kind"].endswith("Error") and told["error"] != told["kind"] else told["kind"] + ": "
                )
                error = " ".join(f"{where}{told['error']}".split())
                return Failure(error, told["traceback"], crashed=False, disk_full=told["errno"] in FULL)
        return Failure(_death(self.process.returncode), said, crashed=True)


def start_attempt(
    task: Task, folder: Path, lock: Lock, number: int, threads: int, command: Sequence[str] = WORKER
) -> Attempt:
    """Start a process for the task. It is out of reach of the terminal's Ctrl-C: the runner ends it."""
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
    with suppress(BrokenPipeError):  # it died at once, which is noticed later
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
    hint = " (perhaps the memory was full: try fewer --workers)" if name == "SIGKILL" else ""
    return f"the process was ended by {name}{hint}"
