"""Output to the terminal."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["count", "interactive", "make_console", "make_table", "quoted", "say"]

PIPE_WIDTH = 140  # columns, if standard output is not a terminal


def make_console() -> Console:
    """A console for standard output. It shows text as it is, without reading markup in it."""
    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # for names that the terminal's encoding lacks
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(markup=False, highlight=False, emoji=False, width=width)


def say(console: Console, text: str = "", style: str | None = None) -> None:
    """Print a line of text. Only the terminal wraps it."""
    console.print(text, style=style, soft_wrap=True)


def make_table(*columns: str, numbers: Collection[int] = ()) -> Table:
    """A plain table. The columns at the positions `numbers` are right-aligned."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i in numbers else "left", overflow="fold")
    return table


def interactive() -> bool:
    """Whether both standard input and standard output are terminals."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def count(number: int, thing: str, things: str | None = None) -> str:
    """A number with a noun in the singular or plural.

    >>> count(1, "row"), count(4601, "row"), count(2, "class", "classes")
    ('1 row', '4,601 rows', '2 classes')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def quoted(path: str | Path) -> str:
    """A text quoted for the shell."""
    import shlex

    return shlex.quote(str(path))
