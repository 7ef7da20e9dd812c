"""What estimators are given, checked once at the edge, with scikit-learn's words where it has some."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from askless.acquisition.numbers import is_whole
from askless.encoding import Encoder, ImageEncoder, read_table
from askless.encoding.category import warn_of_spellings
from askless.encoding.cells import DATES, is_missing
from askless.exceptions import AsklessWarning, ParameterError, TableError
from askless.hints import listed
from askless.images import flat_images, is_images, stacked_images
from askless.tables import ParquetTable, check_row_labels, column_names, is_frame, take_rows, without_stored_index

__all__ = [
    "checked_labels",
    "checked_numbers",
    "checked_table",
    "seed_of",
    "table_again",
    "warn_of_labels",
    "warn_of_scale",
]

LARGEST_TARGET = 1e30
LABELS = (str, np.bool_, Real, Decimal)  # types of them, in arrays of objects
IMAGES_LOOKED_AT = 1000  # at most, to see on which scale they are


def checked_table(estimator: Any, X: Any) -> Any:
    """A table to learn from, images flat; notes its width and its columns' names, or the images' shape."""
    estimator.__dict__.pop("image_shape_", None)
    X = stacked_images(X)
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
    shape = getattr(estimator, "image_shape_", None)
    X = stacked_images(X)
    if is_images(X):
        if tuple(X.shape[1:]) != shape:
            _refuse_one_image(X, shape)
            raise TableError(
                f"the images have shape {X.shape[1:]}; {type(estimator).__name__} has learned from {shape}"
            )
        X = flat_images(X)
    X = _two_dimensional(estimator, X)
    framed = is_frame(X)
    width = len(column_names(X)) if framed else X.shape[1]
    if width != estimator.n_features_in_ and not (framed and estimator._by_name):
        if not framed:
            _refuse_one_image(X, shape)
        raise TableError(
            f"X has {width} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    if hasattr(estimator, "model_"):  # a fit with validation images has not learned the scale yet
        warn_of_scale(estimator.model_.encoder, X)
    return X


def _refuse_one_image(X: np.ndarray, shape: tuple[int, ...] | None) -> None:
    if X.shape == shape:
        raise TableError(f"X is one image, of the shape {shape}; it must be an array of images: give X[None]")


def warn_of_scale(encoder: Encoder, X: Any) -> None:
    """Tell where images are on another scale than those that the encoder has learned from."""
    if not isinstance(encoder, ImageEncoder):
        return
    rows = np.linspace(0, len(X) - 1, min(len(X), IMAGES_LOOKED_AT)).astype(np.intp)  # all over the table
    if (told := encoder.other_scale(take_rows(X, rows))) is not None:
        warnings.warn(f"the pixels of X {told}", AsklessWarning, stacklevel=3)


def _two_dimensional(estimator: Any, X: Any) -> Any:
    if is_frame(X):
        return without_stored_index(X)
    if hasattr(X, "collect"):
        raise TableError("the table is lazy; collect it first, such as X.collect()")
    if (told := _no_table(X)) is not None:
        raise TableError(told)
    return check_array(
        X, dtype=None, ensure_all_finite=False, ensure_min_samples=1, estimator=estimator, input_name="X"
    )


def _no_table(X: Any) -> str | None:
    """What is given in place of a table, and what to do: scikit-learn would show all of it. None if it may be one."""
    if isinstance(X, str | os.PathLike):
        return "X is the name of a file or another text; read the file first: pd.read_csv(...)"
    if isinstance(X, Mapping) and not hasattr(X, "toarray"):  # a sparse matrix may be one, of its cells
        one = all(isinstance(cell, str) or not hasattr(cell, "__len__") for cell in X.values())
        return f"X is a mapping; give a DataFrame, such as pd.DataFrame({'[X]' if one else 'X'})"
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], Mapping):
        return "X is a list of mappings; give a DataFrame, such as pd.DataFrame(X)"
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        return "X is a structured array; give a DataFrame, such as pd.DataFrame(X)"
    return None


def checked_labels(y: Any, X: Any) -> np.ndarray:
    """(n,) class labels of the rows of X, none of them missing."""
    labels = _one_dimensional(y, X)
    if labels.dtype.kind == "O" and not any(isinstance(label, str) for label in labels):
        labels = np.array(labels.tolist())  # numbers or booleans, kept as objects
    if labels.dtype.kind == "O" and len({isinstance(label, str) for label in labels}) > 1:
        labels = labels.astype(str)  # text and numbers mixed: compare them as text
    check_classification_targets(labels)
    return labels


def warn_of_labels(classes: Iterable[Any]) -> None:
    """Tell of classes that are spelled alike, and of those that look like no label."""
    classes = list(classes)
    warn_of_spellings("y", classes, "classes")
    blank = [label for label in classes if isinstance(label, str) and is_missing(label)]
    if blank:
        warnings.warn(
            f"y holds {listed(blank)}, kept as {'a class' if len(blank) == 1 else 'classes'}, while such text in X "
            "is missing; leave these rows out if their labels are not known",
            AsklessWarning,
            stacklevel=3,
        )


def checked_numbers(y: Any, X: Any) -> np.ndarray:
    """(n,) finite numbers for the rows of X."""
    values = _one_dimensional(y, X)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TableError(f"y must hold numbers for a regression ({error})") from None
    infinite = np.flatnonzero(~np.isfinite(numbers))
    if len(infinite):
        raise TableError(f"y holds NaN or infinity (first in row {infinite[0]}, counting from 0)")
    if np.abs(numbers).max() > LARGEST_TARGET:
        raise TableError(f"y holds {numbers[np.abs(numbers).argmax()]:g}; give numbers of at most {LARGEST_TARGET:g}")
    return numbers


def _one_dimensional(y: Any, X: Any) -> np.ndarray:
    if y is None:
        raise TableError("a target is needed: estimator requires y to be passed, but the target y is None")
    check_row_labels(X, y, "y")
    if hasattr(y, "to_pylist"):  # pyarrow
        y = y.to_pylist()
    elif not isinstance(y, (np.ndarray, list, tuple)) and hasattr(y, "to_numpy"):
        y = y.to_numpy()
    values: np.ndarray = column_or_1d(y, warn=True)
    if len(values) != len(X):
        check_consistent_length(np.empty(len(X)), values)
    if values.dtype.kind in "cmM":
        raise TableError(f"y holds values of type {values.dtype}; give text, numbers or booleans")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise TableError(f"y holds infinity (first in row {np.flatnonzero(np.isinf(values))[0]}, counting from 0)")
    missing = np.flatnonzero(_is_missing(values))
    if len(missing):
        raise TableError(
            f"y has {len(missing)} missing value(s) (NaN), the first in row {missing[0]} (counting from 0); "
            "drop these rows or fill them in"
        )
    if values.dtype.kind == "O":
        _check_types(values)
    return values


def _check_types(values: np.ndarray) -> None:
    """Refuse dates, intervals and other objects, of which the first row is named."""
    cells = values.tolist()
    strange = {kind for kind in set(map(type, cells)) if not issubclass(kind, LABELS) or issubclass(kind, DATES)}
    if strange:
        row = next(i for i, cell in enumerate(cells) if type(cell) in strange)
        raise TableError(
            f"y holds values of type {type(cells[row]).__name__} (first in row {row}, counting from 0); give text, "
            "numbers or booleans"
        )


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
            raise ParameterError(f"random_state is {random_state}; it must be at least 0 and below 2**63")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
