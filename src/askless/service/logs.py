"""Logs as JSON lines. They contain routes but no paths (an interview's id is a secret) and no answers."""

from __future__ import annotations

import logging
import sys
import time
import traceback
from functools import lru_cache
from types import TracebackType
from typing import Any, TextIO

import orjson

__all__ = ["JsonLines", "Log", "frames_of"]

DEEPEST = 8  # frames of a traceback that are written


class Log:
    """Writes lines to a stream."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def write(self, event: str, **fields: Any) -> None:
        """One line."""
        line = orjson.dumps({"time": _now(), "event": event, **fields}, option=orjson.OPT_APPEND_NEWLINE).decode()
        stream = self._stream or sys.stderr
        stream.write(line)
        stream.flush()

    def failure(self, error: BaseException, **fields: Any) -> None:
        """Log the type and the frames of an error. Its message is left out because it may contain an answer."""
        self.write("failure", error=type(error).__name__, frames=frames_of(error.__traceback__), **fields)


def frames_of(trace: TracebackType | None) -> list[str]:
    """The last frames of a traceback."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)[-DEEPEST:]]


class JsonLines(logging.Handler):
    """Writes the logs of other packages as the same JSON lines."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line. Exceptions are logged by type and frames only."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self._log.failure(error, logger=record.name)
        else:
            self._log.write("log", level=record.levelname.lower(), logger=record.name, message=record.getMessage())


def _now() -> str:
    moment = time.time()
    return f"{_second(int(moment))}.{int(moment % 1 * 1000):03d}Z"


@lru_cache(maxsize=1)
def _second(moment: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))
