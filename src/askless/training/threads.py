"""One thread per fit: as fast as two at these sizes, and the same sums in the same order on every machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["one_thread"]

_lock = threading.Lock()
_inside = 0
_before = 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch's operators in one thread; the setting comes back when the last of several fits has ended."""
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = torch.get_num_threads()
            torch.set_num_threads(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                torch.set_num_threads(_before)
