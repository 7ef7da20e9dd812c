"""Notes on suspicious data in the table of a fit."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from askless.cli.console import count, quoted

if TYPE_CHECKING:
    import pandas as pd

    from askless.cli.tables import CsvTable

Note: TypeAlias = tuple[str, str]
"""The code and the message of a note."""

__all__ = ["copied_columns", "rare_classes", "remarks", "remarks_on_lines", "short_lines"]

MANY = 50  # rows; consecutive numbers in fewer rows may be chance
FEW = 0.01  # a smaller share of duplicate rows is not reported
RARE = 10  # duplicate rows are reported if there are this many times more than chance explains
TOO_FEW = 5  # rows of a class
FEWEST = 3  # rows; a number in fewer rows is not taken for a code


def remarks_on_lines(source: CsvTable, X: pd.DataFrame) -> Iterator[Note]:
    """Notes on the lines of a CSV file."""
    if source.nameless:
        places = ", ".join(map(str, source.nameless))
        yield (
            "unnamed_column",
            f"column {places} of {source.path} has no name and is left out; to use it, give it a name",
        )
    if (message := short_lines(source, X)) is not None:
        yield "short_lines", f"{message}; the missing cells count as missing values"
    numbers = [str(name) for name in X if X[name].dtype.kind in "iuf"]
    for name, cell in source.padded(numbers).items():
        yield (
            "leading_zeros",
            f"{name} has leading zeros, as in {cell}, but is read as a number; if these are codes, add "
            f"--category {quoted(name)}",
        )


def short_lines(source: CsvTable, frame: pd.DataFrame) -> str | None:
    """A message if lines end before the last column, whose cells are missing values in the frame."""
    last = source.names[-1]
    if last not in frame or not frame[last].isna().any():
        return None
    short = source.short_lines()
    if not short:
        return None
    lines = "line ends" if len(short) == 1 else "lines end"
    return f"{len(short):,} {lines} before the last column (the first is line {short[0]:,})"


def remarks(
    frame: pd.DataFrame,
    y: pd.Series,
    together: Collection[Collection[str]] = (),
    places: np.ndarray | None = None,
) -> Iterator[Note]:
    """Notes on duplicate rows and columns, constants, row numbers, codes for missing values, and rows without values.

    Duplicate columns in one group of `together` are asked as one question and not reported. `places` (n,) are the row
    numbers in the file.
    """
    yield from _bare_targets(frame, y, np.arange(len(y)) if places is None else places)
    if (copies := _copied_rows(frame, y)) > 0:
        yield (
            "duplicate_rows",
            f"{count(copies, 'row')} of {len(frame):,} are copies of other rows; if cases were entered twice, remove "
            "the copies, because scores on rows that were also trained on are too high",
        )
    for name, first in copied_columns(frame):
        if not any({name, first} <= set(members) for members in together):
            yield (
                "duplicate_column",
                f"{name} is a copy of {first}; to ask only one of them, add --drop {quoted(name)}",
            )
    for name in map(str, frame.columns):
        values = frame[name].dropna()
        different = values.nunique()
        if different == 1:
            yield (
                "constant_column",
                f"{name} has the value {values.iloc[0]} only, so asking it is useless; add --drop {quoted(name)}",
            )
        elif _numbers_rows(frame[name]):
            yield "row_numbers", f"{name} numbers the rows, which cannot help on new cases; add --drop {quoted(name)}"
        elif different > 1 and (code := _code(values)) is not None:
            rows = count(int((values == code).sum()), "row")
            yield (
                "missing_code",
                f"{name} is {code:g} in {rows}, far from its other values; if this means missing, add --na {code:g}",
            )
    if y.nunique() > 1 and (code := _code(y)) is not None:
        rows = count(int((y == code).sum()), "row")
        yield (
            "missing_code",
            f"the target {y.name} is {code:g} in {rows}, far from its other values; if this means missing, add "
            f"--na {code:g} --drop-missing-target",
        )


def rare_classes(y: pd.Series) -> Iterator[Note]:
    """A note on classes with so few rows that the model cannot learn them."""
    from askless.hints import listed

    counts = y.value_counts()
    rare = counts[counts < TOO_FEW]
    if 0 < len(rare) < len(counts):
        yield (
            "rare_class",
            f"{y.name} has classes with fewer than {TOO_FEW} rows: {listed(rare.index)}; a model can hardly learn "
            "them, and in AUROC they count as much as the others",
        )


def copied_columns(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Columns that are equal to an earlier column, each with that column; constant columns are left out."""
    from pandas.util import hash_pandas_object

    seen: dict[int, list[str]] = {}
    found = []
    for name in map(str, frame.columns):
        column = frame[name]
        alike = seen.setdefault(hash(hash_pandas_object(column, index=False).to_numpy().tobytes()), [])
        first = next((other for other in alike if frame[other].equals(column)), None)
        if first is None:
            alike.append(name)
        elif column.nunique() > 1:
            found.append((name, first))
    return found


def _bare_targets(frame: pd.DataFrame, y: pd.Series, places: np.ndarray) -> Iterator[Note]:
    """A note on rows that have a target but no other value, such as a line of totals at the end of a sheet."""
    bare = frame.isna().all(axis=1).to_numpy(copy=True)
    bare[-1] |= _is_label(frame)
    if not bare.any():
        return
    rows = np.flatnonzero(bare)
    first = f"row {places[rows[0]]} (0-based)"
    which = f"{first} has" if len(rows) == 1 else f"{len(rows):,} rows, the first is {first}, have"
    yield (
        "target_only_rows",
        f"{which} a target but no other value; remove rows that are no cases, such as a line of totals"
        f"{_far_target(y, rows, places)}",
    )


def _is_label(frame: pd.DataFrame) -> bool:
    """Whether the last row has a single word, such as "Total", that no other row has."""
    words = frame.iloc[-1].dropna()
    if len(words) != 1 or frame.shape[1] < FEWEST or not isinstance(words.iloc[0], str):
        return False
    return int((frame[words.index[0]] == words.iloc[0]).sum()) == 1


def _far_target(y: pd.Series, rows: np.ndarray, places: np.ndarray) -> str:
    """A message if the target of one of the rows is far outside of the range of all other rows."""
    if y.dtype.kind not in "iuf" or len(y) - len(rows) < FEWEST:
        return ""
    numbers = y.to_numpy(dtype=np.float64)
    values, others = numbers[rows], np.delete(numbers, rows)
    low, high = others.min(), others.max()
    off = np.maximum(low - values, values - high)
    if off.max() <= high - low:
        return ""
    worst = int(off.argmax())
    return f"; {y.name} is {values[worst]:g} in row {places[rows[worst]]}, but {low:g} to {high:g} in all others"


def _copied_rows(frame: pd.DataFrame, y: pd.Series) -> int:
    """The number of rows that repeat an earlier row and its target; 0 if chance explains them."""
    import pandas as pd

    whole = pd.concat([frame, y.rename("\0y")], axis=1)
    copies = int(whole.duplicated().sum())
    if copies < max(FEWEST, FEW * len(frame)):
        return 0
    shares = (whole[name].value_counts(normalize=True, dropna=False).to_numpy() for name in whole)
    alike = sum(
        np.log(np.sum(share**2)) for share in shares
    )  # log probability that two rows are equal if columns are independent
    return copies if np.log(copies) > alike + np.log(RARE * len(frame) ** 2 / 2) else 0


def _numbers_rows(column: pd.Series) -> bool:
    """Whether a column holds consecutive integers, each once."""
    if column.dtype.kind not in "iu" or len(column) < MANY:
        return False
    return int(column.max()) - int(column.min()) + 1 == len(column) == column.nunique()


def _code(values: pd.Series) -> float | None:
    """A number such as -999 or 9999 that is far away from all other numbers; None if there is none."""
    if values.dtype.kind not in "iuf":
        return None
    distinct = np.unique(values.to_numpy(dtype=np.float64))
    for code, others in ((distinct[0], distinct[1:]), (distinct[-1], distinct[:-1])):
        nines = set(f"{abs(code):g}") == {"9"}
        far = np.abs(others - code).min() > others.max() - others.min()
        if nines and far and int((values == code).sum()) >= FEWEST:
            return float(code)
    return None
