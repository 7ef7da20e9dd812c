"""CSV files in UTF-8 with a header line, also compressed by gzip.

The separator is a comma, a semicolon (with decimal commas) or a tab. The content of a column must not depend on how
many rows are read at a time. Columns of categories are therefore read as text: 007 stays 007. The encoder takes any
mixture of types in the other columns.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from askless.cli.chunks import Chunk
from askless.cli.titles import LOOK_AT as TITLES
from askless.cli.titles import line_of_names
from askless.encoding.cells import DECIMAL_COMMA, MISSING_TEXT, THOUSANDS, composed, parsed, points_for_thousands
from askless.exceptions import TableError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CsvTable"]

SEPARATORS = (",", ";", "\t")
OTHER_SEPARATORS = ("|", " ")  # not read; named in the error for a table that seems to use one
LOOK_AT = 1000  # rows that show how numbers are written
RAGGED = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")  # message of pandas
PADDED = re.compile(r"[-+]?0\d+")


class CsvTable:
    """A table in a CSV file."""

    def __init__(self, path: str, missing: Collection[str] = (), names: Collection[str] = ()) -> None:
        """`missing` are words for a missing value. `names` are expected columns: Unicode has two forms of accents."""
        self.path = path
        self._wanted = {composed(name): name for name in names}
        self._missing = [*MISSING_TEXT, *missing]
        self._gzipped = path.endswith(".gz")

    @property
    def names(self) -> list[str]:
        """The columns that have a name."""
        return [name for name in self._header[0] if name]

    @property
    def nameless(self) -> list[int]:
        """The positions, from 1, of columns without a name; a first column with row numbers is left out."""
        places = [place for place, name in enumerate(self._header[0], start=1) if not name]
        return places[1:] if places[:1] == [1] and self._counts_rows() else places

    def read(
        self,
        columns: Collection[str] | None = None,
        text: Collection[str] = (),
        learned: Collection[str] = (),
    ) -> pd.DataFrame:
        """The whole table, or those of `columns` that it has. Columns in `text` are not turned into numbers.

        Numbers with an ambiguous point, such as 1.250, are refused. In columns that are `learned` by a model they are
        decimals, since a few rows are not enough to judge.
        """
        kept = self.names if columns is None else [name for name in self.names if name in columns]
        self._refuse_thousands(set(kept) - {*text, *learned})
        with open(self.path, "rb") as file, self._explained():
            frame: pd.DataFrame = self._parse(file, text, None, ())
        return self._with_points(frame[kept], text)

    def chunks(
        self, rows: int, columns: Collection[str], text: Collection[str] = (), keep: Sequence[str] = ()
    ) -> Iterator[Chunk]:
        """The table in chunks of at most `rows` rows, with those of `columns` that it has, all learned by a model.

        Columns in `keep` are returned as they are written, but numbers get a decimal point instead of a comma.
        """
        size = max(1, Path(self.path).stat().st_size)
        kept = [name for name in self.names if name in columns]
        with_commas = self._with_decimal_commas(keep)
        with open(self.path, "rb") as file:
            with self._explained():
                reader = self._parse(file, {*text, *keep}, rows, keep)
            start = 0
            while True:
                with self._explained():
                    frame = next(reader, None)
                if frame is None:
                    return
                if start == 0 and frame.empty:
                    raise TableError("too_few_rows", f"{self.path}: the table has no rows", path=self.path)
                frame = frame.reset_index(drop=True)
                written = frame[list(keep)]
                frame = frame.assign(**{name: written[name].mask(written[name].isin(self._missing)) for name in keep})
                written = written.assign(**{name: written[name].map(_with_point) for name in with_commas})
                yield Chunk(self._with_points(frame[kept], text), start, file.tell() / size, written)
                start += len(frame)

    def short_lines(self) -> list[int]:
        """The numbers, from 1, of lines that end before the last column."""
        names, separator = self._header
        wanted = 1 + max(i for i, name in enumerate(names) if name)
        with self._explained(), self._open_text() as file:
            reader = csv.reader(file, delimiter=separator, skipinitialspace=True)
            return [reader.line_num for row in reader if 0 < len(row) < wanted]

    def padded(self, columns: Collection[str]) -> dict[str, str]:
        """The columns with leading zeros in their first rows, each with an example."""
        found: dict[str, str] = {}
        for name, cell in self._first_cells(columns):
            if PADDED.fullmatch(cell):
                found.setdefault(name, cell)
        return found

    def _parse(self, file: IO[bytes], text: Collection[str], rows: int | None, written: Collection[str]) -> Any:
        """A data frame, or a reader of frames of `rows` rows. It has all columns, so that ragged lines are noticed.

        In the columns `written`, no word means a missing value.
        """
        import pandas as pd

        names, separator = self._header
        called = [name or f"\0{i}" for i, name in enumerate(names)]  # pandas wants them to differ
        return pd.read_csv(
            file,
            sep=separator,
            decimal="," if separator == ";" else ".",
            header=0,
            names=called,
            index_col=False,
            dtype={name: "str" for name in names if name in text},
            keep_default_na=False,
            na_values={name: self._missing for name in called if name not in written},
            skipinitialspace=True,
            encoding="utf-8-sig",
            compression="gzip" if self._gzipped else None,
            low_memory=False,
            chunksize=rows,
        )

    def _with_points(self, frame: pd.DataFrame, text: Collection[str]) -> pd.DataFrame:
        """The frame with decimal points instead of commas also in columns that are not all numbers."""
        if self._header[1] != ";":
            return frame
        words = frame.select_dtypes(include=["object", "string"])
        for name in [name for name in words if name not in text]:
            unclear = next((cell for cell in words[name] if _is_unclear(cell)), None)
            if unclear is not None and (comma := self._decimal_comma(set(frame.columns) - set(text))) is not None:
                raise TableError(
                    "bad_cell",
                    f"{self.path}: column {name!r} has {unclear.strip()!r}, but other numbers have a decimal comma "
                    f"({comma!r}); write numbers without separators of thousands",
                    path=self.path,
                    column=str(name),
                    value=unclear.strip(),
                )
        return frame.assign(**{str(name): words[name].map(_with_point) for name in words})

    def _refuse_thousands(self, columns: Collection[str]) -> None:
        """Refuse points that seem to separate thousands: they would be read as decimal points."""
        cells: dict[str, list[str]] = {}
        for name, text in self._first_cells(columns):
            cells.setdefault(name, []).append(text)
        for name, texts in cells.items():
            if (cell := points_for_thousands(texts)) is not None:
                raise TableError(
                    "bad_cell",
                    f"{self.path}: column {name!r} has {cell!r} beside integers of at most three digits, so the "
                    "point seems to separate thousands; remove it, or, if it is a decimal point, write one in every "
                    "number",
                    path=self.path,
                    column=name,
                    value=cell,
                )

    def _counts_rows(self) -> bool:
        """Whether the first column seems to hold row numbers: distinct integers in the first rows."""
        with self._explained(), self._open_text() as file:
            rows = csv.reader(islice(file, LOOK_AT), delimiter=self._header[1], skipinitialspace=True)
            first = [row[0].strip() for row in rows if row][1:]
        return all(map(str.isdecimal, first)) and len(set(first)) == len(first)

    def _decimal_comma(self, columns: Collection[str]) -> str | None:
        """A number with a decimal comma in the first rows of these columns, if any."""
        return next((cell for _, cell in self._first_cells(columns) if DECIMAL_COMMA.fullmatch(cell)), None)

    def _with_decimal_commas(self, columns: Sequence[str]) -> list[str]:
        """The columns of numbers, judged by the first rows, in a file with decimal commas."""
        if self._header[1] != ";":
            return []
        cells = list(self._first_cells(columns))
        words = {name for name, cell in cells if parsed(cell) is None and not DECIMAL_COMMA.fullmatch(cell)}
        return [name for name in columns if name not in words]

    def _first_cells(self, columns: Collection[str]) -> Iterator[tuple[str, str]]:
        """Pairs of a column and a cell from the first rows, without missing values."""
        names, separator = self._header
        missing = set(self._missing)
        with self._explained(), self._open_text() as file:
            rows = csv.reader(islice(file, LOOK_AT), delimiter=separator, skipinitialspace=True)
            next(rows, None)  # the names
            for row in rows:
                cells = ((name, cell.strip()) for name, cell in zip(names, row, strict=False) if name in columns)
                yield from ((name, cell) for name, cell in cells if cell not in missing)

    @cached_property
    def _header(self) -> tuple[list[str], str]:
        """The names in the first line, and the separator: the one that makes the most names."""
        found: list[tuple[list[str], str]] = []
        with self._explained():
            for separator in SEPARATORS:
                with self._open_text() as file:
                    reader = csv.reader(file, delimiter=separator, skipinitialspace=True)
                    found.append(([self._called(name.strip()) for name in next(reader, [])], separator))
        names, separator = max(found, key=lambda pair: len(pair[0]))  # the comma wins a tie
        if names and names[0].startswith("sep="):
            message = f"{self.path} begins with {names[0]!r}, a line for Excel; delete it"
            raise TableError("unreadable_file", message, path=self.path)
        self._refuse_title(list(filter(None, names)))
        if not any(names):
            message = f"{self.path} is empty; a table begins with a line of column names"
            raise TableError("unreadable_file", message, path=self.path)
        twice = [name for name, times in Counter(filter(None, names)).items() if times > 1]
        if twice:
            message = f"{self.path}: several columns have the same name: {', '.join(map(repr, twice))}"
            raise TableError("duplicate_name", message, path=self.path, name=twice[0])
        alone = len(names) == 1 and names[0] not in self._wanted.values()
        if alone and (other := next((each for each in OTHER_SEPARATORS if each in names[0]), None)):
            raise TableError(
                "unreadable_file",
                f"{self.path}: the columns seem to be separated by {other!r} ({names[0]!r}); use commas, semicolons "
                "or tabs",
                path=self.path,
                value=other,
            )
        return names, separator

    def _refuse_title(self, names: Sequence[str]) -> None:
        """Refuse a title or an empty line above the names."""
        if len(names) > 1 or any(name in self._wanted.values() for name in names):
            return
        with self._explained(), self._open_text() as file:
            place = line_of_names(list(islice(file, TITLES)), SEPARATORS, OTHER_SEPARATORS)
        if place is not None:
            first = f"line 1 ({names[0]!r}) looks like a title" if names else "line 1 is empty"
            above = "line" if place == 2 else "lines"
            message = (
                f"{self.path}: {first}; the column names seem to be in line {place}: delete the {above} above it"
            )
            raise TableError("unreadable_file", message, path=self.path, line=place)

    def _called(self, name: str) -> str:
        return self._wanted.get(composed(name), name)

    def _open_text(self) -> IO[str]:
        if self._gzipped:
            return gzip.open(self.path, "rt", encoding="utf-8-sig", newline="")
        return open(self.path, encoding="utf-8-sig", newline="")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of reading into `TableError`s that name the file."""
        import pandas as pd

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)
                yield
        except UnicodeDecodeError as error:
            wide = error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            raise TableError(
                "unreadable_file",
                f"{self.path} is not a CSV file in UTF-8; save it as one (in Excel: CSV UTF-8), or convert it: "
                f"iconv -f {'utf-16' if wide else 'cp1252'} -t utf-8",
                path=self.path,
            ) from None
        except (csv.Error, pd.errors.ParserError, pd.errors.ParserWarning) as error:
            if ragged := RAGGED.search(str(error)):
                expected, line, found = map(int, ragged.groups())
                message = f"{self.path}: line {line} has {found} cells, but the header has {expected}"
                raise TableError(
                    "unreadable_file",
                    f"{message}; put quotes around cells that contain a separator",
                    path=self.path,
                    line=line,
                ) from None
            message = f"{self.path} is not a CSV file that can be read: {error}"
            raise TableError("unreadable_file", message, path=self.path) from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise TableError("damaged_file", f"{self.path} is damaged: {error}", path=self.path) from None


def _is_unclear(cell: Any) -> bool:
    """Whether a point in a number may separate thousands."""
    return isinstance(cell, str) and "." in cell and THOUSANDS.fullmatch(cell.strip()) is not None


def _with_point(cell: Any) -> Any:
    match = DECIMAL_COMMA.fullmatch(cell.strip()) if isinstance(cell, str) else None
    return cell if match is None else f"{match[1]}.{match[2]}"
