"""Suspicious data in a training table: duplicates, constants, row numbers, codes for missing values, target leaks,
and gaps that predict the label."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from askless.acquisition import Cases
from askless.encoding import Encoder, read_table
from askless.encoding.cells import is_missing, plain, shown
from askless.exceptions import AsklessWarning, DataWarning, MissingnessWarning
from askless.hints import listed
from askless.tables import ParquetTable, sample_rows, take_rows

FEW_ROWS = 30  # a fit on fewer rows warns
MANY_ROWS = 50  # with fewer rows, findings may be coincidence
ROWS = 20_000  # are checked at most
SPAN = 2  # distinct integers are row numbers if their range is at most this many times the number of rows
MIN_COPIES, COPIES = 3, 0.01  # duplicate rows: at least so many, and this share of the rows,
CHANCE = 10  # and so many times the number that chance produces
MIN_CODES = 3  # rows with the same code for a missing value
LEAK_VALUES, LEAK_ROWS = 50, 5  # a column leaks a class with at most so many values, of so many rows each on average
LEAK_ERROR = 0.01  # of the error of always predicting the most frequent class
LEAK_R2 = 0.9999  # of a regression
SEPARATION = 0.999  # AUROC of a column for one class against the rest
SEPARATION_ROWS, SEPARATION_CASES = 1000, 30  # at least: all rows, and those of the class and of the rest
GAP_ROWS = 50_000  # at most, of those that a model of the gaps learns from and of those that it is scored on
RARE = 0.01  # a feature that is missing, or present, in a smaller share of the rows is left out
FEWEST = 20  # validation rows of a class, and of the others
AUROC, R2 = 0.6, 0.05  # from here on it matters,
SURE = 4.0  # if chance is so many standard errors away
RIDGE = 1.0  # rows
GAPS_NAMED, GAPS_SHARE = 3, 0.5  # features are named, if they are at least so telling as the most telling one


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
    numbers: np.ndarray | None  # (distinct,) the values as numbers; None if they are anything else


def warn_of_data(table: Any, y: np.ndarray, task: str, groups: Collection[Collection[Any]] = ()) -> None:
    """Warn about very few rows, a regression target without any variation, and suspicious data in a table.

    There is one warning for each kind of finding. Images (`table` is None) are not looked into.
    """
    if len(y) < FEW_ROWS:
        message = f"training has {len(y)} rows; a fit on fewer than {FEW_ROWS} rows is unreliable"
        warnings.warn(AsklessWarning("too_few_rows", message, rows=len(y), needed=FEW_ROWS), stacklevel=3)
    if task == "regression" and y.min() == y.max():
        message = f"all values of y are {y[0]:g}; there is nothing to learn"
        warnings.warn(AsklessWarning("constant_target", message, value=float(y[0]), rows=len(y)), stacklevel=3)
    if table is None or len(y) < MANY_ROWS:
        return
    if len(y) > ROWS or isinstance(table, ParquetTable):
        # of a Parquet file the first rows: others are far apart
        rows = np.arange(min(len(y), ROWS)) if isinstance(table, ParquetTable) else sample_rows(len(y), ROWS, 0)
        table, y = take_rows(table, rows), y[rows]
    found: dict[str, list[Remark]] = {}
    for remark in find_remarks(table, y, task, groups):
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


def _coded(name: str, values: np.ndarray) -> _Coded:
    codes, distinct = pd.factorize(values)
    if distinct.dtype.kind == "O":
        missing = np.array([is_missing(value) for value in distinct], dtype=bool)
        if missing.any():
            place = np.where(missing, -1, np.cumsum(~missing) - 1)
            codes, distinct = np.append(place, -1)[codes], distinct[~missing]
    kind = distinct.dtype.kind
    if kind == "O" and all(isinstance(value, int | float) for value in distinct.tolist()):
        kind = "f"
    return _Coded(name, codes, distinct, distinct.astype(np.float64) if kind in "iuf" else None)


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
        same = (
            np.array_equal(column.codes, each.codes) and np.array_equal(column.values, each.values) for each in alike
        )
        first = next((other for other, equal in zip(alike, same, strict=True) if equal), None)
        if first is None:
            alike.append(column)
        elif len(column.values) > 1 and not any({column.name, first.name} <= group for group in together):
            message = f"column {column.name!r} is a copy of {first.name!r}; drop one of them"
            yield Remark("duplicate_column", message, column.name, first.name, rows=len(column.codes))


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


def warn_of_telling_gaps(
    encoder: Encoder, train: Cases, y: np.ndarray, valid: Cases, y_valid: np.ndarray, classes: Sequence[Any]
) -> None:
    """Warn if missing values, in a model of the training rows, predict the labels (codes, or numbers) of others."""
    rows, held = sample_rows(len(y), GAP_ROWS, 0), sample_rows(len(y_valid), GAP_ROWS, 0)
    (names, present), y = _presence(encoder, train, rows), y[rows]
    score = missingness_score(present, y, _presence(encoder, valid, held)[1], y_valid[held], len(classes))
    if score is None:
        return
    gaps, telling = ~present, _contrasts(~present, y, len(classes))
    strength = np.abs(telling).max(axis=0)
    worst = [
        i for i in np.argsort(-strength, kind="stable")[:GAPS_NAMED] if strength[i] >= GAPS_SHARE * strength.max()
    ]
    told = "; ".join(_said(names[i], gaps[:, i], y, telling[:, i], classes) for i in worst)
    name = "AUROC" if classes else "R²"
    message = (
        f"which values are missing predicts the label ({name} {score:.2f} on held-out rows); the model may learn "
        f"who was tested instead of what was found: {told}. If values will be missing for other reasons in use, "
        "drop or fill these columns"
    )
    fields = {"column": names[worst[0]], "columns": [names[i] for i in worst], "value": score}
    warnings.warn(MissingnessWarning("informative_missingness", message, **fields), stacklevel=3)


def missingness_score(
    present: np.ndarray, y: np.ndarray, present_valid: np.ndarray, y_valid: np.ndarray, n_classes: int
) -> float | None:
    """AUROC of the class that the gaps (n, features) tell best, or R² of a regression; None where it is near chance.

    A linear model of the gaps is fitted on the training rows and scored on the others.
    """
    share = present.mean(axis=0)
    some = (share >= RARE) & (share <= 1.0 - RARE)
    if not some.any():
        return None
    # ridge regression
    gaps, targets, truth = ~present[:, some], _targets(y, n_classes), _targets(y_valid, n_classes)  # (n, outputs)
    centre, mean = gaps.mean(axis=0), targets.mean(axis=0)
    x = gaps - centre
    weight = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ (targets - mean))
    predicted = (~present_valid[:, some] - centre) @ weight + mean
    if not n_classes:
        total = float(((truth - truth.mean()) ** 2).sum())
        r2 = 1.0 - float(((truth - predicted) ** 2).sum()) / total if total > 0 else 0.0
        return r2 if r2 > R2 and r2 * len(truth) > SURE**2 else None
    found = [_auroc(truth[:, j] > 0.5, predicted[:, j]) for j in range(n_classes)]
    telling = [area for area, error in found if area >= AUROC and area - 0.5 > SURE * error]
    return max(telling, default=None)


def _presence(encoder: Encoder, cases: Cases, rows: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The table's columns by name, and where these rows have values (n, columns): parts of groups one by one."""
    flags = encoder.part_flags
    alone = np.flatnonzero([not feature.is_group for feature in encoder.schema.features])
    names = [*(encoder.schema.names[i] for i in alone), *flags]
    parts = cases.x[np.ix_(rows, np.array([*flags.values()], dtype=np.intp))] > 0.0
    return names, np.hstack([cases.present[np.ix_(rows, alone)], parts])


def _targets(y: np.ndarray, n_classes: int) -> np.ndarray:
    """(n, classes) ones and zeros, or (n, 1) numbers."""
    return np.eye(n_classes)[y] if n_classes else y.astype(np.float64)[:, None]


def _auroc(positive: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """The area under the ROC curve, and its standard error if there were nothing to it."""
    count, rest = int(positive.sum()), int((~positive).sum())
    if min(count, rest) < FEWEST:
        return 0.5, np.inf
    area = (rankdata(scores)[positive].sum() - count * (count + 1) / 2) / (count * rest)
    return float(area), float(np.sqrt((count + rest + 1) / (12.0 * count * rest)))


def _contrasts(gaps: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """(classes, features) by how much more often each is missing in a class than elsewhere.

    Of numbers, (1, features), it is the difference of the standardised means of rows with and without the value.
    """
    if not n_classes:
        z = (y - y.mean()) / (y.std() or 1.0)
        counts = gaps.sum(axis=0)
        with_gap, without = z @ gaps / np.maximum(counts, 1), z @ ~gaps / np.maximum(len(y) - counts, 1)
        return np.where((counts == 0) | (counts == len(y)), 0.0, with_gap - without)[None]
    member = np.eye(n_classes, dtype=np.float64)[y].T  # (classes, n)
    inside = member @ gaps / np.maximum(member.sum(axis=1, keepdims=True), 1.0)
    outside = (1 - member) @ gaps / np.maximum((1 - member).sum(axis=1, keepdims=True), 1.0)
    return np.asarray(inside - outside)


def _said(name: str, gap: np.ndarray, y: np.ndarray, telling: np.ndarray, classes: Sequence[Any]) -> str:
    if not classes:
        return f"{name!r}, without which the mean is {y[gap].mean():.4g}, with it {y[~gap].mean():.4g}"
    j = int(np.abs(telling).argmax())
    inside, outside = gap[y == j].mean(), gap[y != j].mean()
    return f"{name!r}, missing in {inside:.0%} of class {classes[j]!r} and {outside:.0%} of the others"
