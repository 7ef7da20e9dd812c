"""Images as tables: the features are pixels or square patches, with their channels together."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["flat_images", "is_images", "patch_groups"]


def is_images(X: Any) -> bool:
    """Whether X is an array of images, (n, height, width) or (n, height, width, channels)."""
    return isinstance(X, np.ndarray) and X.ndim in (3, 4)


def flat_images(X: np.ndarray) -> np.ndarray:
    """(n, pixels times channels), row by row."""
    return X.reshape(len(X), -1)


def patch_groups(shape: tuple[int, ...], patch_size: int | None) -> dict[str, list[int]]:
    """The columns of each patch of a flat image, by the patch's place; a size of None means single pixels.

    >>> patch_groups((2, 4), 2)
    {'row 0, column 0': [0, 1, 4, 5], 'row 0, column 1': [2, 3, 6, 7]}
    """
    size = 1 if patch_size is None else patch_size
    height, width = shape[:2]
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1 or height % size or width % size:
        raise ValueError(f"patch_size is {patch_size!r}; it must divide the images' {height} x {width} pixels")
    column = np.arange(int(np.prod(shape))).reshape(height, width, -1)
    return {
        f"row {r}, column {c}": column[r * size : (r + 1) * size, c * size : (c + 1) * size].ravel().tolist()
        for r in range(height // size)
        for c in range(width // size)
    }
