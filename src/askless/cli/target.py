"""The column to predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.cli.tables import check_columns
from askless.exceptions import TableError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_spelled", "choose_task", "class_codes", "known_target", "numbers", "split_target"]

MOST_CLASSES = 20  # a target with more distinct integers is taken for a quantity


def split_target(
    frame: pd.DataFrame, target: str, path: str, *, drop_missing: bool
) -> tuple[pd.DataFrame, pd.Series, np.ndarray]:
    """The features and the target of the rows with a target, and the numbers of these rows."""
    check_columns([target], list(frame.columns), "--target", path)
    rows, y = known_target(frame[target], path, drop_missing=drop_missing)
    return frame.iloc[rows].reset_index(drop=True).drop(columns=target), y, rows


def known_target(values: pd.Series, path: str, *, drop_missing: bool) -> tuple[np.ndarray, pd.Series]:
    """The numbers of the rows with a target, and their targets. Raises for a missing target unless `drop_missing`."""
    missing = values.isna().to_numpy()
    n_missing = int(missing.sum())
    if n_missing and not drop_missing:
        first = int(np.argmax(missing))
        raise TableError(
            "bad_label",
            f"{path}: the target {values.name!r} is missing in {n_missing:,} of {len(values):,} rows, the first in "
            f"row {first} (0-based); fill them in, or add --drop-missing-target",
            path=path,
            column=str(values.name),
            row=first,
            rows=n_missing,
        )
    rows = np.flatnonzero(~missing)
    if len(rows) == 0:
        message = f"{path}: the table has no rows" + (" with a target" if n_missing else "")
        raise TableError("too_few_rows", message, path=path)
    return rows, _whole(values.iloc[rows].reset_index(drop=True))


def _whole(values: pd.Series) -> pd.Series:
    """Restore the type that missing values had widened: integers and booleans."""
    if values.dtype.kind == "O":  # text, categories, or a mixture
        values = (
            values.astype(object).map(lambda cell: cell.strip() if isinstance(cell, str) else cell).infer_objects()
        )
    if values.dtype.kind == "f" and (values % 1 == 0).all() and values.abs().max() < 2**53:
        return values.astype(np.int64)
    return values


def as_spelled(values: pd.Series, path: str, rows: np.ndarray) -> pd.Series:
    """Text that spells numbers, as numbers. Raises if most of the text looks like numbers in an unknown notation.

    `rows` (n,) are the row numbers of the targets in the file.
    """
    import pandas as pd

    from askless.encoding.cells import BadCell
    from askless.encoding.kinds import kind_of
    from askless.encoding.table import Column

    if values.dtype.kind in "biuf":
        return values
    try:
        kind = kind_of(Column(str(values.name), values.to_numpy(dtype=object)))
    except BadCell as bad:
        row = int(rows[bad.row])
        raise TableError(
            "bad_label",
            f"{path}: the target {values.name!r}, row {row} (0-based): {bad.problem}; if these are classes, add "
            "--task classification",
            path=path,
            column=str(values.name),
            row=row,
            value=_plain(values.iloc[bad.row]),
        ) from None
    return _whole(pd.to_numeric(values)) if kind == "number" else values


def choose_task(values: pd.Series) -> tuple[str, str]:
    """The task for a target, and the reason.

    >>> import pandas as pd
    >>> choose_task(pd.Series([0, 1, 1]))
    ('classification', 'its 2 values are integers')
    """
    kind, distinct = values.dtype.kind, values.nunique()
    if kind == "b":
        return "classification", "it holds booleans"
    if kind not in "iuf":
        return "classification", f"it holds text ({distinct} different values)"
    if kind == "f":
        return "regression", "it holds numbers with decimals"
    if distinct > MOST_CLASSES:
        return "regression", f"it holds {distinct} different numbers, more than {MOST_CLASSES}"
    return "classification", f"its {distinct} values are integers"


def class_codes(values: pd.Series, classes: Sequence[Any], path: str, rows: np.ndarray) -> np.ndarray:
    """(n,) the index of each label in the classes of a model; 1, 1.0 and "1" are the same label.

    `rows` (n,) are the row numbers of the labels in the file, for errors.
    """
    from askless.encoding.cells import key
    from askless.hints import listed

    place = {key(label): i for i, label in enumerate(classes)}
    codes = np.array([place.get(key(value), -1) for value in values], dtype=np.int64)
    if (codes < 0).any():
        first = int(np.argmax(codes < 0))
        label, row = _plain(values.iloc[first]), int(rows[first])
        raise TableError(
            "unknown_label",
            f"{path}: unknown label {label!r} in {values.name!r}, row {row} (0-based); the model knows "
            f"{listed(classes)}",
            path=path,
            column=str(values.name),
            row=row,
            label=label,
            choices=list(classes),
        )
    return codes


def numbers(values: pd.Series, path: str, rows: np.ndarray) -> np.ndarray:
    """(n,) the target of a regression. `rows` (n,) are the row numbers in the file, for errors."""
    import pandas as pd

    read = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64)
    if not np.isfinite(read).all():
        first = int(np.argmax(~np.isfinite(read)))
        value, row = _plain(values.iloc[first]), int(rows[first])
        raise TableError(
            "bad_label",
            f"{path}: the target {values.name!r}, row {row} (0-based): {value!r} is not a number",
            path=path,
            column=str(values.name),
            row=row,
            value=value,
        )
    return read


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
