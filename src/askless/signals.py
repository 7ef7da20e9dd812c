"""What ends a long run from outside."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Terminated", "terminable"]


class Terminated(KeyboardInterrupt):
    """The process is to end: it was sent TERM, as machines do when they are shut down."""


@contextmanager
def terminable() -> Iterator[None]:
    """Let TERM end what is done within as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():  # where signals cannot be caught
        yield
        return

    def stop(*_: Any) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
