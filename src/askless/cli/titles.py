"""Find titles above the column names of a CSV file, as spreadsheet programs write them."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from askless.encoding.cells import DECIMAL_COMMA, parsed

__all__ = ["LOOK_AT", "line_of_names"]

LOOK_AT = 20  # lines


def line_of_names(lines: Sequence[str], separators: Sequence[str], others: Sequence[str]) -> int | None:
    """The number, from 1, of the line that seems to hold the names, if the first line holds one name at most.

    It is the first line that is at least half as full as the fullest line and does not consist of numbers. None means
    that no line looks like it. A character of `others` that occurs equally often in all lines is taken for a
    separator, which this version does not read; the result is then None, too.

    >>> line_of_names(["Survey 2024;;", "", "age;sex;smokes", "41;f;"], ",;", "|")
    3
    >>> line_of_names(["age|sex", "4,1|f"], ",;", "|"), line_of_names(["age", "4,1"], ",;", "|")
    (None, None)
    """
    if any(_separates(mark, lines) for mark in others):
        return None
    rows = [_cells(line, separators) for line in lines]
    if not rows or len(rows[0]) > 1:
        return None
    full = max(map(len, rows))
    found = (i for i, cells in enumerate(rows, start=1) if 2 * len(cells) > full and not all(map(_is_number, cells)))
    return next(found, None) if full > 1 else None


def _separates(mark: str, lines: Sequence[str]) -> bool:
    times = {line.strip().count(mark) for line in lines if line.strip()}
    return len(times) == 1 and times != {0}


def _cells(line: str, separators: Sequence[str]) -> list[str]:
    """The non-empty cells of a line, split by the separator that makes the most of them."""
    rows = (next(csv.reader([line], delimiter=mark, skipinitialspace=True), []) for mark in separators)
    return max(([cell for cell in row if cell.strip()] for row in rows), key=len)


def _is_number(cell: str) -> bool:
    return parsed(cell) is not None or DECIMAL_COMMA.fullmatch(cell.strip()) is not None
