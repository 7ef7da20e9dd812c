"""Parquet files as tables for commands."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from askless.cli.chunks import Chunk
from askless.tables import ParquetTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ParquetFile"]


class ParquetFile:
    """A table in a Parquet file."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def names(self) -> list[str]:
        """The columns, without an index that pandas stored."""
        return self.table().column_names

    def table(self, categories: Collection[str] = ()) -> ParquetTable:
        """The table, which stays in its file. The columns in `categories` hold codes."""
        return ParquetTable(self.path, categories=categories)

    def read(
        self,
        columns: Collection[str] | None = None,
        text: Collection[str] = (),
        learned: Collection[str] = (),
    ) -> pd.DataFrame:
        """The whole table, or those of `columns` that it has, with the types of the file."""
        wanted = None if columns is None else set(columns)
        return ParquetTable(self.path, [name for name in self.names if wanted is None or name in wanted]).read()

    def chunks(
        self, rows: int, columns: Collection[str], text: Collection[str] = (), keep: Sequence[str] = ()
    ) -> Iterator[Chunk]:
        """The table in chunks of at most `rows` rows, with those of `columns` that it has, and those of `keep`."""
        table = ParquetTable(self.path, [name for name in self.names if name in columns or name in keep])
        for place, part in table.arrow_chunks(rows):
            # pandas would turn integers beside missing values into floats.
            written = part.select(list(keep)).to_pandas(ignore_metadata=True, integer_object_nulls=True)
            yield Chunk(table.frame(part), place.start, place.stop / max(1, len(table)), written)
