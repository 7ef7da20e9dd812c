"""Rows of tables: telling frames from arrays, comparing their labels, taking rows, cutting runs of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from askless.exceptions import TableError
from askless.tables.parquet import ParquetTable, without_index

__all__ = ["check_row_labels", "column_names", "is_frame", "row_chunks", "take_rows", "without_stored_index"]


def is_frame(table: Any) -> bool:
    """Whether the columns have names: a data frame of any library that narwhals reads, or a `ParquetTable`."""
    if isinstance(table, (np.ndarray, list, tuple)):
        return False
    if isinstance(table, ParquetTable):
        return True
    import narwhals as nw

    return nw.dependencies.is_into_dataframe(table)


def column_names(frame: Any) -> list[Any]:
    """The names of a frame's columns, as they are."""
    names = frame.column_names if hasattr(type(frame), "column_names") else frame.columns
    return list(names)


def without_stored_index(frame: Any) -> Any:
    """The frame without the columns of a pyarrow table that were the index of the pandas frame it was made from."""
    import narwhals as nw

    if not nw.dependencies.is_pyarrow_table(frame):
        return frame
    kept = without_index(frame.schema)
    return frame if len(kept) == frame.num_columns else frame.select(kept)


def check_row_labels(table: Any, other: Any, name: str) -> None:
    """Raise if `other` has the table's pandas row labels in another order: rows are matched by position.

    Different labels, and labels that occur twice, say nothing about which rows belong together.
    """
    labels, others = _row_labels(table), _row_labels(other)
    if labels is None or others is None or len(labels) != len(others) or labels.equals(others):
        return
    if labels.is_unique and others.is_unique and (others.get_indexer(labels) >= 0).all():
        by_position = f"{name}.set_axis(X.index)" if hasattr(other, "columns") else f"{name}.to_numpy()"
        raise TableError(
            "row_labels_differ",
            f"{name} has the row labels of X in another order; pass {name}.loc[X.index], or {by_position} if the "
            "rows belong together by position",
            name=name,
        )


def _row_labels(table: Any) -> Any:
    """The index of a pandas frame or series; None of anything else."""
    import narwhals as nw

    if nw.dependencies.is_pandas_dataframe(table) or nw.dependencies.is_pandas_series(table):
        return table.index
    return None


def take_rows(table: Any, rows: np.ndarray) -> Any:
    """The given rows, in that order (of a `ParquetTable`: in increasing order), in memory."""
    if isinstance(table, ParquetTable):
        return table.take(rows).read()
    if not is_frame(table):
        return table[rows]
    import narwhals as nw

    return nw.from_native(table, eager_only=True)[rows].to_native()


def row_chunks(table: Any, size: int, rows: np.ndarray | None = None) -> Iterator[tuple[slice, Any]]:
    """A table, or the given rows of it (in increasing order), in runs of at most `size` rows.

    Each run comes with its place among all the runs' rows. An empty table is one empty run.
    """
    if isinstance(table, ParquetTable):
        yield from (table if rows is None else table.take(rows)).chunks(size)
        return
    if rows is None and len(table) <= size:
        yield slice(0, len(table)), table
        return
    whole = table if is_frame(table) else np.asarray(table)
    count = len(whole) if rows is None else len(rows)
    for start in range(0, count, size):
        run = slice(start, min(start + size, count))
        yield run, _cut(whole, run) if rows is None else take_rows(whole, rows[run])


def _cut(table: Any, run: slice) -> Any:
    """Consecutive rows; an array's are a view."""
    if not is_frame(table):
        return table[run]
    import narwhals as nw

    return nw.from_native(table, eager_only=True)[run.start : run.stop].to_native()
