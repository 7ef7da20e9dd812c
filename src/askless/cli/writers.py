"""Write a table a few rows at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from askless.cli.tables import is_parquet
from askless.files import atomic_file
from askless.tables import parquet

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Writer", "open_writer"]


class Writer(Protocol):
    """Writes data frames with the same columns."""

    def write(self, frame: pd.DataFrame) -> None:
        """Add the rows."""
        ...


@contextmanager
def open_writer(path: str | None) -> Iterator[Writer]:
    """A writer for a CSV or Parquet file, which appears when it is complete. None writes CSV to standard output."""
    if path is None:
        yield _CsvWriter(sys.stdout.buffer)
        return
    with atomic_file(Path(path)) as file:
        if not is_parquet(path):
            yield _CsvWriter(file, gzipped=path.endswith(".gz"), separator="\t" if ".tsv" in path else ",")
            return
        writer = _ParquetWriter(file)
        yield writer
        writer.close()


class _CsvWriter:
    def __init__(self, file: IO[bytes], *, gzipped: bool = False, separator: str = ",") -> None:
        self._file, self._gzipped, self._separator = file, gzipped, separator
        self._header = True

    def write(self, frame: pd.DataFrame) -> None:
        text = frame.to_csv(index=False, header=self._header, sep=self._separator, lineterminator="\n")
        self._file.write(_gzip(text.encode()) if self._gzipped else text.encode())
        self._header = False


def _gzip(content: bytes) -> bytes:
    """A gzip member; a gzip file is one or several of them."""
    import gzip

    return gzip.compress(content, mtime=0)


class _ParquetWriter:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, frame: pd.DataFrame) -> None:
        import pyarrow

        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
        if self._writer is None:
            self._writer = parquet().ParquetWriter(self._file, table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
