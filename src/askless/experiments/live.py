"""The progress of a run: a live table in a terminal, else one line for each task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from askless.experiments.board import Board
from askless.experiments.task import Task

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

__all__ = ["Lines", "LiveTable", "duration", "watcher_for"]


def watcher_for(console: Console) -> Lines | LiveTable:
    """A table in a terminal, else lines."""
    return LiveTable(console) if console.is_terminal else Lines(console)


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(42.4), duration(184), duration(7300)
    ('42 s', '3 min', '2 h 2 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def summary(board: Board) -> str:
    """How many tasks are done, failed and running, and the time left."""
    parts = [f"{board.count('done')} of {len(board.tasks)} tasks done"]
    for status, word in (("failed", "failed"), ("running", "running"), ("elsewhere", "in another runner")):
        number = board.count(status)  # type: ignore[arg-type]
        if number:
            parts.append(f"{number} {word}")
    left = board.time_left()
    if left is not None and board.count("waiting") + board.count("running"):
        parts.append(f"about {duration(left)} left")
    return ", ".join(parts)


class Lines:
    """One line for each event."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def begin(self, board: Board) -> None:
        """Print the state at the start."""
        self._say(summary(board))

    def look(self, board: Board) -> None:
        """Print nothing."""

    def tell(self, board: Board, task: Task, what: str) -> None:
        """Print the event and the state."""
        self._say(f"{task}: {what}; {summary(board)}")

    def end(self, board: Board) -> None:
        """Print nothing."""

    def _say(self, text: str) -> None:
        self._console.print(text, soft_wrap=True, markup=False, highlight=False)


class LiveTable:
    """Methods x data sets: finished, running and failed tasks."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Any = None

    def begin(self, board: Board) -> None:
        """Show the table."""
        from rich.live import Live

        self._live = Live(self.table(board), console=self._console, refresh_per_second=4)
        self._live.start()

    def look(self, board: Board) -> None:
        """Update the table."""
        self._live.update(self.table(board))

    def tell(self, board: Board, task: Task, what: str) -> None:
        """Print failures above the table; everything else is in the table."""
        if not what.startswith("done"):
            self._console.print(f"{task}: {what}", soft_wrap=True, markup=False, highlight=False)

    def end(self, board: Board) -> None:
        """Print the final table."""
        if self._live is not None:
            self._live.update(self.table(board), refresh=True)
            self._live.stop()

    def table(self, board: Board) -> RenderableType:
        """A row for each method, a column for each data set."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        datasets = list(dict.fromkeys(task.dataset for task in board.tasks))
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=Text(summary(board)), caption_justify="left")
        for name in ("method", *datasets):
            table.add_column(Text(name))
        for label in dict.fromkeys(task.label for task in board.tasks):
            mine = [task for task in board.tasks if task.label == label]
            cells = [_cell(board, [task for task in mine if task.dataset == name]) for name in datasets]
            table.add_row(Text(label), *cells)
        return table


def _cell(board: Board, tasks: list[Task]) -> Text:
    """Such as "3/5, 1 failed, 42 s"."""
    from rich.text import Text

    if not tasks:
        return Text("")
    of = {task.key: board.status[task.key] for task in tasks}
    done, failed = (list(of.values()).count(status) for status in ("done", "failed"))
    cell = Text(f"{done}/{len(tasks)}", style="green" if done == len(tasks) else "")
    if failed:
        cell.append(f", {failed} failed", style="red")
    for task in tasks:
        if of[task.key] == "running":
            cell.append(f", {duration(board.elapsed(task))}", style="cyan")
    return cell
