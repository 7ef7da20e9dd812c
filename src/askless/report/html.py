"""Small pieces of HTML. All text from the data is escaped by `text`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

__all__ = ["first_sentence", "listing", "paragraph", "picture", "section", "table", "text"]

MARKED = ' class="here"'


def text(value: object) -> str:
    """Any value as escaped text."""
    return escape(str(value))


def section(title: str, *parts: str, kind: str = "") -> str:
    """A section with a heading; the parts are HTML."""
    return f'<section class="{kind}">\n<h2>{text(title)}</h2>\n' + "\n".join(parts) + "\n</section>"


def paragraph(words: str, kind: str = "quiet") -> str:
    """A paragraph of text."""
    return f'<p class="{kind}">{text(words)}</p>'


def picture(address: str, words: str) -> str:
    """A picture with a text alternative."""
    return f'<figure><img src="{address}" alt="{text(words)}"></figure>'


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = (), here: int = -1
) -> str:
    """A table whose cells are HTML. The columns at `numbers` are right-aligned, and the row `here` is marked."""

    classes = {0: ' class="name"'} | dict.fromkeys(numbers, ' class="number"')
    heads = (f"<th{classes[i] if i in numbers else ''}>{text(name)}</th>" for i, name in enumerate(columns))
    body = []
    for place, row in enumerate(rows):
        cells = (f"<td{classes.get(i, '')}>{cell}</td>" for i, cell in enumerate(row))
        body.append(f"<tr{MARKED if place == here else ''}>{''.join(cells)}</tr>")
    head, lines = "".join(heads), "\n".join(body)
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody>\n</table></div>'


def listing(facts: Mapping[str, str]) -> str:
    """A description list."""
    return "<dl>" + "".join(f"<dt>{text(name)}</dt><dd>{text(fact)}</dd>" for name, fact in facts.items()) + "</dl>"


def first_sentence(words: str) -> str:
    """The first sentence of a text.

    >>> first_sentence("Is it malignant? Units: mm.")
    'Is it malignant?'
    """
    return re.split(r"(?<=[.?!])\s", words, maxsplit=1)[0]
