"""One thread per fit: as fast as two at these sizes, and the same sums in the same order on every machine."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

__all__ = ["one_thread"]

_lock = threading.Lock()
_inside = 0
_undo = ExitStack()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch and numpy in one thread; their settings come back when the last of several fits has ended."""
    global _inside
    with _lock:
        if _inside == 0:
            _undo.callback(torch.set_num_threads, torch.get_num_threads())
            _undo.enter_context(threadpool_limits(1))
            torch.set_num_threads(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _undo.close()
