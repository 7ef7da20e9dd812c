"""What a measurement depends on: the machine, the versions, the load; and how times are taken."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_info, threadpool_limits

import askless


def facts() -> dict[str, object]:
    """The machine, as far as a reader needs it to judge the figures."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        cpu = names[0] if names else cpu
    blas = {f"{pool['internal_api']} {pool['version']}" for pool in threadpool_info() if pool["user_api"] == "blas"}
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "torch threads": torch.get_num_threads(),
        "load before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "askless": askless.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "blas": ", ".join(sorted(blas)),
    }


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run torch and numpy in so many threads."""
    before = torch.get_num_threads()
    with threadpool_limits(count):
        torch.set_num_threads(count)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def in_turn(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median seconds of each call; they run in turn, so that a slow minute of the machine hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: float(np.median(each)) for name, each in times.items()}
