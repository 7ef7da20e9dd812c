"""Images as columns: square patches side by side, the pixels of a patch together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from askless.exceptions import ParameterError


@dataclass(frozen=True)
class Grid:
    """How an image is cut into square patches, each a feature.

    Encoded columns go patch by patch, row by row of patches; within a patch pixel by pixel, row by row; within a
    pixel channel by channel. The methods take numpy arrays and torch tensors.

    >>> import numpy as np
    >>> grid = Grid(height=2, width=4, channels=1, patch_size=2)
    >>> grid.names
    ('row 0, column 0', 'row 0, column 1')
    >>> grid.to_pixels(np.arange(8.0)[None])[0, :, :, 0].tolist()
    [[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]]
    """

    height: int  # of the image, in pixels
    width: int
    channels: int
    patch_size: int  # the side of a patch, in pixels

    def __post_init__(self) -> None:
        sizes = (self.height, self.width, self.channels, self.patch_size)
        if not all(type(size) is int and size > 0 for size in sizes):
            message = f"height, width, channels and patch_size must be positive integers, not {sizes!r}"
            raise ParameterError(
                "out_of_range", message, name="height, width, channels, patch_size", value=sizes, low=1
            )
        if self.height % self.patch_size or self.width % self.patch_size:
            raise ParameterError(
                "wrong_shape",
                f"patch_size is {self.patch_size}; it must divide the images' {self.height} x {self.width} pixels",
                name="patch_size",
                value=self.patch_size,
                shape=(self.height, self.width),
            )

    @property
    def rows(self) -> int:
        """Of patches."""
        return self.height // self.patch_size

    @property
    def columns(self) -> int:
        """Of patches."""
        return self.width // self.patch_size

    @property
    def n_patches(self) -> int:
        """How many patches there are."""
        return self.rows * self.columns

    @property
    def patch_columns(self) -> int:
        """How many encoded columns a patch has."""
        return self.patch_size**2 * self.channels

    @property
    def n_columns(self) -> int:
        """How many encoded columns there are."""
        return self.n_patches * self.patch_columns

    @property
    def names(self) -> tuple[str, ...]:
        """The patches by their places, counted from 0, row by row."""
        return tuple(f"row {r}, column {c}" for r in range(self.rows) for c in range(self.columns))

    def to_pixels(self, x: Any) -> Any:
        """(n, height, width, channels) images from encoded columns (n, columns)."""
        p = self.patch_size
        cut = x.reshape(len(x), self.rows, self.columns, p, p, self.channels)
        return cut.swapaxes(2, 3).reshape(len(x), self.height, self.width, self.channels)

    def to_columns(self, pixels: Any) -> Any:
        """(n, columns) encoded columns from images (n, height, width[, channels])."""
        p = self.patch_size
        cut = pixels.reshape(len(pixels), self.rows, p, self.columns, p, self.channels)
        return cut.swapaxes(2, 3).reshape(len(pixels), self.n_columns)

    def upsample(self, mask: Any) -> Any:
        """(n, height, width) the number of each pixel's patch, from one for each patch (n, features)."""
        row, column = np.ogrid[: self.height, : self.width]
        return mask[:, row // self.patch_size * self.columns + column // self.patch_size]
