"""Single values of a table or an interview: words for missing, yes and no; number or text; what is wrong with one.

One vocabulary serves tables, interviews, the terminal and the service. The functions that read one cell raise
`BadCell`; `read_cells` calls them once for each distinct cell of a column, so that a million rows of three categories
cost three calls, and finds the first row of the cell that failed.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from askless.exceptions import InterviewError, TableError

# In any capitals, without spaces at their ends.
TRUE_WORDS = frozenset({"true", "t", "yes", "y", "on", "1"})
FALSE_WORDS = frozenset({"false", "f", "no", "n", "off", "0"})
# What people say in an interview. In a table these words are ordinary categories.
UNKNOWN_WORDS = frozenset({"unknown", "don't know", "don’t know", "dont know", "-"})
# What stands for a missing value in a table. Capitals matter, because "Na" is sodium; "None" may well be a category.
# Programs in C write "-nan" and "-nan(ind)".
MISSING_TEXT = frozenset(
    {"", "?", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null"}
    | {"NaN", "nan", "NAN", "-nan", "-NaN", "-nan(ind)"}
)

DECIMAL_COMMA = re.compile(r"([-+]?\d+),(\d+)")
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}([.,' \u00a0\u202f])\d{3}(\1\d{3})*([.,]\d+)?")
WITH_UNIT = re.compile(r"[-+]?[€$£¥]\s*[-+]?\d[\d.,]*|[-+]?\d[\d.,]*\s*[€$£¥%]")
WITH_LETTERS = re.compile(r"[-+]?\d[\d.,]*\s*([^\W\d_]{1,4}(?:/[^\W\d_]{1,4})?)")  # 70 kg, 120mmHg, 5 mg/dl

POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")  # which may separate thousands
SHORT = re.compile(r"[-+]?[1-9]\d{0,2}")
ENOUGH = 2  # different numbers of a kind, to tell how a column is written,
MANY = 10  # and with points, where none of them ends in a zero

DATE_ADVICE = "dates, times and durations are not supported; convert them to numbers, such as an age in days"
_MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType"})  # by name: pandas need not be installed or loaded
DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_WHOLE = re.compile(r"(-?\d+)\.0")
_SHOWN = 60


class CellError(TableError):
    """A value of a table cannot be read.

    The code is `bad_cell`. The fields are `column`, `row`, `value` and `words`.
    """

    @property
    def words(self) -> tuple[str, ...]:
        """Text in a column of numbers, which may stand for missing values."""
        return tuple(self.fields["words"])


class CellTypeError(CellError, TypeError):
    """A cell holds something that is neither text nor a number, such as a list or a dictionary."""


class BadCell(Exception):
    """One value cannot be read.

    The function that reads a value knows only the value. Its callers add the row and the column, and the encoder
    turns the exception into a `CellError` for a table or an `InterviewError` for an answer.
    """

    def __init__(
        self, problem: str, value: Any, *, row: int = 0, error: type[CellError] = CellError, words: Sequence[str] = ()
    ) -> None:
        super().__init__(problem)
        self.problem, self.error, self.words = problem, error, tuple(words)
        self.value = value.item() if isinstance(value, np.generic) else value
        self.row = row

    def in_table(self, column: str, row_numbers: Sequence[int] | None = None) -> CellError:
        """The error for a table; `row_numbers` are the rows' places in a larger one."""
        row = int(self.row if row_numbers is None else row_numbers[self.row])
        message = f"column {column!r}, row {row} (0-based): {self.problem}"
        return self.error("bad_cell", message, column=column, row=row, value=self.value, words=self.words)

    def in_answer(self, feature: str, column: str, accepts: str) -> InterviewError:
        """The error for an answer; `accepts` says what the column accepts."""
        part = "" if column == feature else f", part {column!r}"
        message = f"answer to {feature!r}{part}: {self.problem}; expected {accepts}"
        fields = {"feature": feature, "column": column, "value": self.value, "expected": accepts}
        return InterviewError("bad_answer", message, **fields)


def read_boolean(text: str) -> bool | None:
    """True for yes, False for no, None for any other text.

    >>> [read_boolean(text) for text in ("Yes", " off ", "T", "0", "1.0", "maybe", "")]
    [True, False, True, False, True, None, None]
    """
    word = text.strip().casefold()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    return {"1.0": True, "0.0": False}.get(word)  # as pandas writes booleans beside missing values


def is_unknown(text: str) -> bool:
    """Whether a person who types this text means that the value is unknown.

    A caller with a list of choices looks there first: "unknown" may be one of them.

    >>> [is_unknown(text) for text in ("Unknown", "don't know", "-", "", "NA", "none", "Na")]
    [True, True, True, True, True, False, False]
    """
    word = text.strip()
    return word in MISSING_TEXT or word.casefold() in UNKNOWN_WORDS


def shown(cell: Any) -> str:
    """A cell for an error message, shortened."""
    text = repr(plain(cell) if isinstance(cell, np.generic) else cell)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def is_missing(cell: Any) -> bool:
    """Whether a cell holds no value: None, NaN, NA, NaT, or text such as "", "NA", "nan", "null" or "?".

    >>> [is_missing(cell) for cell in (None, float("nan"), " ", "NA", "?", 0, False, "none")]
    [True, True, True, True, True, False, False, False]
    """
    if isinstance(cell, str):
        return cell.strip() in MISSING_TEXT
    if isinstance(cell, (float, np.floating)):
        return bool(cell != cell)
    if isinstance(cell, Decimal):
        return cell.is_nan()
    if isinstance(cell, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(cell))
    return type(cell).__name__ in _MISSING_TYPES


def family(cell: Any) -> str:
    """Whether a cell is a "boolean", a "number" or "text"; anything else is refused."""
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, (bool, np.bool_)):
        return "boolean"
    if isinstance(cell, (Real, Decimal)) and not isinstance(cell, DATES):  # numpy calls a timedelta an integer
        return "number"
    raise refusal(cell)


def refusal(cell: Any) -> BadCell:
    """Why a cell that is neither text nor a number is not read."""
    if isinstance(cell, (complex, np.complexfloating)):
        return BadCell(f"Complex data not supported, found {shown(cell)}", cell)
    if isinstance(cell, DATES) or type(cell).__name__ == "Period":
        return BadCell(f"{shown(cell)} is a date, a time or a duration; {DATE_ADVICE}", cell)
    kind = type(cell).__name__
    problem = f"{shown(cell)} is a {kind}; argument must be a string or a real number"
    return BadCell(problem, cell, error=CellTypeError)


def parsed(text: str) -> float | None:
    """The number that a text spells, or None.

    >>> parsed(" 140 "), parsed("1e3"), parsed("1_000"), parsed("tall"), parsed("Nan")
    (140.0, 1000.0, None, None, None)
    """
    try:
        value = float(text)
    except ValueError:
        return None
    return None if "_" in text or value != value else value


def points_for_thousands(texts: Iterable[str]) -> str | None:
    """One of the texts in which a point seems to separate thousands, by what stands beside it; else None.

    Whoever writes decimals as 1.250 writes 850.000, too, and not 850. Whoever leaves zeros at the end out may well
    write 81.301 beside 5; but of many such numbers one would then have fewer digits.

    >>> points_for_thousands(["850", "1.250", "12.547", "7"]), points_for_thousands(["850", "1.250", "12.5", "7"])
    ('1.250', None)
    >>> points_for_thousands(["5", "81.301", "9", "77.125"])
    """
    with_points, short = dict[str, None](), set[str]()  # in order
    for text in texts:
        if POINTS.fullmatch(text):
            with_points[text] = None
        elif SHORT.fullmatch(text):
            short.add(text)
        elif text != "0" and (parsed(text) is not None or DECIMAL_COMMA.fullmatch(text)):
            return None
    enough = ENOUGH if any(text.endswith("0") for text in with_points) else MANY
    return next(iter(with_points)) if len(with_points) >= enough and len(short) >= ENOUGH else None


def typed(text: str) -> float | None:
    """The number that a person typed, perhaps with a decimal comma, or None; a comma may not separate thousands.

    >>> typed("36,6"), typed("-0,125"), typed("1,250"), typed("1,250.5"), typed("36.6")
    (36.6, -0.125, None, None, 36.6)
    """
    match = DECIMAL_COMMA.fullmatch(text.strip())
    if match is None:
        return parsed(text)
    whole, decimals = match.groups()
    thousands = len(decimals) == 3 and whole.lstrip("+-") != "0"
    return None if thousands else parsed(f"{whole}.{decimals}")


def number(cell: Any) -> float:
    """A cell of a number column; NaN where it is missing."""
    if is_missing(cell):
        return float("nan")
    if family(cell) == "text":
        value = parsed(cell)
        if value is None:
            raise BadCell(f"{shown(cell)} is not a number", cell, words=[cell])
        return value
    try:
        return float(cell)
    except OverflowError:  # a Python integer of more than 308 digits
        return float("inf") if cell > 0 else float("-inf")


def plain(cell: Any) -> str | int | float | bool:
    """A cell as JSON can hold it: text and numbers as they are, anything else as its text.

    >>> plain(np.int64(3)), plain(np.float32(0.1)), plain(Decimal("1.5")), plain(datetime.date(2020, 1, 31))
    (3, 0.1, 1.5, '2020-01-31')
    """
    if isinstance(cell, str):
        return str.__str__(cell)
    if isinstance(cell, (bool, np.bool_)):
        return bool(cell)
    if isinstance(cell, DATES):
        return str(cell)
    if isinstance(cell, Integral):
        return int(cell)
    if isinstance(cell, np.floating):
        return float(str(cell))  # 0.1 of 32 bits is meant as 0.1
    if isinstance(cell, (Real, Decimal)):
        return float(cell)
    return str(cell)


def key(cell: Any) -> str:
    """The text by which categories are matched.

    >>> key(1), key(1.0), key("1"), key("1.0"), key(" red "), key(0.5)
    ('1', '1', '1', '1', 'red', '0.5')
    """
    value = plain(cell)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = composed(str(value).strip())
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def composed(text: str) -> str:
    """The text with each letter and its accents as one character: some systems write them apart."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


class Distinct(NamedTuple):
    """The different cells of a column, in the order in which they first appear."""

    cells: list[Any]
    codes: np.ndarray  # (n,) which of the cells each row holds
    rows: np.ndarray  # (cells,) the first row of each


def distinct(values: np.ndarray) -> Distinct:
    """The different cells of a column (n,); cells of different types differ, so that True is not 1."""
    if values.dtype.kind != "O":
        found, first, codes = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return Distinct(list(found[order]), place[codes], first[order])
    cells = values.tolist()
    index: dict[tuple[type, Any], int] = {}
    try:
        codes = np.fromiter(
            (index.setdefault(pair, len(index)) for pair in zip(map(type, cells), cells, strict=True)),
            dtype=np.intp,
            count=len(cells),
        )
    except TypeError:
        raise _first_unhashable(cells) from None
    rows = np.full(len(index), len(cells))
    np.minimum.at(rows, codes, np.arange(len(cells)))
    return Distinct([cell for _, cell in index], codes, rows)


def _first_unhashable(cells: list[Any]) -> BadCell:
    for row, cell in enumerate(cells):
        try:
            hash(cell)
        except TypeError:
            bad = refusal(cell)
            bad.row = row
            return bad
    raise AssertionError("every cell can be hashed")  # pragma: no cover


def read_cells(values: np.ndarray, read: Callable[[Any], float]) -> np.ndarray:
    """(n,) float64: `read` of every cell; its `BadCell` gets the first row that it concerns."""
    found = distinct(values)
    table = np.empty(len(found.cells))
    for i, cell in enumerate(found.cells):  # in the order of rows, so the first failure is the first bad row
        try:
            table[i] = read(cell)
        except BadCell as bad:
            bad.row = int(found.rows[i])
            raise
    return np.asarray(table[found.codes])


def as_numbers(values: np.ndarray) -> np.ndarray:
    """(n,) float64 of a column of numbers, booleans or text that spells numbers; NaN where missing."""
    if values.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # a long double may exceed 64 bits: caught below
            numbers = values.astype(np.float64, copy=False)
    else:
        numbers = read_cells(values, number)
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise BadCell("infinity, or a number too large for 64 bits", values[row], row=row)
    return numbers
