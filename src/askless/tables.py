"""Rows of tables: telling frames from arrays, taking rows, cutting runs of rows, holding rows out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["column_names", "holdout", "is_frame", "row_chunks", "take_rows"]


def is_frame(table: Any) -> bool:
    """Whether the table is a data frame of any library that narwhals reads."""
    if isinstance(table, (np.ndarray, list, tuple)):
        return False
    import narwhals as nw

    return nw.dependencies.is_into_dataframe(table)


def column_names(frame: Any) -> list[Any]:
    """The names of a frame's columns, as they are."""
    names = frame.column_names if hasattr(type(frame), "column_names") else frame.columns
    return list(names)


def take_rows(table: Any, rows: np.ndarray) -> Any:
    """The given rows, in that order."""
    if not is_frame(table):
        return table[rows]
    import narwhals as nw

    return nw.from_native(table, eager_only=True)[rows].to_native()


def row_chunks(table: Any, size: int) -> Iterator[tuple[slice, Any]]:
    """A frame or an array in runs of at most `size` rows; an empty table is one empty run."""
    framed = is_frame(table)
    if framed:
        import narwhals as nw

        frame = nw.from_native(table, eager_only=True)
        count = len(frame)
    else:
        frame, count = np.asarray(table), len(table)
    if count <= size:
        yield slice(0, count), table
        return
    for start in range(0, count, size):
        rows = slice(start, min(start + size, count))
        part = frame[rows.start : rows.stop]
        yield rows, part.to_native() if framed else part


def holdout(y: np.ndarray, fraction: float, stratify: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the rows to train on and of those to validate on.

    Stratified, each class gives its share, and one row of every class stays for training. Where there are too few
    rows to hold any out, training and validation are the same.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    if stratify:
        sorted_ = order[np.argsort(y[order], kind="stable")]
        starts = np.flatnonzero(np.r_[True, np.diff(y[sorted_]) != 0])
        parts = np.split(sorted_, starts[1:])
    else:
        parts = [order]
    held = [part[: min(round(fraction * len(part)), len(part) - 1)] for part in parts]
    valid = np.sort(np.concatenate(held))
    if len(valid) == 0:
        return np.arange(len(y)), np.arange(len(y))
    return np.setdiff1d(np.arange(len(y)), valid), valid
