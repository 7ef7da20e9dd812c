"""Images as frames: the names of the columns, and square patches as features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from askless.acquisition.numbers import is_whole
from askless.datasets.base import Dataset, Info
from askless.exceptions import ParameterError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["image_dataset", "pixel_groups", "pixel_names"]

OPTIONS = ("patch_size", "pixels")


def pixel_names(shape: tuple[int, ...], channels: Sequence[str] = ()) -> list[str]:
    """The column names of images (height, width[, channels]): row by row, the channels of a pixel together.

    >>> pixel_names((1, 2)), pixel_names((1, 1, 2), ("red", "blue"))
    (['row 1, column 1', 'row 1, column 2'], ['row 1, column 1, red', 'row 1, column 1, blue'])
    """
    ends = [f", {channel}" for channel in channels] or [""]
    return [f"row {r + 1}, column {c + 1}{end}" for r, c, end in product(range(shape[0]), range(shape[1]), ends)]


def pixel_groups(shape: tuple[int, ...], side: int, channels: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """The columns of each square with a side of this many pixels; empty if each would be one column."""
    height, width = shape[:2]
    if not is_whole(side) or side < 1 or height % side or width % side:
        raise ParameterError(
            "out_of_range",
            f"patch_size must be an integer that divides {height} x {width} pixels, not {side!r}",
            name="patch_size",
            value=side,
            shape=(height, width),
        )
    if side == 1 and not channels:
        return {}
    names = np.array(pixel_names(shape, channels)).reshape(height, width, -1)
    return {
        _square(top, left, side): tuple(names[top : top + side, left : left + side].ravel().tolist())
        for top, left in product(range(0, height, side), range(0, width, side))
    }


def _square(top: int, left: int, side: int) -> str:
    if side == 1:
        return f"row {top + 1}, column {left + 1}"
    return f"rows {top + 1}-{top + side}, columns {left + 1}-{left + side}"


def image_dataset(
    images: np.ndarray,
    target: pd.Series,
    info: Info,
    patch_size: int = 1,
    pixels: Sequence[int] | None = None,
    channels: Sequence[str] = (),
) -> Dataset:
    """A data set of (n, height, width[, channels]) images.

    Squares with a side of `patch_size` pixels are one feature each. `pixels` selects pixels by their position (row
    by row, 0-based); the result is then a table without images.
    """
    import pandas as pd

    shape = images.shape[1:]
    groups = pixel_groups(shape, patch_size, channels)
    frame = pd.DataFrame(images.reshape(len(images), -1), columns=pixel_names(shape, channels), copy=False)
    if pixels is None:
        return Dataset(frame, target, replace(info, groups=groups, patch_size=int(patch_size)))
    if patch_size != 1:
        raise ParameterError(
            "conflicting_settings", "give patch_size or pixels, not both", name="pixels", value="patch_size"
        )
    kept = _checked_pixels(pixels, shape[0] * shape[1])
    names = np.array(pixel_names(shape, channels)).reshape(shape[0] * shape[1], -1)[kept]  # (pixels, channels)
    groups = {group: columns for group, columns in groups.items() if columns[0] in names[:, 0]}
    columns = names.ravel().tolist()
    return Dataset(frame[columns], target, replace(info, columns=len(columns), groups=groups, image_shape=None))


def _checked_pixels(pixels: Sequence[int], count: int) -> list[int]:
    kept = list(pixels)
    for pixel in kept:
        if not is_whole(pixel) or not 0 <= pixel < count:
            raise ParameterError(
                "out_of_range",
                f"pixels must be integers from 0 to {count - 1}; {pixel!r} is not",
                name="pixels",
                value=pixel,
                low=0,
                high=count - 1,
            )
    if not kept:
        raise ParameterError("required", "pixels must have at least one pixel", name="pixels", value=kept)
    if len(set(kept)) < len(kept):
        raise ParameterError("duplicate_name", "pixels has a pixel more than once", name="pixels", value=kept)
    return kept
