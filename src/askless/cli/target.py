"""The column that is to be predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.cli.tables import check_columns
from askless.exceptions import TableError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_spelled", "choose_task", "class_codes", "known_target", "numbers", "split_target"]

MOST_CLASSES = 20  # of whole numbers; more of them are taken for a quantity


def split_target(
    frame: pd.DataFrame, target: str, path: str, *, drop_missing: bool
) -> tuple[pd.DataFrame, pd.Series, np.ndarray]:
    """The features and the target of the rows that have one, and which rows these are."""
    check_columns([target], list(frame.columns), "--target", path)
    rows, y = known_target(frame[target], path, drop_missing=drop_missing)
    return frame.iloc[rows].reset_index(drop=True).drop(columns=target), y, rows


def known_target(values: pd.Series, path: str, *, drop_missing: bool) -> tuple[np.ndarray, pd.Series]:
    """The rows that have a target, and these targets; an error where one is missing and may not be dropped."""
    missing = values.isna().to_numpy()
    n_missing = int(missing.sum())
    if n_missing and not drop_missing:
        raise TableError(
            f"{path}: the target {values.name!r} is missing in {n_missing:,} of {len(values):,} rows, the first in "
            f"row {int(np.argmax(missing))} (counting from 0); fill them in, or leave them out by "
            "--drop-missing-target"
        )
    rows = np.flatnonzero(~missing)
    if len(rows) == 0:
        raise TableError(f"{path}: the table has no rows" + (" with a target" if n_missing else ""))
    return rows, _whole(values.iloc[rows].reset_index(drop=True))


def _whole(values: pd.Series) -> pd.Series:
    """The target as what it is now that none is missing: whole numbers and booleans were not, beside missing ones."""
    if values.dtype.kind == "O":  # text, categories, or a mixture
        values = (
            values.astype(object).map(lambda cell: cell.strip() if isinstance(cell, str) else cell).infer_objects()
        )
    if values.dtype.kind == "f" and (values % 1 == 0).all() and values.abs().max() < 2**53:
        return values.astype(np.int64)
    return values


def as_spelled(values: pd.Series, path: str, rows: np.ndarray) -> pd.Series:
    """Text that spells numbers as these numbers; an error where most of it looks like numbers that are not read.

    It names one of the `rows` (n,) of the file that the targets come from.
    """
    import pandas as pd

    from askless.encoding.errors import BadCell
    from askless.encoding.kinds import kind_of
    from askless.encoding.table import Column

    if values.dtype.kind in "biuf":
        return values
    try:
        kind = kind_of(Column(str(values.name), values.to_numpy(dtype=object)))
    except BadCell as bad:
        raise TableError(
            f"{path}: the target {values.name!r}, row {rows[bad.row]} (counting from 0): {bad.problem}; --task "
            "classification if these are classes"
        ) from None
    return _whole(pd.to_numeric(values)) if kind == "number" else values


def choose_task(values: pd.Series) -> tuple[str, str]:
    """What is to be learned of a target, and why.

    >>> import pandas as pd
    >>> choose_task(pd.Series([0, 1, 1]))
    ('classification', 'its 2 values are whole numbers')
    """
    kind, distinct = values.dtype.kind, values.nunique()
    if kind == "b":
        return "classification", "it is true or false"
    if kind not in "iuf":
        return "classification", f"it is text ({distinct} different values)"
    if kind == "f":
        return "regression", "it holds numbers that are not whole"
    if distinct > MOST_CLASSES:
        return "regression", f"it holds {distinct} different numbers, more than {MOST_CLASSES}"
    return "classification", f"its {distinct} values are whole numbers"


def class_codes(values: pd.Series, classes: Sequence[Any], path: str, rows: np.ndarray) -> np.ndarray:
    """(n,) the place of each label among a model's classes; 1, 1.0 and "1" are the same label.

    An error names one of the `rows` (n,) of the file.
    """
    from askless.encoding.cells import key
    from askless.hints import listed

    place = {key(label): i for i, label in enumerate(classes)}
    codes = np.array([place.get(key(value), -1) for value in values], dtype=np.int64)
    if (codes < 0).any():
        first = int(np.argmax(codes < 0))
        raise TableError(
            f"{path}: row {rows[first]} (counting from 0) has the label {values.iloc[first]!r}, "
            f"which the model does not know; its classes are {listed(classes)}"
        )
    return codes


def numbers(values: pd.Series, path: str, rows: np.ndarray) -> np.ndarray:
    """(n,) the target of a regression; an error names one of the `rows` (n,) of the file."""
    import pandas as pd

    read = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64)
    if not np.isfinite(read).all():
        first = int(np.argmax(~np.isfinite(read)))
        raise TableError(
            f"{path}: the target in row {rows[first]} (counting from 0) is {values.iloc[first]!r}, not a number"
        )
    return read
