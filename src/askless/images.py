"""Images as tables: a row for each, and its pixels row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from askless.acquisition import Grid
from askless.acquisition.numbers import is_whole
from askless.exceptions import TableError, bad_value

__all__ = ["flat_images", "image_grid", "is_images", "stacked_images"]


def is_images(X: Any) -> bool:
    """Whether X is an array of images, (n, height, width) or (n, height, width, channels)."""
    return isinstance(X, np.ndarray) and X.ndim in (3, 4)


def stacked_images(X: Any) -> Any:
    """A list of images, (height, width) or (height, width, channels) each, as one array; all else as it is."""
    if not isinstance(X, list | tuple) or not all(isinstance(each, np.ndarray) and each.ndim in (2, 3) for each in X):
        return X
    for i, image in enumerate(X):
        if image.shape != X[0].shape:
            message = (
                f"image {i} (0-based) of X has the shape {image.shape}, the first one {X[0].shape}; all images must "
                "have the same shape"
            )
            raise TableError("wrong_shape", message, row=i, shape=image.shape, expected=X[0].shape)
    return np.stack(X) if X else X


def flat_images(X: np.ndarray) -> np.ndarray:
    """(n, pixels times channels), row by row."""
    return X.reshape(len(X), -1)


def image_grid(shape: tuple[int, ...], patch_size: int | None) -> Grid:
    """How images of the shape (height, width[, channels]) are cut into patches; a size of None means single pixels.

    >>> image_grid((28, 28), 2).n_patches
    196
    """
    size: Any = 1 if patch_size is None else patch_size
    if not is_whole(size) or size < 1:
        raise bad_value(
            "out_of_range" if is_whole(size) else "wrong_type",
            "patch_size",
            patch_size,
            "an integer of at least 1",
            low=1,
        )
    height, width, channels = (*shape, 1)[:3]
    return Grid(height, width, channels, int(size))
