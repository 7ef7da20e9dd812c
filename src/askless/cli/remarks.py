"""What a person may want to know of a table before a model is fitted to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from askless.cli.console import count, quoted

if TYPE_CHECKING:
    import pandas as pd

    from askless.cli.tables import CsvTable

__all__ = ["copied_columns", "rare_classes", "remarks", "remarks_on_lines", "short_lines"]

MANY = 50  # rows, from which on consecutive numbers are no coincidence
FEW = 0.01  # of the rows: so many copies may be
RARE = 10  # times as many copies as chance makes are no coincidence
TOO_FEW = 5  # rows of a class
FEWEST = 3  # rows with the same odd number, from which on it looks like a code


def remarks_on_lines(source: CsvTable, X: pd.DataFrame) -> Iterator[str]:
    """Sentences on what the lines of a CSV file tell and the table does not."""
    if source.nameless:
        places = ", ".join(map(str, source.nameless))
        yield f"column {places} of {source.path} has no name and is left out; give it one if it is to be asked for"
    if (told := short_lines(source, X)) is not None:
        yield f"{told}: what lacks counts as missing"
    numbers = [str(name) for name in X if X[name].dtype.kind in "iuf"]
    for name, cell in source.padded(numbers).items():
        yield f"{name} is written like {cell} and taken for a number: --category {quoted(name)} if these are codes"


def short_lines(source: CsvTable, frame: pd.DataFrame) -> str | None:
    """That lines end too early: in the frame what they lack is missing like anything else."""
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
) -> Iterator[str]:
    """Sentences on rows that are copies, or have a target only; on columns that are copies, or have one value only,
    number the rows, or hold a code for no value, as the target may.

    Copies that are asked together, in a group, are one question. `places` (n,) are those of the rows in their file.
    """
    yield from _bare_targets(frame, y, np.arange(len(y)) if places is None else places)
    if (copies := _copied_rows(frame, y)) > 0:
        yield (
            f"{count(copies, 'row')} of {len(frame):,} repeat others: if cases were entered twice, leave the copies "
            "out, for a score on rows that training has seen flatters"
        )
    for name, first in copied_columns(frame):
        if not any({name, first} <= set(members) for members in together):
            yield f"{name} is a copy of {first}: --drop {quoted(name)} if only one of them is to be asked"
    for name in map(str, frame.columns):
        values = frame[name].dropna()
        different = values.nunique()
        if different == 1:
            yield f"{name} has no other value than {values.iloc[0]}: --drop {quoted(name)}, asking it tells nothing"
        elif _numbers_rows(frame[name]):
            yield f"{name} numbers the rows: --drop {quoted(name)}, no new case has such a number"
        elif different > 1 and (code := _code(values)) is not None:
            rows = count(int((values == code).sum()), "row")
            yield f"{name} is {code:g} in {rows}, far from its other values: --na {code:g} if that is none"
    if y.nunique() > 1 and (code := _code(y)) is not None:
        rows = count(int((y == code).sum()), "row")
        yield (
            f"{y.name}, the target, is {code:g} in {rows}, far from its other values: --na {code:g} "
            "--drop-missing-target if that is none"
        )


def rare_classes(y: pd.Series) -> Iterator[str]:
    """A sentence on classes of so few rows that nothing is learned of them, and scores over classes mean little."""
    from askless.hints import listed

    counts = y.value_counts()
    rare = counts[counts < TOO_FEW]
    if 0 < len(rare) < len(counts):
        yield (
            f"{y.name} has classes of fewer than {TOO_FEW} rows: {listed(rare.index)}. Next to nothing can be "
            "learned of them, and in a score that is a mean over classes, as AUROC is, they count as much as others"
        )


def copied_columns(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Columns that hold in every row what an earlier one holds, each with that one; those of a single value aside."""
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


def _bare_targets(frame: pd.DataFrame, y: pd.Series, places: np.ndarray) -> Iterator[str]:
    """A sentence on rows without any value but a target: the totals at the end of a sheet are no case."""
    bare = frame.isna().all(axis=1).to_numpy(copy=True)
    bare[-1] |= _is_label(frame)
    if not bare.any():
        return
    rows = np.flatnonzero(bare)
    first = f"row {places[rows[0]]}"
    told = (
        f"{first} (counting from 0) has"
        if len(rows) == 1
        else f"{len(rows):,} rows (the first is {first}, counting from 0) have"
    )
    yield (
        f"{told} a target and nothing to ask for: leave out what is no case, such as a line of totals"
        f"{_far_target(y, rows, places)}"
    )


def _is_label(frame: pd.DataFrame) -> bool:
    """Whether the last row has nothing but one word that no other row has, such as "Total"."""
    words = frame.iloc[-1].dropna()
    if len(words) != 1 or frame.shape[1] < FEWEST or not isinstance(words.iloc[0], str):
        return False
    return int((frame[words.index[0]] == words.iloc[0]).sum()) == 1


def _far_target(y: pd.Series, rows: np.ndarray, places: np.ndarray) -> str:
    """That the target of one of the rows is farther from those of all others than these are from each other."""
    if y.dtype.kind not in "iuf" or len(y) - len(rows) < FEWEST:
        return ""
    numbers = y.to_numpy(dtype=np.float64)
    values, others = numbers[rows], np.delete(numbers, rows)
    low, high = others.min(), others.max()
    off = np.maximum(low - values, values - high)
    if off.max() <= high - low:
        return ""
    worst = int(off.argmax())
    return f"; {y.name} is {values[worst]:g} in row {places[rows[worst]]}, and {low:g} to {high:g} in all others"


def _copied_rows(frame: pd.DataFrame, y: pd.Series) -> int:
    """How many rows repeat an earlier one, target included; 0 where they are few, or no more than chance explains."""
    import pandas as pd

    whole = pd.concat([frame, y.rename("\0y")], axis=1)
    copies = int(whole.duplicated().sum())
    if copies < max(FEWEST, FEW * len(frame)):
        return 0
    shares = (whole[name].value_counts(normalize=True, dropna=False).to_numpy() for name in whole)
    alike = sum(np.log(np.sum(share**2)) for share in shares)  # of two rows, if columns were independent
    return copies if np.log(copies) > alike + np.log(RARE * len(frame) ** 2 / 2) else 0


def _numbers_rows(column: pd.Series) -> bool:
    """Whether a column holds consecutive whole numbers, each once."""
    if column.dtype.kind not in "iu" or len(column) < MANY:
        return False
    return int(column.max()) - int(column.min()) + 1 == len(column) == column.nunique()


def _code(values: pd.Series) -> float | None:
    """A number such as -999 or 9999 that some rows have, as far from the others as none of these is from another."""
    if values.dtype.kind not in "iuf":
        return None
    distinct = np.unique(values.to_numpy(dtype=np.float64))
    for code, others in ((distinct[0], distinct[1:]), (distinct[-1], distinct[:-1])):
        nines = set(f"{abs(code):g}") == {"9"}
        far = np.abs(others - code).min() > others.max() - others.min()
        if nines and far and int((values == code).sum()) >= FEWEST:
            return float(code)
    return None
