"""Small pieces of HTML. Whatever comes from the data goes through `text`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["listing", "section", "shown", "table", "text"]


def text(value: object) -> str:
    """Any value as text that a page shows as it is."""
    return escape(str(value))


def section(title: str, *parts: str, kind: str = "") -> str:
    """A card with a heading; the parts are HTML."""
    return f'<section class="{kind}">\n<h2>{text(title)}</h2>\n' + "\n".join(parts) + "\n</section>"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = (), here: int = -1) -> str:
    """A table whose cells are HTML; the columns at `numbers` hold numbers, the row `here` is marked."""

    def kind(i: int) -> str:
        return ' class="number"' if i in numbers else ' class="name"' if i == 0 else ""

    head = "".join(f"<th{kind(i) if i in numbers else ''}>{text(name)}</th>" for i, name in enumerate(columns))
    body = "\n".join(
        f"<tr{' class="here"' if place == here else ''}>"
        + "".join(f"<td{kind(i)}>{cell}</td>" for i, cell in enumerate(row))
        + "</tr>"
        for place, row in enumerate(rows)
    )
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def listing(facts: Mapping[str, str]) -> str:
    """Names and what they stand for; the latter are HTML."""
    return "<dl>" + "".join(f"<dt>{text(name)}</dt><dd>{fact}</dd>" for name, fact in facts.items()) + "</dl>"


def shown(value: Any) -> str:
    """An answer in words, not yet escaped."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(part)}" for name, part in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "unknown" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
