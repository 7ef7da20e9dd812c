"""The process of one task: `python -m askless.experiments.worker FOLDER`, with the task on standard input.

The fit uses as many threads as OMP_NUM_THREADS says. The process writes the result to the folder and ends with exit
code 0. An error goes to standard output as JSON, with exit code 1. When standard input is closed, the runner is gone,
and the process ends at once.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from askless.exceptions import AsklessError, CheckpointError
from askless.experiments.task import Task

__all__ = ["main"]

FAILED, ABANDONED = 1, 3

logger = logging.getLogger(__name__)


def main(folder: Path, task: Task, threads: int = 1) -> int:
    """Run the task and write its result; returns the exit code."""
    from askless.experiments.results import checkpoint_path, write_result

    checkpoint = checkpoint_path(folder, task)
    try:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        write_result(folder, _result(task, checkpoint, threads))
        checkpoint.unlink(missing_ok=True)
    except Exception as error:
        print(json.dumps(_described(error)))
        return FAILED
    return 0


def _result(task: Task, checkpoint: Path, threads: int) -> dict[str, Any]:
    """The result of the task; a damaged checkpoint is removed, and the fit starts again."""
    from askless.experiments.running import run_task

    try:
        return run_task(task, checkpoint, threads)
    except CheckpointError as error:
        if error.code != "damaged_file":
            raise
        logger.warning("%s: the fit starts again without its checkpoint: %s", task, error)
        checkpoint.unlink()
        return run_task(task, checkpoint, threads)


def _described(error: Exception) -> dict[str, Any]:
    return {
        "code": error.code if isinstance(error, AsklessError) else None,
        "error": str(error) or type(error).__name__,
        "kind": type(error).__name__,
        "errno": error.errno if isinstance(error, OSError) else None,
        "traceback": "".join(traceback.format_exception(error)),
    }


def _end_with_the_runner() -> None:
    """End the process when the runner closes standard input."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(ABANDONED)


def _first_line(descriptor: int) -> bytes:
    """The first line; no byte after it is read."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte:
            os._exit(ABANDONED)
        line += byte
    return line


if __name__ == "__main__":
    given = Task.from_json(json.loads(_first_line(sys.stdin.fileno())))
    threading.Thread(target=_end_with_the_runner, daemon=True).start()
    sys.exit(main(Path(sys.argv[1]), given, int(os.environ.get("OMP_NUM_THREADS", "1"))))
