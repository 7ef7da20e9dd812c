"""The user's tables, by the ending of their names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askless.cli.chunks import Chunk
from askless.cli.console import quoted
from askless.cli.csv_table import CsvTable
from askless.cli.parquet_table import ParquetFile
from askless.exceptions import TableError

if TYPE_CHECKING:
    import pandas as pd

    from askless.fitted import FittedModel

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

    `missing` are words in a CSV file that stand for no value; `names` are those that are wanted of its columns.
    """
    if not is_parquet(path):
        return CsvTable(path, missing, names)
    if missing:
        raise TableError(f"--na: {path} is a Parquet file, which has a mark of its own for missing values")
    return ParquetFile(path)


def open_table_for(model: FittedModel, path: str, missing: Collection[str]) -> CsvTable | ParquetFile:
    """A table for a model: words that stood for no value when it was fitted still do."""
    kept = () if is_parquet(path) else model.missing_words
    names = [part.name for feature in model.schema.features for part in feature.parts]
    return open_table(path, [*kept, *missing], names)


def is_parquet(path: str) -> bool:
    """Whether a file's name says Parquet; False if it says CSV, and an error if neither."""
    suffix = Path(path.removesuffix(".gz")).suffix.lower()
    if suffix in CSV or (suffix in PARQUET and not path.endswith(".gz")):
        return suffix in PARQUET
    raise TableError(f"{path}: a table is a CSV ({', '.join(CSV)}, also with .gz) or Parquet ({PARQUET[0]}) file")


@contextmanager
def errors_of(path: str, *advice: str) -> Iterator[None]:
    """Errors of what a table holds name its file; of a cell that is not read they tell what options can do."""
    from askless.encoding import CellError

    try:
        yield
    except CellError as error:
        told = ", ".join([*([] if is_parquet(path) else [_as_missing(error.words)]), *advice])
        raise TableError(f"{path}: {error}" + (f" ({told})" if told else "")) from None
    except TableError as error:
        raise TableError(f"{path}: {error}") from None


def _as_missing(words: Collection[str]) -> str:
    """The option that reads these words as missing, as it can be typed; with digits they may be wrong numbers."""
    words = [word for word in words if not any(map(str.isdigit, word))]
    if not words:
        return "--na WORD reads a word as missing"
    plain = [quoted(word) for word in words if not word.startswith("-")]
    given = [f"--na {' '.join(plain)}"] if plain else []
    given += [
        f"--na={quoted(word)}" for word in words if word.startswith("-")
    ]  # or else it is no word, but an option
    return f"{' '.join(given)} reads {'this' if len(words) == 1 else 'these'} as missing"


def check_columns(wanted: Iterable[str], names: Collection[str], option: str, path: str) -> None:
    """An error that names the first wanted column that is not there."""
    from askless.hints import did_you_mean, listed

    for name in wanted:
        if name not in names:
            raise TableError(
                f"{option}: {path} has no column {name!r}{did_you_mean(name, names)}; the columns are {listed(names)}"
            )


def for_model(model: FittedModel, table: CsvTable | ParquetFile) -> tuple[set[str], set[str]]:
    """Which columns of the table a model wants to see, and which of these as text."""
    parts = [part for feature in model.schema.features for part in feature.parts]
    needed = {part.name for part in parts}
    if not needed <= set(table.names):  # found by position, or refused by the encoder in its own words
        needed = set(table.names)
    return needed, {part.name for part in parts if part.kind == "category"}


def filled_up(frame: pd.DataFrame, model: FittedModel, unavailable: Collection[str]) -> pd.DataFrame:
    """The frame with empty columns for features that cannot be had and that it lacks, if columns go by name."""
    from askless.hints import did_you_mean

    if not any(name in frame for name in model.schema.all_names):
        return frame
    parts = [part for name in unavailable for part in model.schema.columns_of(name)]
    filled = frame.assign(**{part: None for part in parts if part not in frame})
    lacking = {name: [p for p in model.schema.columns_of(name) if p not in filled] for name in model.schema.names}
    if any(lacking.values()):
        told = [
            f"{part!r}{did_you_mean(part, list(frame.columns))}" for absent in lacking.values() for part in absent
        ]
        names = " ".join(quoted(name) for name, absent in lacking.items() if absent)
        raise TableError(f"the table lacks {', '.join(told)}; --unavailable {names} for what cannot be had")
    return filled


def as_category(series: pd.Series) -> pd.Series:
    """A column as categories: whole numbers if all of it are, so that 10 comes after 2, else text."""
    import pandas as pd

    text = [None if pd.isna(cell) else str(cell).strip() for cell in series]
    whole = all(cell is None or (cell.lstrip("-").isdecimal() and str(int(cell)) == cell) for cell in text)
    cells: list[Any] = [None if cell is None else int(cell) for cell in text] if whole else list(text)
    return pd.Series(pd.Categorical(cells), index=series.index, name=series.name)
