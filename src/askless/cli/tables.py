"""The user's tables. The ending of the name tells CSV from Parquet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askless.cli.chunks import Chunk
from askless.cli.console import quoted
from askless.cli.csv_table import CsvTable
from askless.cli.parquet_table import ParquetFile
from askless.cli.parser import UsageError
from askless.exceptions import TableError

if TYPE_CHECKING:
    import pandas as pd

    from askless.model import FittedModel

__all__ = [
    "Chunk",
    "CsvTable",
    "ParquetFile",
    "as_category",
    "check_columns",
    "errors_of",
    "filled_up",
    "for_model",
    "is_parquet",
    "open_table",
    "open_table_for",
]

CSV, PARQUET = (".csv", ".tsv", ".txt", ".data"), (".parquet", ".pq")


def open_table(path: str, missing: Collection[str] = (), names: Collection[str] = ()) -> CsvTable | ParquetFile:
    """The table in a file, not yet read.

    `missing` are words for a missing value in a CSV file; `names` are the expected columns.
    """
    if not is_parquet(path):
        return CsvTable(path, missing, names)
    if missing:
        message = f"--na: {path} is a Parquet file, which marks missing values itself"
        raise UsageError("not_supported", message, option="--na", path=path)
    return ParquetFile(path)


def open_table_for(model: FittedModel, path: str, missing: Collection[str]) -> CsvTable | ParquetFile:
    """A table for a model. The words for a missing value of its fit apply, too."""
    kept = () if is_parquet(path) else model.missing_words
    names = [part.name for feature in model.schema.features for part in feature.parts]
    return open_table(path, [*kept, *missing], names)


def is_parquet(path: str) -> bool:
    """Whether the ending of a file's name is that of Parquet (True) or of CSV (False); raises for others."""
    suffix = Path(path.removesuffix(".gz")).suffix.lower()
    if suffix in CSV or (suffix in PARQUET and not path.endswith(".gz")):
        return suffix in PARQUET
    message = f"{path}: a table is a CSV ({', '.join(CSV)}, also with .gz) or Parquet ({PARQUET[0]}) file"
    raise TableError("wrong_file", message, path=path)


@contextmanager
def errors_of(path: str, *advice: str) -> Iterator[None]:
    """Add the name of the file to errors in its content, and to errors of cells the options that help."""
    from askless.encoding import CellError

    try:
        yield
    except TableError as error:
        message = f"{path}: {error.message}"
        if isinstance(error, CellError):
            hints = [*([] if is_parquet(path) else [_as_missing(error.words)]), *advice]
            message += f" ({', '.join(hints)})" if hints else ""
        raise TableError(error.code, message, **{**error.fields, "path": path}) from None


def _as_missing(words: Collection[str]) -> str:
    """The option that reads these words as missing, as it is typed. Words with digits may be misread numbers."""
    words = [word for word in words if not any(map(str.isdigit, word))]
    if not words:
        return "--na WORD reads a word as missing"
    plain = [quoted(word) for word in words if not word.startswith("-")]
    given = [f"--na {' '.join(plain)}"] if plain else []
    given += [f"--na={quoted(word)}" for word in words if word.startswith("-")]  # or else it would be an option
    return f"{' '.join(given)} reads {'this' if len(words) == 1 else 'these'} as missing"


def check_columns(wanted: Iterable[str], names: Collection[str], option: str, path: str) -> None:
    """Raise an error for the first wanted column that does not exist."""
    from askless.hints import did_you_mean, listed, nearest

    for name in wanted:
        if name not in names:
            raise TableError(
                "missing_column",
                f"{option}: {path} has no column {name!r}{did_you_mean(name, names)}; its columns: {listed(names)}",
                option=option,
                path=path,
                column=name,
                nearest=nearest(name, names),
            )


def for_model(model: FittedModel, table: CsvTable | ParquetFile) -> tuple[set[str], set[str]]:
    """The columns of the table that a model needs, and those to read as text."""
    parts = [part for feature in model.schema.features for part in feature.parts]
    needed = {part.name for part in parts}
    if not needed <= set(table.names):  # the encoder finds them by position, or refuses the table
        needed = set(table.names)
    return needed, {part.name for part in parts if part.kind == "category"}


def filled_up(frame: pd.DataFrame, model: FittedModel, unavailable: Collection[str]) -> pd.DataFrame:
    """The frame with an empty column for each unavailable feature that it lacks, if columns are found by name."""
    from askless.hints import did_you_mean, nearest

    if not any(name in frame for name in model.schema.all_names):
        return frame
    columns = list(map(str, frame.columns))
    parts = [part for name in unavailable for part in model.schema.columns_of(name)]
    filled = frame.assign(**{part: None for part in parts if part not in frame})
    absent = {name: [p for p in model.schema.columns_of(name) if p not in filled] for name in model.schema.names}
    lacking = [part for parts in absent.values() for part in parts]
    if lacking:
        described = ", ".join(f"{part!r}{did_you_mean(part, columns)}" for part in lacking)
        features = " ".join(quoted(name) for name, parts in absent.items() if parts)
        raise TableError(
            "missing_column",
            f"the table lacks {described}; if these are never available, add --unavailable {features}",
            column=lacking[0],
            columns=lacking,
            nearest=nearest(lacking[0], columns),
        )
    return filled


def as_category(series: pd.Series) -> pd.Series:
    """A column as categories: integers if all cells are, so that 10 comes after 2, else text."""
    import pandas as pd

    text = [None if pd.isna(cell) else str(cell).strip() for cell in series]
    whole = all(cell is None or (cell.lstrip("-").isdecimal() and str(int(cell)) == cell) for cell in text)
    cells: list[Any] = [None if cell is None else int(cell) for cell in text] if whole else list(text)
    return pd.Series(pd.Categorical(cells), index=series.index, name=series.name)
