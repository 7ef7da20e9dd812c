"""Tables: rows of frames, arrays and Parquet files, some at a time; rows held out; random samples.

pyarrow, which is an extra of ours, reads Parquet files.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.exceptions import ParameterError, TableError
from askless.hints import did_you_mean, listed, nearest

if TYPE_CHECKING:
    import pandas as pd

BATCH = 1 << 16  # rows that pyarrow decodes at once, at most


def parquet() -> Any:
    """pyarrow's Parquet module."""
    try:
        import pyarrow.parquet
    except ImportError:
        message = "Parquet files need pyarrow: pip install pyarrow"
        raise TableError("missing_package", message, package="pyarrow") from None
    return pyarrow.parquet


class ParquetTable:
    """A table that stays in its Parquet file; estimators read it some rows at a time.

    Parameters
    ----------
    path : the file.
    columns : which of its columns; None means all of them (but for an index that pandas stored).
    categories : columns of numbers that are codes: they are read as categories.

    >>> table = ParquetTable("cases.parquet")                                        # doctest: +SKIP
    >>> model.fit(table.drop("label"), table.column("label"))        # doctest: +SKIP
    """

    def __init__(
        self, path: str | os.PathLike[str], columns: Iterable[str] | None = None, *, categories: Iterable[str] = ()
    ) -> None:
        self.path = os.fspath(path)
        self.categories = tuple(categories)
        self._columns = None if columns is None else tuple(columns)
        self._rows: np.ndarray | None = None  # increasing; None means all rows of the file
        self._check(self._columns or ())
        self._check(self.categories)
        if self._columns is not None:
            self._check_own(self._columns)

    @property
    def column_names(self) -> list[str]:
        """The columns, in order."""
        return self._stored if self._columns is None else list(self._columns)

    def __len__(self) -> int:
        return self._file.metadata.num_rows if self._rows is None else len(self._rows)

    # Parts of it

    def drop(self, *names: str) -> ParquetTable:
        """The table without some columns."""
        self._check(names)
        dropped = set(names)
        return self._like([name for name in self.column_names if name not in dropped], self._rows)

    def take(self, rows: np.ndarray) -> ParquetTable:
        """The table of some rows, given in increasing order."""
        rows = np.asarray(rows)
        if len(rows) and (rows[0] < 0 or rows[-1] >= len(self) or (np.diff(rows) <= 0).any()):
            last = len(self) - 1
            message = f"rows of a ParquetTable must increase, and be between 0 and {last}"
            raise ParameterError("out_of_range", message, name="rows", low=0, high=last)
        return self._like(self.column_names, rows if self._rows is None else self._rows[rows])

    def _like(self, columns: Sequence[str], rows: np.ndarray | None) -> ParquetTable:
        have = set(columns)
        part = ParquetTable(self.path, columns, categories=[name for name in self.categories if name in have])
        part._rows = rows
        return part

    # Reading

    def column(self, name: str) -> pd.Series:
        """One column, in memory."""
        self._check([name])
        return self._like([name], self._rows).read()[name]

    def read(self) -> pd.DataFrame:
        """The table, in memory."""
        parts = list(self._batches(BATCH))
        return self.frame(self._joined(parts))

    def chunks(self, size: int) -> Iterator[tuple[slice, pd.DataFrame]]:
        """The table in runs of `size` rows, the last one of what is left; an empty table is one empty run."""
        return ((place, self.frame(table)) for place, table in self.arrow_chunks(size))

    def arrow_chunks(self, size: int) -> Iterator[tuple[slice, Any]]:
        """The same runs as pyarrow's tables."""
        parts: list[Any] = []
        start = count = 0
        for batch in self._batches(min(size, BATCH)):
            parts.append(batch[: size - count])
            count += len(parts[-1])
            if count == size:
                yield slice(start, start + size), self._joined(parts)
                start, rest = start + size, batch[len(parts[-1]) :]
                parts, count = [rest], len(rest)
        if count or len(self) == 0:
            yield slice(start, start + count), self._joined(parts)

    def _batches(self, size: int) -> Iterator[Any]:
        """The rows as record batches of at most `size`; row groups without any of the rows are not read."""
        for groups, start in self._runs():
            for batch in self._file.iter_batches(size, row_groups=groups, columns=self.column_names):
                yield self._chosen(batch, start)
                start += len(batch)

    def _chosen(self, batch: Any, start: int) -> Any:
        """Those rows of a batch, which begins at row `start` of the file, that are the table's."""
        if self._rows is None:
            return batch
        low, high = np.searchsorted(self._rows, [start, start + len(batch)])
        return batch if high - low == len(batch) else batch.take(_arrow().array(self._rows[low:high] - start))

    def _runs(self) -> Iterator[tuple[list[int], int]]:
        """Consecutive row groups that hold rows of the table, and the number of their first row in the file."""
        sizes = [self._file.metadata.row_group(i).num_rows for i in range(self._file.num_row_groups)]
        starts = np.cumsum([0, *sizes])
        rows = np.searchsorted(self._rows, starts) if self._rows is not None else starts
        needed = [i for i, (low, high) in enumerate(pairwise(rows)) if low < high]
        while needed:
            run = [group for i, group in enumerate(needed) if group == needed[0] + i]
            yield run, int(starts[run[0]])
            needed = needed[len(run) :]

    def frame(self, table: Any) -> pd.DataFrame:
        """A run as pandas has it, with the columns in order."""
        names = self.column_names
        places = {name: i for i, name in enumerate(table.column_names)}
        table = table.select([places[name] for name in names])  # by name, each would be looked for among all
        if self.categories:
            codes = set(self.categories)
            columns = [_encoded(c) if name in codes else c for name, c in zip(names, table.columns, strict=True)]
            table = _arrow().Table.from_arrays(columns, names)
        return table.unify_dictionaries().to_pandas(ignore_metadata=True)

    def _joined(self, batches: list[Any]) -> Any:
        return _arrow().Table.from_batches(batches) if batches else self._file.schema_arrow.empty_table()

    # The file

    @cached_property
    def _file(self) -> Any:
        module = parquet()
        try:
            file = module.ParquetFile(self.path, buffer_size=1 << 16)  # or a row group's bytes are all in memory
        except ValueError as error:  # pyarrow's ArrowInvalid
            message = f"{self.path} is not a readable Parquet file: {error}"
            raise TableError("unreadable_file", message, path=self.path) from None
        twice = [name for name, times in Counter(file.schema_arrow.names).items() if times > 1]
        if twice:
            message = f"{self.path}: several columns have the same name: {listed(twice)}"
            raise TableError("duplicate_name", message, path=self.path, name=twice[0])
        return file

    @cached_property
    def _names(self) -> list[str]:
        """The file's columns, with those of an index; pyarrow makes a new list whenever it is asked for them."""
        return self._file.schema_arrow.names

    @cached_property
    def _stored(self) -> list[str]:
        """The file's columns, but for an index that pandas stored."""
        return [self._names[i] for i in without_index(self._file.schema_arrow)]

    def _check(self, names: Iterable[str]) -> None:
        """An error that names the first column that is not there."""
        have = set(self._names)
        for name in names:
            if name not in have:
                message = f"{self.path} has no column {name!r}{did_you_mean(name, self._names)}"
                raise TableError(
                    "missing_column", message, path=self.path, column=name, nearest=nearest(name, self._names)
                )

    def _check_own(self, columns: tuple[str, ...]) -> None:
        """An error where a column is named twice, or a category is none of the columns."""
        have = set(columns)
        if len(have) < len(columns):
            twice = next(name for name in columns if columns.count(name) > 1)
            raise TableError("duplicate_name", f"the column {twice!r} is named twice", name=twice)
        for name in self.categories:
            if name not in have:
                message = f"categories: there is no column {name!r}{did_you_mean(name, columns)}"
                raise TableError("missing_column", message, column=name, nearest=nearest(name, columns))

    def __repr__(self) -> str:
        return f"ParquetTable({self.path!r}, {len(self):,} rows, {len(self.column_names)} columns)"


def without_index(schema: Any) -> list[int]:
    """Which columns of a pyarrow schema, by position, are not an index that pandas stored."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    return [i for i, name in enumerate(schema.names) if name not in index]


def _arrow() -> Any:
    import pyarrow

    return pyarrow


def _encoded(column: Any) -> Any:
    return column if _arrow().types.is_dictionary(column.type) else column.dictionary_encode()


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
    from narwhals.dependencies import is_pandas_dataframe, is_pandas_series

    if not all(is_pandas_dataframe(each) or is_pandas_series(each) for each in (table, other)):
        return
    labels, others = table.index, other.index
    if len(labels) != len(others) or labels.equals(others):
        return
    if labels.is_unique and others.is_unique and (others.get_indexer(labels) >= 0).all():
        by_position = f"{name}.set_axis(X.index)" if hasattr(other, "columns") else f"{name}.to_numpy()"
        message = (
            f"{name} has the row labels of X in another order; pass {name}.loc[X.index], or {by_position} if the "
            "rows belong together by position"
        )
        raise TableError("row_labels_differ", message, name=name)


def take_rows(table: Any, rows: np.ndarray | slice) -> Any:
    """The given rows, in that order (of a `ParquetTable`: an array in increasing order), in memory.

    A slice of an array is a view.
    """
    if isinstance(table, ParquetTable):
        return table.take(np.arange(len(table))[rows]).read()
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
        yield run, take_rows(whole, run if rows is None else rows[run])


def sample_rows(n: int, at_most: int | None, seed: int) -> np.ndarray:
    """Row numbers of a table of n rows, in order: all, or `at_most` random ones."""
    if at_most is None or n <= at_most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, at_most, replace=False))


def from_dask(X: Any, y: Any, at_most: int | None, seed: int) -> tuple[Any, Any, int | None]:
    """A sample of a Dask frame and its labels in memory, and the number of rows of the whole frame.

    What is no Dask frame is returned as it is, without a number.
    """
    if not hasattr(X, "map_partitions"):
        return X, y, None
    sizes = X.map_partitions(len).compute().to_numpy()
    total = int(sizes.sum())
    rows = sample_rows(total, at_most, seed)
    ends = np.cumsum(sizes)
    chosen = np.split(rows, np.searchsorted(rows, ends[:-1]))
    places = [part - start for part, start in zip(chosen, ends - sizes, strict=True)]

    def pick(part: Any, partition_info: Any = None) -> Any:
        return part if partition_info is None else part.iloc[places[partition_info["number"]]]

    picked = [each.map_partitions(pick, meta=each._meta).compute() for each in (X, y) if hasattr(each, "dask")]
    if len(picked) == 2:
        return picked[0], picked[1], total
    return picked[0], np.asarray(y)[rows], total


def holdout(y: np.ndarray, fraction: float, stratify: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the rows to train on and of those to validate on.

    Stratified, each class gives its share, and one row of every class stays for training. Where every class has too
    few for that, some of them, drawn by chance, give one. Where there are too few rows to hold any out, training and
    validation are the same.
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
        spare = rng.permutation(np.array([part[1] for part in parts if len(part) > 1], dtype=np.int64))
        valid = np.sort(spare[: round(fraction * len(y))])
    if len(valid) == 0:
        return np.arange(len(y)), np.arange(len(y))
    kept = np.ones(len(y), dtype=bool)
    kept[valid] = False
    return np.flatnonzero(kept), valid
