"""The threads of a fit.

Small networks are slower in several threads, which then wait for each other. numpy's library always has one, since
its threads and torch's would take turns on the same cores. Another number of threads may change the last digits.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import threadpoolctl  # type: ignore[import-untyped]
import torch

__all__ = ["fit_threads", "one_thread"]

_lock = threading.Lock()
_inside = 0
_outside = 1  # torch's threads before the first of several fits began
_limits: Any = None  # of numpy's library, since then


@contextmanager
def fit_threads(n: int | None) -> Iterator[None]:
    """Run torch in n threads, or with None in as many as it had outside of all such contexts.

    torch counts its threads for each thread that calls it. numpy's library has one setting for all, which comes back
    when the last of several fits has ended.
    """
    global _inside, _outside, _limits
    with _lock:
        before = torch.get_num_threads()
        if _inside == 0:
            _outside = before
            _limits = threadpoolctl.threadpool_limits(1, user_api="blas")
        else:  # a thread that has not called torch before takes over what another fit has set
            before = max(before, _outside)
        _inside += 1
        torch.set_num_threads(before if n is None else n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        with _lock:
            _inside -= 1
            if _inside == 0:
                _let_any_thread_set_limits()
                _limits.restore_original_limits()
                _let_any_thread_set_limits()


def one_thread() -> AbstractContextManager[None]:
    """Run torch and numpy in one thread."""
    return fit_threads(1)


def _let_any_thread_set_limits() -> None:
    """From version 3.8 on threadpoolctl heeds only the thread that has set a limit first, while that one lives.

    Here the fit that ends last, in whatever thread, takes back what the first one has set.
    """
    release = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
