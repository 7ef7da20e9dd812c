"""A progress bar that says phase, temperature, epoch, validation loss and time left; silent without a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from askless.training.distributed import world

__all__ = ["Progress", "progress_bar"]


class Progress(Protocol):
    """What the fit loop tells while it works."""

    def start(self, total: int) -> None:
        """There will be `total` epochs at most."""
        ...

    def epoch(self, done: int, phase: str, row: dict[str, float | int | str]) -> None:
        """`done` epochs of all phases are through; `row` is the newest line of the history."""
        ...


class Silent:
    """Says nothing."""

    def start(self, total: int) -> None:
        """Say nothing."""

    def epoch(self, done: int, phase: str, row: dict[str, float | int | str]) -> None:
        """Say nothing."""


@contextmanager
def progress_bar(verbose: bool | None = None) -> Iterator[Progress]:
    """A bar on standard error, of the first process; `verbose=None` shows it in a terminal or a notebook only."""
    from rich.console import Console

    console = Console(stderr=True)
    shown = console.is_terminal or console.is_jupyter if verbose is None else verbose
    if not shown or world().rank > 0:
        yield Silent()
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


class _Bar:
    def __init__(self, bar: object) -> None:
        from rich.progress import Progress as RichProgress

        assert isinstance(bar, RichProgress)
        self._bar = bar
        self._task = bar.add_task("fitting", total=None, told="")
        self._phase, self._loss = "", ""

    def start(self, total: int) -> None:
        self._bar.update(self._task, total=total)

    def epoch(self, done: int, phase: str, row: dict[str, float | int | str]) -> None:
        if phase != self._phase:
            self._phase, self._loss = phase, ""
        if "valid_loss" in row:  # not every epoch is validated: the last loss stays in sight
            self._loss = f", validation loss {row['valid_loss']:.4f}"
        temperature = f", temperature {row['temperature']:.2f}" if "temperature" in row else ""
        told = f"epoch {row['epoch']}{temperature}{self._loss}"
        self._bar.update(self._task, completed=done, description=phase, told=told)
