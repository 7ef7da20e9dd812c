"""Checks of what users pass to estimators, with scikit-learn's messages where it has some."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from askless.acquisition.numbers import is_whole
from askless.encoding import Encoder, ImageEncoder, read_table
from askless.encoding.category import warn_of_spellings
from askless.encoding.cells import DATES, is_missing, parsed
from askless.exceptions import AsklessWarning, ParameterError, TableError
from askless.hints import listed
from askless.tables import ParquetTable, check_row_labels, column_names, is_frame, take_rows, without_stored_index

LARGEST_TARGET = 1e30
LABELS = (str, np.bool_, Real, Decimal)  # types of them, in arrays of objects
IMAGES_LOOKED_AT = 1000  # at most, to see on which scale they are


def checked_table(estimator: Any, X: Any) -> Any:
    """A table to learn from, images flat; notes its width and its columns' names, or the images' shape."""
    estimator.__dict__.pop("image_shape_", None)
    images = _images(X)
    if images is not None:
        estimator.image_shape_ = images.shape[1:]
        X = images.reshape(len(images), -1)
    X = _two_dimensional(estimator, X)
    sight = X.take(np.arange(min(len(X), 2))).read() if isinstance(X, ParquetTable) else X
    columns = read_table(sight)  # refuses an empty table and names that occur twice
    if columns.n_rows < 2:
        message = "the table has 1 sample (n_samples=1); a minimum of 2 is required."
        raise TableError("too_few_rows", message, rows=1, needed=2)
    names = column_names(X) if columns.named else None
    estimator.n_features_in_ = len(columns.names)
    estimator._by_name = columns.named
    if names is not None and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return X


def table_again(estimator: Any, X: Any) -> Any:
    """A table to use a fitted estimator on. Frames are matched by name, arrays by position."""
    shape = getattr(estimator, "image_shape_", None)
    images = _images(X)
    if images is not None:
        if images.shape[1:] != shape:
            _refuse_one_image(images, shape)
            message = f"the images have the shape {images.shape[1:]}; `fit` saw {shape}"
            raise TableError("wrong_shape", message, shape=images.shape[1:], expected=shape)
        X = images.reshape(len(images), -1)
    X = _two_dimensional(estimator, X)
    framed = is_frame(X)
    width = len(column_names(X)) if framed else X.shape[1]
    if width != estimator.n_features_in_ and not (framed and estimator._by_name):
        if not framed:
            _refuse_one_image(X, shape)
        expected = estimator.n_features_in_
        message = f"X has {width} features, but {type(estimator).__name__} is expecting {expected} features as input"
        raise TableError("wrong_shape", message, value=width, expected=expected)
    if hasattr(estimator, "model_"):  # a fit with validation images has not learned the scale yet
        warn_of_scale(estimator.model_.encoder, X)
        X = _without_words(X, estimator.model_.missing_words)
    return X


def _images(X: Any) -> np.ndarray | None:
    """An array or a list of images as one array (n, height, width[, channels]); None of anything else."""
    if isinstance(X, list | tuple) and all(isinstance(each, np.ndarray) and each.ndim in (2, 3) for each in X):
        for i, image in enumerate(X):
            if image.shape != X[0].shape:
                message = (
                    f"image {i} (0-based) of X has the shape {image.shape}, the first one {X[0].shape}; all images "
                    "must have the same shape"
                )
                raise TableError("wrong_shape", message, row=i, shape=image.shape, expected=X[0].shape)
        X = np.stack(X) if X else X
    return X if isinstance(X, np.ndarray) and X.ndim in (3, 4) else None


def _without_words(X: Any, words: Sequence[str]) -> Any:
    """A pandas frame in which the model's own words for missing values, such as -999, are missing."""
    import narwhals as nw

    if not words or not nw.dependencies.is_pandas_dataframe(X):
        return X
    numbers = [number for word in words if (number := parsed(word)) is not None]
    flags = X.select_dtypes("bool").columns  # True would equal 1
    return X.mask(X.isin([*words, *numbers]) & ~X.columns.isin(flags))


def _refuse_one_image(X: np.ndarray, shape: tuple[int, ...] | None) -> None:
    if X.shape == shape:
        message = f"X is one image of shape {shape}; pass an array of images, X[None]"
        raise TableError("wrong_shape", message, shape=shape)


def warn_of_scale(encoder: Encoder, X: Any) -> None:
    """Warn if images are on another scale than the training images."""
    if not isinstance(encoder, ImageEncoder):
        return
    rows = np.linspace(0, len(X) - 1, min(len(X), IMAGES_LOOKED_AT)).astype(np.intp)  # all over the table
    if (warning := encoder.scale_warning(take_rows(X, rows))) is not None:
        warnings.warn(warning, stacklevel=3)


def _two_dimensional(estimator: Any, X: Any) -> Any:
    if is_frame(X):
        return without_stored_index(X)
    if hasattr(X, "collect"):
        raise TableError("wrong_type", "the table is lazy; collect it first: X.collect()", value=type(X).__name__)
    if (problem := _no_table(X)) is not None:
        raise TableError("wrong_type", problem, value=type(X).__name__)
    return check_array(
        X, dtype=None, ensure_all_finite=False, ensure_min_samples=1, estimator=estimator, input_name="X"
    )


def _no_table(X: Any) -> str | None:
    """Why X is not a table and what to pass instead; None if it may be one. scikit-learn would print all of X."""
    if isinstance(X, str | os.PathLike):
        return "X is a path or text, not a table; read the file first: pd.read_csv(...)"
    if isinstance(X, Mapping) and not hasattr(X, "toarray"):  # a sparse matrix may be one, of its cells
        one = all(isinstance(cell, str) or not hasattr(cell, "__len__") for cell in X.values())
        return f"X is a mapping; pass a DataFrame: pd.DataFrame({'[X]' if one else 'X'})"
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], Mapping):
        return "X is a list of mappings; pass a DataFrame: pd.DataFrame(X)"
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        return "X is a structured array; pass a DataFrame: pd.DataFrame(X)"
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
    """Warn about classes that are spelled alike, and about classes that look like missing values."""
    classes = list(classes)
    warn_of_spellings("y", classes, "classes")
    blank = [label for label in classes if isinstance(label, str) and is_missing(label)]
    if blank:
        kept = "a class" if len(blank) == 1 else "classes"
        message = (
            f"y holds {listed(blank)}, kept as {kept}; in X this text counts as missing; drop these rows if "
            "their labels are unknown"
        )
        warnings.warn(AsklessWarning("missing_as_class", message, choices=blank), stacklevel=3)


def checked_numbers(y: Any, X: Any) -> np.ndarray:
    """(n,) finite numbers for the rows of X."""
    values = _one_dimensional(y, X)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TableError("bad_label", f"y must hold numbers for a regression ({error})") from None
    if not np.isfinite(numbers).all():
        row = int(np.isfinite(numbers).argmin())
        message = f"y has NaN or infinity, first in row {row} (0-based)"
        raise TableError("bad_label", message, row=row, value=float(numbers[row]))
    row = int(np.abs(numbers).argmax())
    if abs(numbers[row]) > LARGEST_TARGET:
        message = f"y has {numbers[row]:g} in row {row} (0-based); the limit is {LARGEST_TARGET:g}"
        raise TableError("bad_label", message, row=row, value=float(numbers[row]), high=LARGEST_TARGET)
    return numbers


def _one_dimensional(y: Any, X: Any) -> np.ndarray:
    if y is None:
        raise TableError("required", "estimator requires y to be passed, but the target y is None", name="y")
    check_row_labels(X, y, "y")
    if hasattr(y, "to_pylist"):  # pyarrow
        y = y.to_pylist()
    elif not isinstance(y, (np.ndarray, list, tuple)) and hasattr(y, "to_numpy"):
        y = y.to_numpy()
    values: np.ndarray = column_or_1d(y, warn=True)
    if len(values) != len(X):
        check_consistent_length(np.empty(len(X)), values)
    if values.dtype.kind in "cmM":
        message = f"y has the type {values.dtype}; expected text, numbers or booleans"
        raise TableError("bad_label", message, value=str(values.dtype))
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.isinf(values).argmax())
        message = f"y has infinity, first in row {row} (0-based)"
        raise TableError("bad_label", message, row=row, value=float(values[row]))
    missing = np.flatnonzero(pd.isna(values))
    if len(missing):
        message = f"y has {len(missing)} missing value(s) (NaN), first in row {missing[0]} (0-based); drop these rows"
        raise TableError("bad_label", message, row=int(missing[0]), rows=len(missing))
    if values.dtype.kind == "O":  # dates, intervals and other objects are no labels
        cells = values.tolist()
        strange = {kind for kind in set(map(type, cells)) if not issubclass(kind, LABELS) or issubclass(kind, DATES)}
        if strange:
            row = next(i for i, cell in enumerate(cells) if type(cell) in strange)
            kind = type(cells[row]).__name__
            message = f"y has values of type {kind}, first in row {row} (0-based); expected text, numbers or booleans"
            raise TableError("bad_label", message, row=row, value=kind)
    return values


def seed_of(random_state: Any) -> int:
    """A seed: an integer as it is, or a draw from anything else that scikit-learn accepts as a random state."""
    if is_whole(random_state):
        if not 0 <= random_state < 2**63:
            message = f"random_state must be at least 0 and below 2**63, not {random_state}"
            raise ParameterError("out_of_range", message, name="random_state", value=int(random_state))
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
