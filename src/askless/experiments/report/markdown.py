"""The report as Markdown, with its figures beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from askless.experiments.report.grids import Cell, Grid

if TYPE_CHECKING:
    from askless.experiments.report.content import Content

__all__ = ["as_markdown", "grid_lines"]


def as_markdown(content: Content) -> str:
    """The whole report."""
    lines = [f"# {_plain(content.headline)}", "", _plain(content.lead), ""]
    for title, words, grid, notes in content.tables:
        lines += [f"## {title}", "", _plain(words), "", *grid_lines(grid), ""]
        lines += [line for note in notes for line in (_plain(note), "")]
    for chapter in content.chapters:
        lines += [f"## {_plain(chapter.title)}", "", _plain(chapter.words), ""]
        for figure in chapter.figures:
            lines += [_plain(figure.words), "", f"![{_plain(figure.alt)}]({figure.file})", ""]
    lines += ["## How it was measured", "", *_listing(content.facts), ""]
    names = ", ".join(f"[{name}]({name})" for name in content.files)
    lines += [f"All numbers: {names}. The same as one page: [index.html](index.html).", ""]
    return "\n".join(lines)


def grid_lines(grid: Grid) -> list[str]:
    """A table; the groups of methods are rows of their own."""
    heads = [f"{_plain(name)}<br>{'<br>'.join(map(_plain, unit.splitlines()))}" for name, unit in grid.columns]
    lines = ["| method | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for title, rows in grid.groups:
        lines.append(f"| *{_plain(title)}* |" + " |" * len(heads))
        lines += [f"| {_plain(label)} | " + " | ".join(map(_cell, cells)) + " |" for label, cells in rows]
    return lines


def _cell(cell: Cell) -> str:
    main = f"**{cell.main}**" if cell.bold else cell.main
    small = f"<br><sub>{_plain(cell.small)}</sub>" if cell.small else ""
    return f"{main} {cell.after}".strip() + small


def _listing(facts: Mapping[str, str]) -> list[str]:
    return [f"- {_plain(name)}: {_plain(fact)}" for name, fact in facts.items()]


def _plain(words: str) -> str:
    r"""Words that Markdown shows as they are.

    >>> _plain("a|b <i> concrete_autoencoder")
    'a\\|b &lt;i&gt; concrete\\_autoencoder'
    """
    for sign in "\\|*_`[]$":
        words = words.replace(sign, "\\" + sign)
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
