"""What a fit reports while it works: one bar for the whole fit, in a terminal, a notebook or a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from math import ceil
from pathlib import Path
from typing import IO, Any

__all__ = ["Lines", "Progress", "progress_bar"]

EVERY = 15.0  # seconds, at least, between two lines of a log
OFTEN = 0.5  # seconds, at least, between two versions of a line in a notebook
BAR = 14  # columns of the bar
BESIDE_BAR = BAR + 28  # columns of the bar, the percentage, the time left, the time since the start, and the gaps
LINE = 79  # columns of a line in a notebook

Row = dict[str, float | int | str]


class Progress:
    """What a fit reports to. This one shows nothing."""

    shown = False  # whether anybody sees it

    def resumed(self, path: Path) -> None:
        """The fit goes on from the checkpoint of an earlier run."""

    def start(self, total: float) -> None:
        """The work has this size, in any unit."""

    def epoch(self, done: float, phase: str, row: Row) -> None:
        """So much of the work is done; `row` is the newest line of the history."""

    def ended(self, text: str) -> None:
        """The fit is done; `text` is a summary in one line."""

    def parts(self, sizes: Sequence[float], names: Sequence[str] = ()) -> list[Progress]:
        """One progress for each stage of the work, whose sizes are its expected shares of the time.

        Names, if given, are written in front of the phases.
        """
        self.start(sum(sizes))
        begins = accumulate(sizes, initial=0.0)
        return [
            _Part(self, begin, size, name)
            for begin, size, name in zip(begins, sizes, names or [""] * len(sizes), strict=False)
        ]


class _Part(Progress):
    """A stage of a longer fit."""

    def __init__(self, whole: Progress, begin: float, size: float, name: str) -> None:
        self._whole, self._begin, self._size, self._name = whole, begin, size, name
        self._total = 1.0

    def resumed(self, path: Path) -> None:
        self._whole.resumed(path)

    def start(self, total: float) -> None:
        self._total = total or 1.0

    def epoch(self, done: float, phase: str, row: Row) -> None:
        repeated = phase.replace(" ", "_") == self._name  # "forward_selection: forward selection"
        named = phase if not self._name else self._name if repeated else f"{self._name}: {phase}"
        self._whole.epoch(self._begin + self._size * min(1.0, done / self._total), named, row)


@contextmanager
def progress_bar(verbose: bool | int | None = None) -> Iterator[Progress]:
    """What shows the progress on standard error.

    A terminal has a bar, a notebook a line that is rewritten. Elsewhere only `verbose=True` shows anything: lines.
    """
    from rich.console import Console

    console = Console(stderr=True)
    moves = console.is_terminal or console.is_jupyter
    if not (moves if verbose is None else verbose):
        yield Progress()
    elif console.is_jupyter:
        yield Lines(console.file, every=OFTEN, rewrites=True)
    elif console.is_terminal:
        with _bar(console) as bar:
            yield bar
    else:
        yield Lines(console.file)


class _Shown(Progress):
    """Keeps what is to be shown: how much is done, what the newest phase and loss are, how long it will take."""

    shown = True

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._total = 1.0
        self._phase = self._loss = ""
        self._first: tuple[float, float] | None = None  # when the first report came, and what was done by then
        self.share = 0.0

    def start(self, total: float) -> None:
        self._total = total or 1.0

    def _note(self, done: float, phase: str, row: Row) -> None:
        if phase != self._phase:
            self._phase, self._loss = phase, ""
        if "valid_loss" in row:  # not every epoch is validated: the last loss stays in sight
            self._loss = f", loss {row['valid_loss']:.4f}"
        self.share = max(self.share, min(1.0, done / self._total))
        if self._first is None:
            self._first = self._clock(), self.share

    @property
    def doing(self) -> str:
        """The phase and its newest validation loss."""
        return self._phase + self._loss

    @property
    def left(self) -> str:
        """The time left; nothing before it can be known."""
        assert self._first is not None
        then, before = self._first
        if self.share <= before:
            return ""
        return f"{_duration((1.0 - self.share) * (self._clock() - then) / (self.share - before))} left"


class Lines(_Shown):
    """A line at each new phase and now and then, for a log; or one line that is rewritten, for a notebook."""

    def __init__(
        self,
        file: IO[str],
        every: float = EVERY,
        clock: Callable[[], float] = time.monotonic,
        *,
        rewrites: bool = False,
    ) -> None:
        super().__init__(clock)
        self._file, self._every, self._rewrites = file, every, rewrites
        self._last = clock() - every
        self._shown_phase = ""

    def resumed(self, path: Path) -> None:
        """Write a line."""
        self._write(f"going on from {path}", end="\n")

    def epoch(self, done: float, phase: str, row: Row) -> None:
        """Write a line if the phase is new or the last line is some time ago."""
        self._note(done, phase, row)
        now = self._clock()
        if now - self._last < self._every and (self._rewrites or phase == self._shown_phase):
            return
        self._last, self._shown_phase = now, phase
        left = f", {self.left}" if self.left else ""
        self._write(f"{self.doing}; {self.share:.0%} done{left}", end="" if self._rewrites else "\n")

    def ended(self, text: str) -> None:
        """Write a line."""
        self._write(text, end="\n")

    def _write(self, text: str, end: str) -> None:
        if self._rewrites:  # spaces hide what was there before
            text = f"\r{text if end else text[:LINE]:<{LINE}}"
        print(text, end=end, file=self._file, flush=True)


def _duration(seconds: float) -> str:
    """
    >>> _duration(41.2), _duration(125), _duration(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{ceil(seconds)} s"
    return f"{ceil(seconds / 60)} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@contextmanager
def _bar(console: Any) -> Iterator[Progress]:
    """A bar in the last line of a terminal; it disappears when the fit ends."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=BAR),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[left]}"),
        TimeElapsedColumn(),
    )
    with RichProgress(*columns, console=console, transient=True) as bar:
        yield _Bar(bar)


class _Bar(_Shown):
    def __init__(self, bar: Any) -> None:
        super().__init__()
        self._bar = bar
        self._task = bar.add_task("fitting", total=1.0, left="")
        self._room = max(10, bar.console.width - BESIDE_BAR)  # columns for the description

    def resumed(self, path: Path) -> None:
        self._say(f"going on from {path}")

    def epoch(self, done: float, phase: str, row: Row) -> None:
        new = phase != self._phase
        self._note(done, phase, row)
        text = self.doing[: self._room]
        self._bar.update(self._task, completed=self.share, description=text, left=self.left, refresh=new)

    def ended(self, text: str) -> None:
        self._say(text)

    def _say(self, text: str) -> None:
        self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
