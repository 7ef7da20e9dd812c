"""What a person may want to know of a table before a model is fitted to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from askless.cli.console import count, quoted
from askless.remarks import find_remarks

if TYPE_CHECKING:
    import pandas as pd

    from askless.cli.tables import CsvTable

__all__ = ["rare_classes", "remarks", "remarks_on_lines", "short_lines"]

TOO_FEW = 5  # rows of a class
FEWEST = 3  # columns, or rows with other targets, from which on a line of totals can be told


def remarks_on_lines(source: CsvTable, X: pd.DataFrame) -> Iterator[str]:
    """Sentences on what the lines of a CSV file tell and the table does not."""
    if source.nameless:
        places = ", ".join(map(str, source.nameless))
        yield f"column {places} of {source.path} has no name and is left out; give it one if it is to be asked for"
    if (told := short_lines(source, X)) is not None:
        yield f"{told}: what lacks counts as missing"
    numbers = [str(name) for name in X if X[name].dtype.kind in "iuf"]
    for name, cell in source.padded(numbers).items():
        yield f"{name} is written like {cell} and taken for a number: --category {quoted(name)} if these are codes"


def short_lines(source: CsvTable, frame: pd.DataFrame) -> str | None:
    """That lines end too early: in the frame what they lack is missing like anything else."""
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
) -> Iterator[str]:
    """Sentences on rows that are copies, or have a target only; on columns that are copies, or have one value only,
    number the rows, or hold a code for no value, as the target may.

    Copies that are asked together, in a group, are one question. `places` (n,) are those of the rows in their file.
    """
    yield from _bare_targets(frame, y, np.arange(len(y)) if places is None else places)
    task = "regression" if y.dtype.kind in "iuf" else "classification"
    for remark in find_remarks(frame, y.to_numpy(), task, together):
        name, drop = remark.column, f"--drop {quoted(remark.column or '')}"
        match remark.code:
            case "duplicate_rows":
                yield (
                    f"{count(remark.rows, 'row')} of {len(frame):,} repeat others: if cases were entered twice, "
                    "leave the copies out, for a score on rows that training has seen flatters"
                )
            case "duplicate_column":
                yield f"{name} is a copy of {remark.other}: {drop} if only one of them is to be asked"
            case "constant_column":
                yield f"{name} has no other value than {remark.value}: {drop}, asking it tells nothing"
            case "row_numbers":
                yield f"{name} numbers the rows: {drop}, no new case has such a number"
            case "missing_code":
                where = f"{y.name}, the target," if name is None else name
                more = "" if name is not None else " --drop-missing-target"
                yield (
                    f"{where} is {remark.value:g} in {count(remark.rows, 'row')}, far from its other values: "
                    f"--na {remark.value:g}{more} if that is none"
                )  # a leak is reported with the scores


def rare_classes(y: pd.Series) -> Iterator[str]:
    """A sentence on classes of so few rows that nothing is learned of them, and scores over classes mean little."""
    from askless.hints import listed

    counts = y.value_counts()
    rare = counts[counts < TOO_FEW]
    if 0 < len(rare) < len(counts):
        yield (
            f"{y.name} has classes of fewer than {TOO_FEW} rows: {listed(rare.index)}. Next to nothing can be "
            "learned of them, and in a score that is a mean over classes, as AUROC is, they count as much as others"
        )


def _bare_targets(frame: pd.DataFrame, y: pd.Series, places: np.ndarray) -> Iterator[str]:
    """A sentence on rows without any value but a target: the totals at the end of a sheet are no case."""
    bare = frame.isna().all(axis=1).to_numpy(copy=True)
    bare[-1] |= _is_label(frame)
    if not bare.any():
        return
    rows = np.flatnonzero(bare)
    first = f"row {places[rows[0]]}"
    told = (
        f"{first} (counting from 0) has"
        if len(rows) == 1
        else f"{len(rows):,} rows (the first is {first}, counting from 0) have"
    )
    yield (
        f"{told} a target and nothing to ask for: leave out what is no case, such as a line of totals"
        f"{_far_target(y, rows, places)}"
    )


def _is_label(frame: pd.DataFrame) -> bool:
    """Whether the last row has nothing but one word that no other row has, such as "Total"."""
    words = frame.iloc[-1].dropna()
    if len(words) != 1 or frame.shape[1] < FEWEST or not isinstance(words.iloc[0], str):
        return False
    return int((frame[words.index[0]] == words.iloc[0]).sum()) == 1


def _far_target(y: pd.Series, rows: np.ndarray, places: np.ndarray) -> str:
    """That the target of one of the rows is farther from those of all others than these are from each other."""
    if y.dtype.kind not in "iuf" or len(y) - len(rows) < FEWEST:
        return ""
    numbers = y.to_numpy(dtype=np.float64)
    values, others = numbers[rows], np.delete(numbers, rows)
    low, high = others.min(), others.max()
    off = np.maximum(low - values, values - high)
    if off.max() <= high - low:
        return ""
    worst = int(off.argmax())
    return f"; {y.name} is {values[worst]:g} in row {places[rows[worst]]}, and {low:g} to {high:g} in all others"
