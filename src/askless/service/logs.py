"""Logs as JSON lines. They hold routes, never paths (an interview's address is a secret), and never answers."""

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

DEEPEST = 8  # places of a traceback that are written


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
        """An error of ours: its type and where it happened. What it says could repeat an answer."""
        self.write("failure", error=type(error).__name__, frames=frames_of(error.__traceback__), **fields)


def frames_of(trace: TracebackType | None) -> list[str]:
    """The last places of a traceback."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)[-DEEPEST:]]


class JsonLines(logging.Handler):
    """What other packages log, in the same lines."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One line; of an exception only its type and places."""
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
