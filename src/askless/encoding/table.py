"""Reading the user's table, one column at a time: a frame of any library that narwhals knows, or an array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from askless.encoding.cells import DATE_ADVICE, is_missing, plain
from askless.exceptions import TableError
from askless.hints import listed


@dataclass(frozen=True)
class Column:
    """One column of the user's table."""

    name: str
    values: np.ndarray  # (n,) of booleans, integers or floats; or objects, which may mix anything
    categorical: bool = False  # the frame says so
    order: tuple[Any, ...] = ()  # of the categories, where the frame gives them one


@dataclass(frozen=True)
class Columns:
    """A table that is read column by column, without a copy of the whole."""

    names: tuple[str, ...]
    n_rows: int
    named: bool  # the names are the user's, not x0, x1, ...
    _read: Callable[[int], tuple[Any, bool, tuple[Any, ...]]]  # values, categorical, order

    def column(self, position: int) -> Column:
        """The column at a position, checked to be of a type that can be read at all."""
        name = self.names[position]
        values, categorical, order = self._read(position)
        if values.dtype.kind == "c":
            raise TableError("bad_column", f"Complex data not supported: column {name!r}", column=name)
        if values.dtype.kind in "mM":
            raise _dates(name)
        if values.dtype.kind == "U":
            values = values.astype(object)
        if values.dtype.kind not in "biufO":
            message = f"column {name!r} has the type {values.dtype}; expected numbers, text or booleans"
            raise TableError("bad_column", message, column=name, value=str(values.dtype))
        return Column(name, values, categorical, order)


def read_table(table: Any) -> Columns:
    """The columns of a pandas or polars frame, a pyarrow table (whatever narwhals reads), or a 2-D array.

    >>> read_table(np.eye(2)).names
    ('x0', 'x1')
    """
    if hasattr(type(table), "toarray"):
        message = "sparse data is not supported; pass a dense table, such as X.toarray()"
        raise TableError("wrong_type", message, value=type(table).__name__)
    columns = None if isinstance(table, (np.ndarray, list, tuple)) else _frame_columns(table)
    if columns is None:
        columns = _array_columns(_as_array(table))
    shape = (columns.n_rows, len(columns.names))
    for count, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if count == 0:
            message = f"the table is empty: 0 {what} (shape={shape}) while a minimum of 1 is required."
            raise TableError("too_few_rows" if what == "sample(s)" else "wrong_shape", message, shape=shape)
    return columns


# Frames


def _frame_columns(table: Any) -> Columns | None:
    """The columns of a frame; None where narwhals does not take `table` for one."""
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        return None
    except ValueError:  # narwhals' DuplicateError
        names = table.column_names if hasattr(type(table), "column_names") else table.columns
        raise _repeated(names) from None
    names = tuple(str(name) for name in frame.columns)  # pandas allows any name
    if len(set(names)) < len(names):
        raise _repeated(names)
    return Columns(names, len(frame), True, lambda position: _read_series(frame[:, position], names[position]))


def _repeated(names: Iterable[object]) -> TableError:
    twice = [name for name, count in Counter(str(name) for name in names).items() if count > 1]
    return TableError(
        "duplicate_name", f"several columns have the same name: {listed(twice)}; rename them", name=twice[0]
    )


def _dates(name: str) -> TableError:
    return TableError("bad_column", f"column {name!r} holds dates, times or durations; {DATE_ADVICE}", column=name)


def _read_series(series: Any, name: str) -> tuple[np.ndarray, bool, tuple[Any, ...]]:
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_temporal():
        raise _dates(name)
    if dtype in (nw.Categorical, nw.Enum):
        order = getattr(dtype, "categories", ())
        return _categories(series), True, tuple(order)
    if dtype == nw.String or dtype.is_nested():
        return _objects(series.to_list()), False, ()
    if dtype in (nw.Int128, nw.UInt128):
        series = series.cast(nw.Float64())
    return series.to_numpy(), False, ()


def _categories(series: Any) -> np.ndarray:
    """The cells of a categorical column; pandas' codes keep them apart from missing values, which change types."""
    accessor = getattr(series.to_native(), "cat", None)
    codes = getattr(accessor, "codes", None)
    if accessor is None or codes is None:  # not pandas
        return _objects(_plainly(series.to_list()))
    cells = _objects([*_plainly(list(accessor.categories)), None])
    return np.asarray(cells[np.asarray(codes)])  # the code of a missing value is -1


def _plainly(cells: list[Any]) -> list[Any]:
    """Categories of any type, such as intervals, as text."""
    if {type(cell) for cell in cells} <= {str, int, float, bool, type(None)}:
        return cells
    return [cell if is_missing(cell) else plain(cell) for cell in cells]


def _objects(cells: list[Any]) -> np.ndarray:
    return np.fromiter(cells, dtype=object, count=len(cells))  # np.array would look into lists


# Arrays


def _as_array(table: Any) -> np.ndarray:
    if not isinstance(table, (np.ndarray, list, tuple)) and not hasattr(table, "__array__"):
        message = (
            "expected a pandas or polars DataFrame (collect a lazy one first), a pyarrow table or a 2-D array, "
            f"not a {type(table).__name__}"
        )
        raise TableError("wrong_type", message, value=type(table).__name__)
    try:
        array = np.asanyarray(table)
        if not isinstance(table, np.ndarray) and array.dtype.kind in "SU":
            array = np.asarray(table, dtype=object)  # lists that mix numbers and text
    except ValueError:
        raise TableError("wrong_shape", "the rows of the table differ in length") from None
    if isinstance(array, np.ma.MaskedArray):
        cells = np.array(array.data, dtype=array.dtype if array.dtype.kind == "f" else object)
        cells[np.ma.getmaskarray(array)] = np.nan
        return cells
    return np.asarray(array)


def _array_columns(array: np.ndarray) -> Columns:
    if array.ndim != 2:
        message = (
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data with reshape(-1, 1) if it "
            "has one column, or reshape(1, -1) if it has one row."
        )
        raise TableError("wrong_shape", message, shape=array.shape)
    names = tuple(f"x{i}" for i in range(array.shape[1]))
    return Columns(names, array.shape[0], False, lambda position: (array[:, position], False, ()))
