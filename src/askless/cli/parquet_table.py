"""Parquet files; pyarrow reads them, which is an extra of ours."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from askless.cli.chunks import Chunk
from askless.exceptions import TableError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ParquetTable", "parquet"]


def parquet() -> Any:
    """pyarrow's Parquet module."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise TableError("Parquet files need pyarrow: pip install 'askless[parquet]'") from None
    return pyarrow.parquet


class ParquetTable:
    """A table in a Parquet file."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def names(self) -> list[str]:
        """The columns, but for an index that pandas stored."""
        stored = (self._file.schema_arrow.pandas_metadata or {}).get("index_columns", ())
        return [name for name in self._file.schema_arrow.names if name not in stored]

    def read(self, text: Collection[str] = ()) -> pd.DataFrame:
        """The whole table; columns know their types."""
        return self._frame(self._file.read(columns=self.names))

    def chunks(self, rows: int, columns: Collection[str], text: Collection[str] = ()) -> Iterator[Chunk]:
        """The table in chunks of at most `rows` rows, with those of the columns that it has."""
        kept = [name for name in self.names if name in columns]
        total, start = self._file.metadata.num_rows, 0
        for batch in self._file.iter_batches(batch_size=rows, columns=kept):
            yield Chunk(self._frame(batch), start, (start + len(batch)) / total)
            start += len(batch)
        if total == 0:
            yield Chunk(self._frame(self._file.read(columns=kept)), 0, 1.0)

    @staticmethod
    def _frame(table: Any) -> pd.DataFrame:
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
        return frame

    @cached_property
    def _file(self) -> Any:
        try:
            return parquet().ParquetFile(self.path)
        except ValueError as error:  # pyarrow's ArrowInvalid
            raise TableError(f"{self.path} is not a Parquet file that can be read: {error}") from None
