"""Random crops and mirror images: other views of the training images, in which the label stays the same."""

from __future__ import annotations

import torch
from torch import Tensor

from askless.core import Grid

__all__ = ["Views", "views_for"]

SHIFT = 1 / 8  # of the shorter side: 4 of 32 pixels


class Views:
    """Draws views, each a number, and shows images in them.

    A crop shifts the image by up to `shift` pixels each way; what comes in from outside is 0. A state keeps its view
    while it is asked, so that what was asked fits what is seen.
    """

    def __init__(self, grid: Grid, *, flips: bool) -> None:
        self.grid = grid
        self.shift = max(1, round(SHIFT * min(grid.height, grid.width)))
        self.places = 2 * self.shift + 1  # along each side
        self.count = self.places**2 * (2 if flips else 1)

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """(count,) random views."""
        return torch.randint(self.count, (count,), generator=generator)

    def show(self, x: Tensor, view: Tensor) -> Tensor:
        """(b, columns) the images (b, columns) in the views (b,)."""
        grid, shift, places = self.grid, self.shift, self.places
        mirrored, place = view // places**2, view % places**2
        down, right = place // places, place % places  # (b,) from 0 to twice the shift
        row = torch.arange(grid.height) + down[:, None]  # (b, height) among the padded image's rows
        column = torch.arange(grid.width) + right[:, None]
        column = torch.where(mirrored[:, None] > 0, column.flip(1), column)
        padded = torch.nn.functional.pad(grid.to_pixels(x), (0, 0, shift, shift, shift, shift))
        height, width = padded.shape[1:3]
        image = torch.arange(len(x))[:, None, None] * (height * width)
        at = image + row[:, :, None] * width + column[:, None, :]  # (b, height, width)
        shown = padded.reshape(-1, grid.channels).index_select(0, at.view(-1))
        return grid.to_columns(shown.view(len(x), grid.height, grid.width, grid.channels))  # type: ignore[no-any-return]


def views_for(grid: Grid | None, augment: str, *, complete: bool) -> Views | None:
    """What the setting `augment` means: None for "none", "crops", or "crops+flips"."""
    if augment == "none":
        return None
    assert grid is not None  # `Method.fit` refuses tables
    if not complete:
        raise ValueError(f"augment is {augment!r}, which needs images without missing pixels")
    return Views(grid, flips=augment == "crops+flips")
