"""Parquet files, read some rows at a time; pyarrow reads them, which is an extra of ours."""

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

__all__ = ["ParquetTable", "parquet", "without_index"]

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
            raise ParameterError(
                "out_of_range",
                f"rows of a ParquetTable must increase, and be between 0 and {last}",
                name="rows",
                low=0,
                high=last,
            )
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
        return self.frame(_joined(parts) if parts else self._nothing())

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
                yield slice(start, start + size), _joined(parts)
                start, rest = start + size, batch[len(parts[-1]) :]
                parts, count = [rest], len(rest)
        if count or len(self) == 0:
            yield slice(start, start + count), _joined(parts) if parts else self._nothing()

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
        frame: pd.DataFrame = table.unify_dictionaries().to_pandas(ignore_metadata=True)
        return frame

    def _nothing(self) -> Any:
        return self._file.schema_arrow.empty_table()

    # The file

    @cached_property
    def _file(self) -> Any:
        module = parquet()
        try:
            file = module.ParquetFile(self.path, buffer_size=1 << 16)  # or a row group's bytes are all in memory
        except ValueError as error:  # pyarrow's ArrowInvalid
            raise TableError(
                "unreadable_file", f"{self.path} is not a readable Parquet file: {error}", path=self.path
            ) from None
        twice = [name for name, times in Counter(file.schema_arrow.names).items() if times > 1]
        if twice:
            raise TableError(
                "duplicate_name",
                f"{self.path}: several columns have the same name: {listed(twice)}",
                path=self.path,
                name=twice[0],
            )
        return file

    @cached_property
    def _names(self) -> list[str]:
        """The file's columns, with those of an index; pyarrow makes a new list whenever it is asked for them."""
        names: list[str] = self._file.schema_arrow.names
        return names

    @cached_property
    def _stored(self) -> list[str]:
        """The file's columns, but for an index that pandas stored."""
        return [self._names[i] for i in without_index(self._file.schema_arrow)]

    def _check(self, names: Iterable[str]) -> None:
        """An error that names the first column that is not there."""
        have = set(self._names)
        for name in names:
            if name not in have:
                raise TableError(
                    "missing_column",
                    f"{self.path} has no column {name!r}{did_you_mean(name, self._names)}",
                    path=self.path,
                    column=name,
                    nearest=nearest(name, self._names),
                )

    def _check_own(self, columns: tuple[str, ...]) -> None:
        """An error where a column is named twice, or a category is none of the columns."""
        have = set(columns)
        if len(have) < len(columns):
            twice = next(name for name in columns if columns.count(name) > 1)
            raise TableError("duplicate_name", f"the column {twice!r} is named twice", name=twice)
        for name in self.categories:
            if name not in have:
                raise TableError(
                    "missing_column",
                    f"categories: there is no column {name!r}{did_you_mean(name, columns)}",
                    column=name,
                    nearest=nearest(name, columns),
                )

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
    """A column as categories."""
    return column if _arrow().types.is_dictionary(column.type) else column.dictionary_encode()


def _joined(batches: list[Any]) -> Any:
    return _arrow().Table.from_batches(batches)
