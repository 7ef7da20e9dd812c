"""Suspicious data in a training table: duplicates, constants, row numbers, codes for missing values, target leaks."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from askless.encoding import read_table
from askless.encoding.cells import is_missing, plain, shown
from askless.exceptions import AsklessWarning, DataWarning
from askless.hints import listed
from askless.tables import ParquetTable, take_rows

__all__ = ["Remark", "find_remarks", "warn_of_data", "warn_of_target"]

FEW_ROWS = 30  # a fit on fewer rows warns
MANY_ROWS = 50  # with fewer rows, findings may be coincidence
ROWS = 20_000  # are checked at most
SPAN = 2  # distinct integers are row numbers if their range is at most this many times the number of rows
MIN_COPIES, COPIES = 3, 0.01  # duplicate rows: at least so many, and this share of the rows,
CHANCE = 10  # and so many times the number that chance produces
MIN_CODES = 3  # rows with the same code for a missing value
LEAK_VALUES, LEAK_ROWS = (
    50,
    5,
)  # a column leaks a class with at most so many values, with so many rows each on average
LEAK_ERROR = 0.01  # of the error of always predicting the most frequent class
LEAK_R2 = 0.9999  # of a regression
SEPARATION = 0.999  # AUROC of a column for one class against the rest
SEPARATION_ROWS, SEPARATION_CASES = 1000, 30  # at least: all rows, and those of the class and of the rest


@dataclass(frozen=True)
class Remark:
    """One finding about a table."""

    code: str  # a key of `askless.exceptions.CODES`
    message: str
    column: str | None = None  # None for findings about rows or the target
    other: str | None = None  # of a duplicate column: the first of its kind
    value: Any = None  # an example
    rows: int = 0  # how many rows are concerned


@dataclass(frozen=True)
class _Coded:
    """A column whose distinct values are numbered."""

    name: str
    codes: np.ndarray  # (n,) the place in `values`; -1 where missing
    values: np.ndarray  # (distinct,) in the order of their first rows

    @property
    def numbers(self) -> np.ndarray | None:
        """The values as numbers (distinct,); None if they are anything else."""
        kind = self.values.dtype.kind
        if kind == "O" and all(isinstance(value, int | float) for value in self.values.tolist()):
            kind = "f"
        return self.values.astype(np.float64) if kind in "iuf" else None


def warn_of_target(y: np.ndarray, task: str) -> None:
    """Warn about very few rows, and about a regression target without any variation."""
    if len(y) < FEW_ROWS:
        message = f"training has {len(y)} rows; a fit on fewer than {FEW_ROWS} rows is unreliable"
        warnings.warn(AsklessWarning("too_few_rows", message, rows=len(y), needed=FEW_ROWS), stacklevel=3)
    if task == "regression" and y.min() == y.max():
        message = f"all values of y are {y[0]:g}; there is nothing to learn"
        warnings.warn(AsklessWarning("constant_target", message, value=float(y[0]), rows=len(y)), stacklevel=3)


def warn_of_data(table: Any, y: np.ndarray, task: str, groups: Collection[Collection[Any]] = ()) -> None:
    """Warn about suspicious data in a table; one warning for each kind of finding."""
    if len(y) < MANY_ROWS:
        return
    found: dict[str, list[Remark]] = {}
    for remark in find_remarks(*_some_rows(table, y), task, groups):
        found.setdefault(remark.code, []).append(remark)
    for code, (first, *more) in found.items():
        also = f"; the same holds for {listed(remark.column for remark in more)}" if more else ""
        columns = [remark.column for remark in (first, *more) if remark.column is not None]
        fields = {"column": first.column, "columns": columns, "value": first.value, "rows": first.rows}
        warnings.warn(DataWarning(code, f"{first.message}{also}", **fields), stacklevel=3)


def find_remarks(table: Any, y: np.ndarray, task: str, groups: Collection[Collection[Any]] = ()) -> Iterator[Remark]:
    """Find suspicious data in a table.

    Parameters
    ----------
    table : any table that `fit` accepts, in memory.
    y : labels, or numbers of a regression (n,).
    task : "classification" or "regression".
    groups : columns that are asked together; copies within a group are no finding.
    """
    columns = read_table(table)
    coded = [_coded(name, columns.column(i).values) for i, name in enumerate(columns.names)]
    target = _coded("y", y)
    yield from _duplicate_rows([*coded, target])
    yield from _duplicate_columns(coded, groups)
    for column in coded:
        if len(column.values) == 1:
            value = plain(column.values[0])
            message = f"column {column.name!r} has the value {shown(value)} only; drop it, it tells nothing"
            yield Remark("constant_column", message, column.name, value=value, rows=len(y))
        elif _numbers_rows(column):
            message = f"column {column.name!r} numbers the rows; drop it, new cases have other numbers"
            yield Remark("row_numbers", message, column.name, rows=len(y))
        elif (found := _missing_code(column)) is not None:
            yield _code_remark(f"column {column.name!r}", column.name, *found)
    if task == "regression" and (found := _missing_code(target)) is not None:
        yield _code_remark("y", None, *found)
    for column in coded:
        if _leaks_class(column, target) if task == "classification" else _leaks_number(column, y):
            message = f"column {column.name!r} alone predicts the target; drop it if it is known only afterwards"
            yield Remark("target_leak", message, column.name, rows=len(y))
        elif task == "classification" and (label := _separated_class(column, target)) is not None:
            message = (
                f"column {column.name!r} alone separates the class {shown(plain(label))} from the rest; "
                "drop it if it is known only afterwards"
            )
            yield Remark("target_leak", message, column.name, value=plain(label), rows=len(y))


def _some_rows(table: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """The table and y, or a part of them if they have very many rows."""
    if isinstance(table, ParquetTable):
        rows = np.arange(min(len(y), ROWS))  # the first ones: others are far apart in the file
    elif len(y) > ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(y), ROWS, replace=False, shuffle=False))
    else:
        return table, y
    return take_rows(table, rows), y[rows]


def _coded(name: str, values: np.ndarray) -> _Coded:
    import pandas as pd

    codes, distinct = pd.factorize(values)
    if distinct.dtype.kind == "O":
        missing = np.array([is_missing(value) for value in distinct], dtype=bool)
        if missing.any():
            place = np.where(missing, -1, np.cumsum(~missing) - 1)
            codes, distinct = np.append(place, -1)[codes], distinct[~missing]
    return _Coded(name, codes, distinct)


def _duplicate_rows(columns: Sequence[_Coded]) -> Iterator[Remark]:
    """Rows that repeat earlier ones, unless they are few or no more than by chance. The last column is the target."""
    n = len(columns[0].codes)
    hashes = np.zeros(n, dtype=np.uint64)
    known = np.zeros(n, dtype=bool)
    alike = 0.0  # log probability that two rows are equal if the columns are independent
    for column in columns:
        hashes = (hashes ^ (column.codes + 2).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
        known |= (column.codes >= 0) & (column is not columns[-1])
        share = np.bincount(column.codes + 1) / n
        alike += float(np.log(np.sum(share**2)))
    hashes = hashes[known]  # rows without any value are no copies
    copies = len(hashes) - len(np.unique(hashes))
    if copies >= max(MIN_COPIES, COPIES * n) and np.log(copies) > alike + np.log(CHANCE * n**2 / 2):
        message = f"{copies:,} of {n:,} checked rows are copies of other rows; scores on held-out copies are too high"
        yield Remark("duplicate_rows", message, rows=copies)


def _duplicate_columns(columns: Sequence[_Coded], groups: Collection[Collection[Any]]) -> Iterator[Remark]:
    together = [set(map(str, group)) for group in groups]
    seen: dict[int, list[_Coded]] = {}
    for column in columns:
        # All columns of different values have the same codes, so the key needs the values, too.
        alike = seen.setdefault(hash((column.codes.tobytes(), *column.values.tolist())), [])
        first = next((other for other in alike if _equal(column, other)), None)
        if first is None:
            alike.append(column)
        elif len(column.values) > 1 and not any({column.name, first.name} <= group for group in together):
            message = f"column {column.name!r} is a copy of {first.name!r}; drop one of them"
            yield Remark("duplicate_column", message, column.name, first.name, rows=len(column.codes))


def _equal(one: _Coded, two: _Coded) -> bool:
    return np.array_equal(one.codes, two.codes) and np.array_equal(one.values, two.values)


def _numbers_rows(column: _Coded) -> bool:
    """Whether all values are different integers in a narrow range, as in a part of a numbered table."""
    n = len(column.codes)
    if len(column.values) < n or n < MANY_ROWS or (numbers := column.numbers) is None:
        return False
    return bool(np.ptp(numbers) < SPAN * n and (numbers % 1.0 == 0.0).all())


def _missing_code(column: _Coded) -> tuple[float, int] | None:
    """A number such as -999 or 9999 that is far from all others, and how many rows have it."""
    numbers = column.numbers
    if numbers is None or len(numbers) < 2:
        return None
    order = np.argsort(numbers)
    for place, others in ((order[0], order[1:]), (order[-1], order[:-1])):
        code, rest = numbers[place], numbers[others]
        far = np.abs(rest - code).min() > np.ptp(rest)
        if far and set(f"{abs(code):g}") == {"9"}:
            rows = int(np.count_nonzero(column.codes == place))
            if rows >= MIN_CODES:
                return float(code), rows
    return None


def _code_remark(where: str, column: str | None, code: float, rows: int) -> Remark:
    message = f"{where} is {code:g} in {rows} rows, far from its other values; use NaN if it means missing"
    return Remark("missing_code", message, column, value=code, rows=rows)


def _leaks_class(column: _Coded, target: _Coded) -> bool:
    """Whether the values of a column tell the class."""
    n, classes, distinct = len(target.codes), len(target.values), len(column.values) + 1
    if n < MANY_ROWS or distinct > LEAK_VALUES or n < LEAK_ROWS * distinct or distinct * classes > n:
        return False
    table = np.bincount((column.codes + 1) * classes + target.codes, minlength=distinct * classes)
    table = table.reshape(distinct, classes)
    wrong, usually_wrong = n - int(table.max(axis=1).sum()), n - int(table.sum(axis=0).max())
    return usually_wrong > 0 and wrong <= LEAK_ERROR * usually_wrong


def _separated_class(column: _Coded, target: _Coded) -> Any:
    """A class that the numbers of a column rank before or after all others, but for very few rows; None if none."""
    numbers = column.numbers
    known = column.codes >= 0
    if numbers is None or len(numbers) < 2 or np.count_nonzero(known) < SEPARATION_ROWS:
        return None
    ranks = rankdata(numbers)[column.codes[known]]  # of the distinct values, so that ties share a rank
    ranks, classes = rankdata(ranks), target.codes[known]
    for place, label in enumerate(target.values):
        own = classes == place
        count, others = np.count_nonzero(own), np.count_nonzero(~own)
        if min(count, others) >= SEPARATION_CASES:
            auroc = (ranks[own].sum() - count * (count + 1) / 2) / (count * others)
            if max(auroc, 1.0 - auroc) >= SEPARATION:
                return label
    return None


def _leaks_number(column: _Coded, y: np.ndarray) -> bool:
    """Whether y is a linear function of the column."""
    if (numbers := column.numbers) is None:
        return False
    known = column.codes >= 0
    x, y = numbers[column.codes[known]], y[known]
    if len(y) < MANY_ROWS or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return False
    with np.errstate(all="ignore"):
        return bool(np.corrcoef(x, y)[0, 1] ** 2 > LEAK_R2)
