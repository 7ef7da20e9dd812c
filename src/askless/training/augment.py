"""Other views of the training images, in which the label stays the same: shifted, mirrored or slightly bent ones."""

from __future__ import annotations

from math import radians

import torch
from torch import Tensor

from askless.core import Grid

__all__ = ["Views", "crops", "tilts", "views_for"]

SHIFT = 1 / 8  # of the shorter side: 4 of 32 pixels
TILTS = 1024
TURN, SLANT, STRETCH = radians(10), 0.1, 0.05  # the most, either way


class Views:
    """Draws views, each a number, and shows images in them.

    A view says for each pixel of the image from which one it comes. What comes in from outside is 0. A state keeps
    its view while it is asked, so that what was asked fits what is seen.
    """

    def __init__(self, grid: Grid, row: Tensor, column: Tensor) -> None:
        """`row` and `column`, together (views, height, width): where pixels come from, in the image or out of it."""
        inside = (row >= 0) & (row < grid.height) & (column >= 0) & (column < grid.width)
        outside = grid.height * grid.width  # the place of a pixel that is 0
        self.grid = grid
        self.source = torch.where(inside, row * grid.width + column, outside).flatten(1)  # (views, pixels)

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """(count,) random views."""
        return torch.randint(len(self.source), (count,), generator=generator)

    def show(self, x: Tensor, view: Tensor) -> Tensor:
        """(b, columns) the images (b, columns) in the views (b,)."""
        grid = self.grid
        pixels = grid.to_pixels(x).reshape(len(x), -1, grid.channels)
        pixels = torch.nn.functional.pad(pixels, (0, 0, 0, 1))  # (b, pixels + 1, channels)
        at = self.source.index_select(0, view) + torch.arange(len(x))[:, None] * pixels.shape[1]
        shown = pixels.view(-1, grid.channels).index_select(0, at.view(-1))
        return grid.to_columns(shown.view(len(x), grid.height, grid.width, grid.channels))  # type: ignore[no-any-return]


def crops(grid: Grid, *, flips: bool) -> Views:
    """Images shifted by up to an eighth of their shorter side each way, and mirrored too."""
    shift = max(1, round(SHIFT * min(grid.height, grid.width)))
    places = torch.arange(-shift, shift + 1)
    mirrored, down, right = torch.meshgrid(torch.arange(1 + flips), places, places, indexing="ij")
    row = torch.arange(grid.height)[:, None] + down.reshape(-1, 1, 1)
    column = torch.arange(grid.width)[None, :] + right.reshape(-1, 1, 1)
    column = torch.where(mirrored.reshape(-1, 1, 1) > 0, column.flip(2), column)
    return Views(grid, row, column)


def tilts(grid: Grid) -> Views:
    """Images as they are, half of the time, or slightly turned, slanted and stretched about their middle.

    Each pixel is that of the nearest place, not a mean of its neighbours: the background stays a background.
    """
    middle = torch.tensor([(grid.height - 1) / 2, (grid.width - 1) / 2])
    down, right = torch.meshgrid(torch.arange(grid.height), torch.arange(grid.width), indexing="ij")
    place = torch.stack([down, right], dim=-1) - middle  # (height, width, 2)
    came_from = torch.einsum("vij,hwj->vhwi", _linear_maps(), place) + middle
    return Views(grid, *came_from.round().long().unbind(dim=-1))


def _linear_maps() -> Tensor:
    """(TILTS, 2, 2) of places (down, right) from the middle: stretched, then slanted, then turned."""
    source = torch.Generator().manual_seed(0)
    turn, slant, tall, wide = 2.0 * torch.rand(4, TILTS, generator=source) - 1.0
    sine, cosine = torch.sin(TURN * turn), torch.cos(TURN * turn)
    turned = torch.stack([cosine, -sine, sine, cosine], dim=1).view(-1, 2, 2)
    height, width = 1.0 + STRETCH * tall, 1.0 + STRETCH * wide
    bent = torch.stack([height, torch.zeros(TILTS), SLANT * slant * height, width], dim=1).view(-1, 2, 2)
    as_it_is = torch.arange(TILTS) % 2 == 0
    return torch.where(as_it_is[:, None, None], torch.eye(2), turned @ bent)


def views_for(grid: Grid | None, augment: str, *, complete: bool) -> Views | None:
    """What the setting `augment` means: None for "none", "crops", "crops+flips" or "tilts"."""
    if augment == "none":
        return None
    assert grid is not None  # `Method.fit` refuses tables
    if not complete:
        raise ValueError(f"augment is {augment!r}, which needs images without missing pixels")
    return tilts(grid) if augment == "tilts" else crops(grid, flips=augment == "crops+flips")
