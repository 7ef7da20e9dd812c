"""What estimators are given, checked once at the edge, with scikit-learn's words where it has some."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from askless.core.numbers import is_whole
from askless.encoding import read_table
from askless.exceptions import TableError
from askless.images import flat_images, is_images
from askless.tables import ParquetTable, column_names, is_frame

__all__ = ["checked_labels", "checked_numbers", "checked_table", "seed_of", "table_again"]

LARGEST_TARGET = 1e30


def checked_table(estimator: Any, X: Any) -> Any:
    """A table to learn from, images flat; notes its width and its columns' names, or the images' shape."""
    estimator.__dict__.pop("image_shape_", None)
    if is_images(X):
        estimator.image_shape_ = tuple(X.shape[1:])
        X = flat_images(X)
    X = _two_dimensional(estimator, X)
    sight = X.take(np.arange(min(len(X), 2))).read() if isinstance(X, ParquetTable) else X
    columns = read_table(sight)  # refuses an empty table and names that occur twice
    if columns.n_rows < 2:
        raise TableError("the table has 1 sample (n_samples=1); a minimum of 2 is required.")
    names = column_names(X) if columns.named else None
    estimator.n_features_in_ = len(columns)
    estimator._by_name = columns.named
    if names is not None and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return X


def table_again(estimator: Any, X: Any) -> Any:
    """A table to use a fitted estimator on. Frames are matched by name, arrays by position."""
    if is_images(X):
        shape = getattr(estimator, "image_shape_", None)
        if tuple(X.shape[1:]) != shape:
            raise ValueError(
                f"the images have shape {X.shape[1:]}; {type(estimator).__name__} has learned from {shape}"
            )
        X = flat_images(X)
    X = _two_dimensional(estimator, X)
    framed = is_frame(X)
    width = len(column_names(X)) if framed else X.shape[1]
    if width != estimator.n_features_in_ and not (framed and estimator._by_name):
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return X


def _two_dimensional(estimator: Any, X: Any) -> Any:
    if is_frame(X):
        return X
    if hasattr(X, "collect"):
        raise TableError("the table is lazy; collect it first, such as X.collect()")
    return check_array(
        X, dtype=None, ensure_all_finite=False, ensure_min_samples=1, estimator=estimator, input_name="X"
    )


def checked_labels(y: Any, n_rows: int) -> np.ndarray:
    """(n,) class labels, none of them missing."""
    labels = _one_dimensional(y, n_rows)
    if labels.dtype.kind == "O" and not any(isinstance(label, str) for label in labels):
        labels = np.array(labels.tolist())  # numbers or booleans, kept as objects
    if labels.dtype.kind == "O" and len({isinstance(label, str) for label in labels}) > 1:
        labels = labels.astype(str)  # text and numbers mixed: compare them as text
    check_classification_targets(labels)
    return labels


def checked_numbers(y: Any, n_rows: int) -> np.ndarray:
    """(n,) finite numbers."""
    values = _one_dimensional(y, n_rows)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers for a regression ({error})") from None
    infinite = np.flatnonzero(~np.isfinite(numbers))
    if len(infinite):
        raise ValueError(f"y holds NaN or infinity (first in row {infinite[0]}, counting from 0)")
    if np.abs(numbers).max() > LARGEST_TARGET:
        raise ValueError(f"y holds {numbers[np.abs(numbers).argmax()]:g}; give numbers of at most {LARGEST_TARGET:g}")
    return numbers


def _one_dimensional(y: Any, n_rows: int) -> np.ndarray:
    if y is None:
        raise ValueError("a target is needed: estimator requires y to be passed, but the target y is None")
    if hasattr(y, "to_pylist"):  # pyarrow
        y = y.to_pylist()
    elif not isinstance(y, (np.ndarray, list, tuple)) and hasattr(y, "to_numpy"):
        y = y.to_numpy()
    values: np.ndarray = column_or_1d(y, warn=True)
    if len(values) != n_rows:
        check_consistent_length(np.empty(n_rows), values)
    if values.dtype.kind in "cmM":
        raise ValueError(f"y holds values of type {values.dtype}; give text, numbers or booleans")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError(f"y holds infinity (first in row {np.flatnonzero(np.isinf(values))[0]}, counting from 0)")
    missing = np.flatnonzero(_is_missing(values))
    if len(missing):
        raise ValueError(
            f"y has {len(missing)} missing value(s) (NaN), the first in row {missing[0]} (counting from 0); "
            "drop these rows or fill them in"
        )
    return values


def _is_missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    import pandas as pd

    return np.asarray(pd.isna(values))


def seed_of(random_state: Any) -> int:
    """An integer stands for itself; anything else that scikit-learn takes for a random state is drawn from."""
    if is_whole(random_state):
        if not 0 <= random_state < 2**63:
            raise ValueError(f"random_state is {random_state}; it must be at least 0 and below 2**63")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
