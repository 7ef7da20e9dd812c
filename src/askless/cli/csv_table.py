"""CSV files: a header line, commas (or semicolons, with decimal commas, or tabs), UTF-8, also compressed by gzip.

What a column holds must not depend on the chunk of rows that is read: columns of categories are read as text, so that
007 stays 007 and a chunk of bare digits equals one with letters; the encoder takes any mixture in the others.
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
OTHER_SEPARATORS = ("|", " ")  # of which a table of one column may have been meant to have more
LOOK_AT = 1000  # rows, to see how numbers are written
RAGGED = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")  # as pandas says it
PADDED = re.compile(r"[-+]?0\d+")


class CsvTable:
    """A table in a CSV file."""

    def __init__(self, path: str, missing: Collection[str] = (), names: Collection[str] = ()) -> None:
        """`missing` are words for no value; `names` are wanted: accents of theirs may be written in two ways."""
        self.path = path
        self._wanted = {composed(name): name for name in names}
        self._missing = [*MISSING_TEXT, *missing]
        self._gzipped = path.endswith(".gz")

    @property
    def names(self) -> list[str]:
        """The columns, but for those without a name: these are row numbers that a program wrote."""
        return [name for name in self._header[0] if name]

    @property
    def nameless(self) -> list[int]:
        """The places, from 1 on, of columns without a name, but for the first where it holds row numbers."""
        places = [place for place, name in enumerate(self._header[0], start=1) if not name]
        return places[1:] if places[:1] == [1] and self._counts_rows() else places

    def read(
        self,
        columns: Collection[str] | None = None,
        text: Collection[str] = (),
        learned: Collection[str] = (),
    ) -> pd.DataFrame:
        """The whole table, or those of the columns that it has; those in `text` are not turned into numbers.

        How numbers are written is judged, but not in columns that a model has learned: a few rows tell less of them
        than those of its training, and what is out of their range is told.
        """
        kept = self.names if columns is None else [name for name in self.names if name in columns]
        self._refuse_thousands(set(kept) - {*text, *learned})
        with open(self.path, "rb") as file, self._explained():
            frame: pd.DataFrame = self._parse(file, text, None, ())
        return self._with_points(frame[kept], text)

    def chunks(
        self, rows: int, columns: Collection[str], text: Collection[str] = (), keep: Sequence[str] = ()
    ) -> Iterator[Chunk]:
        """The table in chunks of at most `rows` rows, with those of the columns that it has, all learned by a model.

        What is in `keep` comes as it is written, too, but for decimal commas: these are points in columns of numbers.
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
                    raise TableError(f"{self.path}: the table has no rows")
                frame = frame.reset_index(drop=True)
                written = frame[list(keep)]
                frame = frame.assign(**{name: written[name].mask(written[name].isin(self._missing)) for name in keep})
                written = written.assign(**{name: written[name].map(_with_point) for name in with_commas})
                yield Chunk(self._with_points(frame[kept], text), start, file.tell() / size, written)
                start += len(frame)

    def short_lines(self) -> list[int]:
        """The lines, from 1 on, that end before the last column, which counts as missing there."""
        names, separator = self._header
        wanted = 1 + max(i for i, name in enumerate(names) if name)
        with self._explained(), self._open_text() as file:
            reader = csv.reader(file, delimiter=separator, skipinitialspace=True)
            return [reader.line_num for row in reader if 0 < len(row) < wanted]

    def padded(self, columns: Collection[str]) -> dict[str, str]:
        """The columns that have a whole number with zeros in front in the first rows, and one of these."""
        found: dict[str, str] = {}
        for name, cell in self._first_cells(columns):
            if PADDED.fullmatch(cell):
                found.setdefault(name, cell)
        return found

    def _parse(self, file: IO[bytes], text: Collection[str], rows: int | None, written: Collection[str]) -> Any:
        """What pandas reads: a frame, or a reader of frames of so many rows. All columns, to notice ragged lines.

        In those that are `written`, no word stands for a missing value.
        """
        import pandas as pd

        names, separator = self._header
        called = [name or f"\0{i}" for i, name in enumerate(names)]  # pandas wants them to differ
        return pd.read_csv(
            file,
            sep=separator,
            decimal="," if separator == ";" else ".",  # where semicolons separate, commas are for decimals
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
        """The frame with decimal points in columns that are not all numbers, too, where commas are for decimals."""
        if self._header[1] != ";":
            return frame
        words = frame.select_dtypes(include=["object", "string"])
        for name in [name for name in words if name not in text]:
            unclear = next((cell for cell in words[name] if _is_unclear(cell)), None)
            if unclear is not None and (comma := self._decimal_comma(set(frame.columns) - set(text))) is not None:
                raise TableError(
                    f"{self.path}: {name!r} has {unclear.strip()!r}, and decimals have a comma elsewhere "
                    f"({comma!r}): write numbers without separators of thousands"
                )
        return frame.assign(**{str(name): words[name].map(_with_point) for name in words})

    def _refuse_thousands(self, columns: Collection[str]) -> None:
        """An error where points seem to separate thousands: as decimals they are read without a word."""
        cells: dict[str, list[str]] = {}
        for name, text in self._first_cells(columns):
            cells.setdefault(name, []).append(text)
        for name, texts in cells.items():
            if (cell := points_for_thousands(texts)) is not None:
                raise TableError(
                    f"{self.path}: {name!r} has {cell!r}, and whole numbers of at most three digits beside it: the "
                    "point seems to separate thousands; write numbers without it, or, if it is for decimals, all of "
                    "them with it"
                )

    def _counts_rows(self) -> bool:
        """Whether the first column holds whole numbers, all different in the first rows, as pandas writes them."""
        with self._explained(), self._open_text() as file:
            rows = csv.reader(islice(file, LOOK_AT), delimiter=self._header[1], skipinitialspace=True)
            first = [row[0].strip() for row in rows if row][1:]
        return all(map(str.isdecimal, first)) and len(set(first)) == len(first)

    def _decimal_comma(self, columns: Collection[str]) -> str | None:
        """A number with a decimal comma in the first rows of these columns."""
        return next((cell for _, cell in self._first_cells(columns) if DECIMAL_COMMA.fullmatch(cell)), None)

    def _with_decimal_commas(self, columns: Sequence[str]) -> list[str]:
        """Those of the columns that hold numbers in the first rows, where commas are for decimals."""
        if self._header[1] != ";":
            return []
        cells = list(self._first_cells(columns))
        words = {name for name, cell in cells if parsed(cell) is None and not DECIMAL_COMMA.fullmatch(cell)}
        return [name for name in columns if name not in words]

    def _first_cells(self, columns: Collection[str]) -> Iterator[tuple[str, str]]:
        """Names of columns and what is written there, of the first rows, but for what stands for no value."""
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
        """The names in the first line, and the separator: whichever makes the most of them."""
        found: list[tuple[list[str], str]] = []
        with self._explained():
            for separator in SEPARATORS:
                with self._open_text() as file:
                    reader = csv.reader(file, delimiter=separator, skipinitialspace=True)
                    found.append(([self._called(name.strip()) for name in next(reader, [])], separator))
        names, separator = max(found, key=lambda pair: len(pair[0]))  # of equals the first: the comma
        if names and names[0].startswith("sep="):
            raise TableError(f"{self.path} begins with {names[0]!r}, a line for Excel; a table begins with its names")
        self._refuse_title(list(filter(None, names)))
        if not any(names):
            raise TableError(f"{self.path} is empty; a table begins with a line of column names")
        twice = [name for name, times in Counter(filter(None, names)).items() if times > 1]
        if twice:
            raise TableError(f"{self.path}: several columns have the same name: {', '.join(map(repr, twice))}")
        alone = len(names) == 1 and names[0] not in self._wanted.values()
        if alone and (other := next((each for each in OTHER_SEPARATORS if each in names[0]), None)):
            raise TableError(
                f"{self.path}: its columns seem to be separated by {other!r} ({names[0]!r}); commas, semicolons and "
                "tabs are read"
            )
        return names, separator

    def _refuse_title(self, names: Sequence[str]) -> None:
        """An error where the first line has no name, or one not wanted, and a later one seems to have them."""
        if len(names) > 1 or any(name in self._wanted.values() for name in names):
            return
        with self._explained(), self._open_text() as file:
            place = line_of_names(list(islice(file, TITLES)), SEPARATORS, OTHER_SEPARATORS)
        if place is not None:
            told = f"line 1 ({names[0]!r}) looks like a title" if names else "line 1 is empty"
            above = "line" if place == 2 else "lines"
            raise TableError(
                f"{self.path}: {told}; the column names seem to be in line {place}: delete the {above} above it"
            )

    def _called(self, name: str) -> str:
        return self._wanted.get(composed(name), name)

    def _open_text(self) -> IO[str]:
        if self._gzipped:
            return gzip.open(self.path, "rt", encoding="utf-8-sig", newline="")
        return open(self.path, encoding="utf-8-sig", newline="")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of reading as `TableError`s that name the file."""
        import pandas as pd

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)
                yield
        except UnicodeDecodeError as error:
            wide = error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            raise TableError(
                f"{self.path} is not a CSV file in UTF-8; save it as one (in Excel: CSV UTF-8), or convert it: "
                f"iconv -f {'utf-16' if wide else 'cp1252'} -t utf-8"
            ) from None
        except (csv.Error, pd.errors.ParserError, pd.errors.ParserWarning) as error:
            if ragged := RAGGED.search(str(error)):
                told = f"line {ragged[2]} has {ragged[3]} cells, and the header {ragged[1]}"
                raise TableError(f"{self.path}: {told}; put cells with a separator in them in quotes") from None
            raise TableError(f"{self.path} is not a CSV file that can be read: {error}") from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise TableError(f"{self.path} is damaged: {error}") from None


def _is_unclear(cell: Any) -> bool:
    """Whether a point in a number may be for thousands."""
    return isinstance(cell, str) and "." in cell and THOUSANDS.fullmatch(cell.strip()) is not None


def _with_point(cell: Any) -> Any:
    match = DECIMAL_COMMA.fullmatch(cell.strip()) if isinstance(cell, str) else None
    return cell if match is None else f"{match[1]}.{match[2]}"
