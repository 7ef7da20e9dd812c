"""Which kind of column this is, learned from the training rows."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from askless.encoding.category import CategoryCodec
from askless.encoding.cells import (
    DATE_ADVICE,
    DECIMAL_COMMA,
    THOUSANDS,
    WITH_LETTERS,
    WITH_UNIT,
    BadCell,
    distinct,
    family,
    is_missing,
    parsed,
    points_for_thousands,
    shown,
)
from askless.encoding.codec import BooleanCodec, PartCodec
from askless.encoding.number import NumberCodec
from askless.encoding.table import Column
from askless.exceptions import AsklessWarning

DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
PADDED = re.compile(r"[-+]?0\d")  # how a text begins that may be a code
MONTH = re.compile(r"(19|20)\d\d[-/](0?[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/.](19|20)\d\d")
UNIT = ("a number with a unit", "write the number alone, or make the column categorical if it holds categories")
WITH_SEPARATORS = (
    THOUSANDS,
    "a number with thousands separators",
    "write it without them, and decimals with a point",
)
DISGUISES = (
    (DATE, "a date", f"{DATE_ADVICE}, or leave the column out"),
    (MONTH, "a month", f"{DATE_ADVICE}, or leave the column out"),
    WITH_SEPARATORS,
    (WITH_UNIT, *UNIT),
    (DECIMAL_COMMA, "a number with a decimal comma", "write it with a decimal point"),
)
MAY_BE_WORDS = (MONTH, WITH_UNIT)  # like "10%" and "20%", where there are few of them
FEW = 20  # different words: as many may be categories
MOST = 5  # of the words that are not numbers are told

CODECS: Mapping[str, type[PartCodec]] = {codec.kind: codec for codec in (BooleanCodec, CategoryCodec, NumberCodec)}


def kind_of(column: Column) -> str | None:
    """The kind of a training column; None where every value is missing. Raises `BadCell`.

    >>> kind_of(Column("x", np.array(["1", "2.5", None], dtype=object)))
    'number'
    """
    if column.values.dtype.kind == "b":
        return "boolean"
    if column.values.dtype.kind != "O":
        return None if np.isnan(column.values).all() else "number"
    found = distinct(column.values)
    known = [i for i, cell in enumerate(found.cells) if not is_missing(cell)]
    if not known or column.categorical:
        return "category" if known else None
    families = {}
    for i in known:
        try:
            families[i] = family(found.cells[i])
        except BadCell as bad:
            bad.row = int(found.rows[i])
            raise
    if set(families.values()) == {"boolean"}:
        return "boolean"
    if "text" not in families.values():
        return "number"
    return _numbers_or_text(column.name, found.cells, families, np.bincount(found.codes), found.rows)


def _numbers_or_text(
    name: str, cells: list[Any], families: dict[int, str], counts: np.ndarray, rows: np.ndarray
) -> str:
    """The kind of a column with text in it: numbers if all of it spells numbers, and an error if most does."""
    other = [i for i, kind in families.items() if kind == "boolean" or (kind == "text" and parsed(cells[i]) is None)]
    if not other:
        text = [i for i, kind in families.items() if kind == "text"]
        if (cell := points_for_thousands(cells[i].strip() for i in text)) is not None:
            first = next(i for i in text if cells[i].strip() == cell)
            raise _looks_like(WITH_SEPARATORS, [first], cells, rows)
        _warn_of_padded(name, [cells[i] for i in text])
        return "number"
    total, n_other = sum(counts[i] for i in families), sum(counts[i] for i in other)
    if 2 * n_other > total:
        text = [i for i in other if families[i] == "text"]
        _refuse_disguised(cells, text, counts, rows, int(total - n_other), int(total))
        _warn_of_few(name, cells, text, counts, int(total))
        return "category"
    raise _not_numbers(cells, other, counts, rows, int(total))


def _not_numbers(cells: list[Any], other: list[int], counts: np.ndarray, rows: np.ndarray, total: int) -> BadCell:
    """What is wrong with the first of the cells that are not numbers, and the most frequent of the others."""
    first, *more = other
    more.sort(key=lambda i: -counts[i])
    told = [f"{shown(cells[i])} ({_times(counts[i])})" for i in more[: MOST - 1]]
    left = f" and {len(more) - len(told)} more" if len(more) > len(told) else ""
    often = f" ({_times(counts[first])})" if more or counts[first] > 1 else ""
    nor = f", nor {'is' if len(more) == 1 else 'are'} {', '.join(told)}{left}" if more else ""
    n_other = int(sum(counts[i] for i in other))
    what = "it, leave the cell empty" if n_other == 1 else "these cells, leave them empty"
    return BadCell(
        f"{shown(cells[first])} is not a number{often}{nor}, but {total - n_other} of {total} values in this column "
        f"are; correct {what}, or make the column categorical if it holds categories",
        cells[first],
        row=int(rows[first]),
        words=[cells[i] for i in (first, *more[: MOST - 1]) if isinstance(cells[i], str)],
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _warn_of_padded(name: str, text: list[str]) -> None:
    """Warn about leading zeros: the column may hold codes."""
    cell = next((cell for cell in text if PADDED.match(cell.strip())), None)
    if cell is not None:
        message = (
            f"column {name!r} holds {shown(cell)} and is read as numbers, which drops the leading zeros; if it "
            "holds codes, make it categorical, with astype('category') in pandas"
        )
        warnings.warn(AsklessWarning("leading_zeros", message, column=name, value=cell), stacklevel=2)


def _refuse_disguised(
    cells: list[Any], text: list[int], counts: np.ndarray, rows: np.ndarray, n_numbers: int, total: int
) -> None:
    """Text that mostly spells dates, or numbers that are not read, is not a category, whatever it looks like.

    Where it is written in several ways, the plain numbers of the column count as well.
    """
    ways = {way: [i for i in text if way[0].fullmatch(cells[i].strip())] for way in DISGUISES}
    for way, alike in ways.items():
        if way[0] in MAY_BE_WORDS and len(alike) <= FEW:
            continue
        if 2 * sum(counts[i] for i in alike) > total:
            raise _looks_like(way, alike, cells, rows)
    for alike in _by_unit(cells, text).values():
        if len(alike) > FEW and 2 * sum(counts[i] for i in alike) > total:
            raise _looks_like((WITH_LETTERS, *UNIT), alike, cells, rows)
    numbers = {i: way for way, alike in ways.items() if way[0] not in (DATE, MONTH) for i in alike}
    if len(numbers) > FEW and 2 * (n_numbers + sum(counts[i] for i in numbers)) > total:
        first = min(numbers, key=lambda i: rows[i])
        raise _looks_like(numbers[first], [first], cells, rows)


def _warn_of_few(name: str, cells: list[Any], text: list[int], counts: np.ndarray, total: int) -> None:
    """Warn if a column mostly holds few distinct numbers with a unit, or months: categories have no order."""
    ways = [
        (called, [i for i in text if pattern.fullmatch(cells[i].strip())])
        for pattern, called, _ in DISGUISES
        if pattern in MAY_BE_WORDS
    ]
    ways += [(UNIT[0], alike) for alike in _by_unit(cells, text).values() if len(alike) > 1]
    for called, alike in ways:
        if 2 * sum(counts[i] for i in alike) > total:
            cell = cells[alike[0]]
            message = (
                f"column {name!r} holds {shown(cell)}, which looks like {called}, but has few distinct values; they "
                "become unordered categories; convert them to numbers if size matters"
            )
            warnings.warn(AsklessWarning("numbers_as_categories", message, column=name, value=cell), stacklevel=2)


def _by_unit(cells: list[Any], text: list[int]) -> dict[str, list[int]]:
    """Which texts are numbers with letters behind them, by these: codes may end so, but few all in the same."""
    found: dict[str, list[int]] = {}
    for i in text:
        if match := WITH_LETTERS.fullmatch(cells[i].strip()):
            found.setdefault(match[1], []).append(i)
    return found


def _looks_like(way: tuple[Any, str, str], alike: list[int], cells: list[Any], rows: np.ndarray) -> BadCell:
    """What is wrong with the first of some cells that are written in one way."""
    first = min(alike, key=lambda i: rows[i])
    return BadCell(f"{shown(cells[first])} looks like {way[1]}; {way[2]}", cells[first], row=int(rows[first]))


def codec_to_json(codec: PartCodec) -> dict[str, Any]:
    """A codec with its kind and name."""
    return {"name": codec.part.name, "kind": codec.kind, **codec.to_json()}


def codec_from_json(data: dict[str, Any]) -> PartCodec:
    """The codec that `codec_to_json` described."""
    return CODECS[data["kind"]].from_json(data["name"], data)
