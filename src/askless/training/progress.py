"""What a fit says while it works: phase, temperature, epoch, validation loss and time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from typing import IO, Protocol

from askless.training.distributed import world

__all__ = ["Lines", "Progress", "progress_bar"]

EVERY = 15.0  # seconds, at least, between two lines


class Progress(Protocol):
    """What the fit loop tells while it works."""

    def resumed(self, path: Path) -> None:
        """The fit goes on from a file that an earlier run has left."""
        ...

    def start(self, total: int) -> None:
        """There will be `total` epochs at most."""
        ...

    def epoch(self, done: int, phase: str, row: dict[str, float | int | str]) -> None:
        """`done` epochs of all phases are through; `row` is the newest line of the history."""
        ...


class Silent:
    """Says nothing."""

    def resumed(self, path: Path) -> None:
        """Say nothing."""

    def start(self, total: int) -> None:
        """Say nothing."""

    def epoch(self, done: int, phase: str, row: dict[str, float | int | str]) -> None:
        """Say nothing."""


@contextmanager
def progress_bar(verbose: bool | None = None) -> Iterator[Progress]:
    """A bar on standard error, of the first process; `verbose=None` shows it in a terminal or a notebook only.

    Where there is neither, `verbose=True` writes a line now and then.
    """
    from rich.console import Console

    console = Console(stderr=True)
    moves = console.is_terminal or console.is_jupyter
    if not (moves if verbose is None else verbose) or world().rank > 0:
        yield Silent()
        return
    if not moves:
        yield Lines(console.file)
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=console, transient=True) as bar:
        yield _Bar(bar)


class _Told:
    """The newest epoch in words."""

    def __init__(self) -> None:
        self._phase, self._loss = "", ""

    def epoch(self, phase: str, row: dict[str, float | int | str]) -> str:
        if phase != self._phase:
            self._phase, self._loss = phase, ""
        if "valid_loss" in row:  # not every epoch is validated: the last loss stays in sight
            self._loss = f", validation loss {row['valid_loss']:.4f}"
        temperature = f", temperature {row['temperature']:.2f}" if "temperature" in row else ""
        return f"epoch {row['epoch']}{temperature}{self._loss}"


class Lines:
    """A line now and then, for a log."""

    def __init__(self, file: IO[str], every: float = EVERY, clock: Callable[[], float] = time.monotonic) -> None:
        self._file, self._every, self._clock = file, every, clock
        self._told = _Told()
        self._total, self._begun = 0, clock()
        self._before: int | None = None  # epochs that an interrupted fit had made already
        self._last = self._begun

    def resumed(self, path: Path) -> None:
        """Say so."""
        print(f"going on from {path}", file=self._file, flush=True)

    def start(self, total: int) -> None:
        """Count from here; a fit of several methods starts several times."""
        self._total, self._before, self._begun = total, None, self._clock()

    def epoch(self, done: int, phase: str, row: dict[str, float | int | str]) -> None:
        """Write a line if the last one is some time ago."""
        if self._before is None:
            self._before = done - 1
        told, now = self._told.epoch(phase, row), self._clock()
        if now - self._last < self._every:
            return
        self._last = now
        left = (self._total - done) * (now - self._begun) / (done - self._before)
        share = done / self._total
        print(f"{phase}, {told}; {share:.0%} of the epochs, {_duration(left)} left", file=self._file, flush=True)


def _duration(seconds: float) -> str:
    """
    >>> _duration(41.2), _duration(125)
    ('42 s', '3 min')
    """
    return f"{ceil(seconds)} s" if seconds < 100 else f"{ceil(seconds / 60)} min"


class _Bar:
    def __init__(self, bar: object) -> None:
        from rich.progress import Progress as RichProgress

        assert isinstance(bar, RichProgress)
        self._bar = bar
        self._task = bar.add_task("fitting", total=None, told="")
        self._told = _Told()

    def resumed(self, path: Path) -> None:
        self._bar.console.print(f"going on from {path}", markup=False, highlight=False, soft_wrap=True)

    def start(self, total: int) -> None:
        self._bar.update(self._task, total=total)

    def epoch(self, done: int, phase: str, row: dict[str, float | int | str]) -> None:
        told = self._told.epoch(phase, row)
        self._bar.update(self._task, completed=done, description=phase, told=told)
