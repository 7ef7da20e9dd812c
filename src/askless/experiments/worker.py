"""The process of one task: `python -m askless.experiments.worker FOLDER`, with the task on standard input.

It writes the result into the folder itself and ends with 0. An error goes to standard output as JSON, with exit
code 1. When standard input is closed, the runner is gone, and the process ends at once.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from askless.experiments.task import Task

__all__ = ["main"]

FAILED, ABANDONED = 1, 3


def main(folder: Path, task: Task) -> int:
    """Run the task and write its result; returns the exit code."""
    from askless.experiments.results import checkpoint_path, write_result
    from askless.experiments.running import run_task

    checkpoint = checkpoint_path(folder, task)
    try:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        write_result(folder, run_task(task, checkpoint))
        checkpoint.unlink(missing_ok=True)
    except Exception as error:
        print(json.dumps(_told(error)))
        return FAILED
    return 0


def _told(error: Exception) -> dict[str, Any]:
    return {
        "error": str(error) or type(error).__name__,
        "kind": type(error).__name__,
        "errno": error.errno if isinstance(error, OSError) else None,
        "traceback": "".join(traceback.format_exception(error)),
    }


def _end_with_the_runner() -> None:
    """Wait for the end of standard input, which the runner keeps open while it lives."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(ABANDONED)


def _first_line(descriptor: int) -> bytes:
    """Up to the first line break, and not a byte more."""
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
    sys.exit(main(Path(sys.argv[1]), given))
