"""Notes on suspicious data in the table of a fit."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from askless.cli.console import count, quoted
from askless.remarks import Remark, find_remarks

if TYPE_CHECKING:
    import pandas as pd

    from askless.cli.tables import CsvTable

Note: TypeAlias = tuple[str, str]
"""The code and the message of a note."""

__all__ = ["rare_classes", "remarks", "remarks_on_lines", "short_lines"]

TOO_FEW = 5  # rows of a class
FEWEST = 3  # columns, or rows with other targets, that it takes to recognise a line of totals


def remarks_on_lines(source: CsvTable, X: pd.DataFrame) -> Iterator[Note]:
    """Notes on the lines of a CSV file."""
    if source.nameless:
        places = ", ".join(map(str, source.nameless))
        yield (
            "unnamed_column",
            f"column {places} of {source.path} has no name and is left out; to use it, give it a name",
        )
    if (message := short_lines(source, X)) is not None:
        yield "short_lines", f"{message}; the missing cells count as missing values"
    numbers = [str(name) for name in X if X[name].dtype.kind in "iuf"]
    for name, cell in source.padded(numbers).items():
        yield (
            "leading_zeros",
            f"{name} has leading zeros, as in {cell}, but is read as a number; if these are codes, add "
            f"--category {quoted(name)}",
        )


def short_lines(source: CsvTable, frame: pd.DataFrame) -> str | None:
    """A message if lines end before the last column, whose cells are missing values in the frame."""
    last = source.names[-1]
    if last not in frame or not frame[last].isna().any():
        return None
    short = source.short_lines()
    if not short:
        return None
    lines = "line ends" if len(short) == 1 else "lines end"
    return f"{len(short):,} {lines} before the last column (the first is line {short[0]:,})"


def remarks(
    frame: pd.DataFrame,
    y: pd.Series,
    together: Collection[Collection[str]] = (),
    places: np.ndarray | None = None,
) -> Iterator[Note]:
    """Notes on duplicate rows and columns, constants, row numbers, codes for missing values, and rows without values.

    Duplicate columns in one group of `together` are asked as one question and not reported. `places` (n,) are the row
    numbers in the file.
    """
    yield from _bare_targets(frame, y, np.arange(len(y)) if places is None else places)
    task = "regression" if y.dtype.kind in "iuf" else "classification"
    for remark in find_remarks(frame, y.to_numpy(), task, together):
        if (message := _in_words(remark, len(frame), str(y.name))) is not None:
            yield remark.code, message


def _in_words(remark: Remark, n: int, target: str) -> str | None:
    """The message of a remark, with the option that helps; None for a leak, which is reported with the scores."""
    name, drop = remark.column, f"add --drop {quoted(remark.column or '')}"
    rows = count(remark.rows, "row")
    match remark.code:
        case "duplicate_rows":
            return (
                f"{rows} of {n:,} are copies of other rows; if cases were entered twice, remove the copies, because "
                "scores on rows that were also trained on are too high"
            )
        case "duplicate_column":
            return f"{name} is a copy of {remark.other}; to ask only one of them, {drop}"
        case "constant_column":
            return f"{name} has the value {remark.value} only, so asking it is useless; {drop}"
        case "row_numbers":
            return f"{name} numbers the rows, which cannot help on new cases; {drop}"
        case "missing_code":
            where = f"the target {target}" if name is None else name
            add = f"--na {remark.value:g}" + (" --drop-missing-target" if name is None else "")
            return (
                f"{where} is {remark.value:g} in {rows}, far from its other values; if this means missing, add {add}"
            )
    return None


def rare_classes(y: pd.Series) -> Iterator[Note]:
    """A note on classes with so few rows that the model cannot learn them."""
    from askless.hints import listed

    counts = y.value_counts()
    rare = counts[counts < TOO_FEW]
    if 0 < len(rare) < len(counts):
        yield (
            "rare_class",
            f"{y.name} has classes with fewer than {TOO_FEW} rows: {listed(rare.index)}; a model can hardly learn "
            "them, and in AUROC they count as much as the others",
        )


def _bare_targets(frame: pd.DataFrame, y: pd.Series, places: np.ndarray) -> Iterator[Note]:
    """A note on rows that have a target but no other value, such as a line of totals at the end of a sheet."""
    bare = frame.isna().all(axis=1).to_numpy(copy=True)
    bare[-1] |= _is_label(frame)
    if not bare.any():
        return
    rows = np.flatnonzero(bare)
    first = f"row {places[rows[0]]} (0-based)"
    which = f"{first} has" if len(rows) == 1 else f"{len(rows):,} rows, the first is {first}, have"
    yield (
        "target_only_rows",
        f"{which} a target but no other value; remove rows that are no cases, such as a line of totals"
        f"{_far_target(y, rows, places)}",
    )


def _is_label(frame: pd.DataFrame) -> bool:
    """Whether the last row has a single word, such as "Total", that no other row has."""
    words = frame.iloc[-1].dropna()
    if len(words) != 1 or frame.shape[1] < FEWEST or not isinstance(words.iloc[0], str):
        return False
    return int((frame[words.index[0]] == words.iloc[0]).sum()) == 1


def _far_target(y: pd.Series, rows: np.ndarray, places: np.ndarray) -> str:
    """A message if the target of one of the rows is far outside of the range of all other rows."""
    if y.dtype.kind not in "iuf" or len(y) - len(rows) < FEWEST:
        return ""
    numbers = y.to_numpy(dtype=np.float64)
    values, others = numbers[rows], np.delete(numbers, rows)
    low, high = others.min(), others.max()
    off = np.maximum(low - values, values - high)
    if off.max() <= high - low:
        return ""
    worst = int(off.argmax())
    return f"; {y.name} is {values[worst]:g} in row {places[rows[worst]]}, but {low:g} to {high:g} in all others"
