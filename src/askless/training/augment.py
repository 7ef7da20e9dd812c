"""Other views of the training images, in which the label stays the same: shifted, mirrored or slightly bent ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from math import radians

import torch
from torch import Tensor

from askless.acquisition import Grid

__all__ = ["VIEWS", "Views", "crops", "late_tilts", "tilts"]

SHIFT = 1 / 8  # of the shorter side: 4 of 32 pixels
TILTS = 1024
TURN, SLANT, STRETCH = radians(10), 0.1, 0.05  # the most, either way
UPRIGHT = 16  # questions, in the mean, before an image is tilted late
MOST_PLACES = 1 << 22  # of all pixels in all views, that are kept instead of being found anew for every batch


class Views:
    """Draws views, each a number, and shows images in them.

    A view is a linear map about the middle of the image, and a shift: from where each pixel comes. The nearest pixel
    is taken, not a mean of neighbours, so that no new values arise. A state keeps its view while it is asked, or
    goes on to views like it: what was asked fits what is seen well enough, and the same picture seldom comes back.
    """

    def __init__(
        self,
        grid: Grid,
        maps: Tensor,
        shifts: Tensor,
        *,
        edge_repeats: bool,
        alike: Tensor | None = None,
        starts: int | None = None,
    ) -> None:
        self.grid = grid
        self.maps = maps  # (views, 2, 2) of places (down, right) from the middle
        self.shifts = shifts  # (views, 2) pixels
        self.edge_repeats = edge_repeats  # or what comes in from outside is 0
        self.alike = alike  # (views, k) to which each view may go on; None: to no other
        self.starts = len(maps) if starts is None else starts  # with one of the first so many views a chain begins
        sides = torch.tensor([grid.height, grid.width])
        self._middle = (sides - 1) / 2
        self._down, self._right = (torch.arange(side) - (side - 1) / 2 for side in sides.tolist())

    def draw(self, count: int) -> Tensor:
        """(count,) random views."""
        return torch.randint(len(self.maps), (count,))

    def beginning(self, count: int) -> Tensor:
        """(count,) random views for chains that begin."""
        return torch.randint(self.starts, (count,))

    def going_on(self, view: Tensor) -> Tensor:
        """(b,) random views like the views (b,)."""
        if self.alike is None:
            return view
        return self.alike[view, torch.randint(self.alike.shape[1], (len(view),))]

    def show(self, x: Tensor, view: Tensor) -> Tensor:
        """(b, columns) the images (b, columns) in the views (b,)."""
        grid = self.grid
        pixels = grid.to_pixels(x).reshape(len(x), -1, grid.channels)
        pixels = torch.nn.functional.pad(pixels, (0, 0, 0, 1))  # (b, pixels + 1, channels): the last one is outside
        at = self.sources(view).add_(torch.arange(len(x))[:, None] * pixels.shape[1])
        shown = pixels.view(-1, grid.channels).index_select(0, at.view(-1))
        return grid.to_columns(shown.view(len(x), grid.height, grid.width, grid.channels))

    def sources(self, view: Tensor) -> Tensor:
        """(b, pixels) from which pixel each one comes in the views (b,): its number, or the first beyond for none."""
        return self._found(view) if self._kept is None else self._kept.index_select(0, view)

    @cached_property
    def _kept(self) -> Tensor | None:
        """(views, pixels) the sources of all views, where they are not too many."""
        few = len(self.maps) * self.grid.height * self.grid.width <= MOST_PLACES
        return self._found(torch.arange(len(self.maps))) if few else None

    def _found(self, view: Tensor) -> Tensor:
        height, width = self.grid.height, self.grid.width
        row, column = self._places(view, 0), self._places(view, 1)  # (b, height, width) whole numbers
        if self.edge_repeats:
            row.clamp_(0, height - 1)
            column.clamp_(0, width - 1)
            return row.mul_(width).add_(column).flatten(1).long()
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        return torch.where(inside, row.mul_(width).add_(column), height * width).flatten(1).long()

    def _places(self, view: Tensor, axis: int) -> Tensor:
        """(b, height, width) from which row (axis 0) or column (1) each pixel comes."""
        along, across = self.maps[view, axis, 0, None], self.maps[view, axis, 1, None]
        start = self.shifts[view, axis, None] + self._middle[axis]
        place = torch.add((along * self._down + start)[:, :, None], (across * self._right)[:, None, :])
        return place.round_()


def crops(grid: Grid, *, flips: bool) -> Views:
    """Images shifted by up to an eighth of their shorter side each way, and mirrored too; black comes in."""
    shift = max(1, round(SHIFT * min(grid.height, grid.width)))
    places = torch.arange(-shift, shift + 1)
    views = torch.cartesian_prod(torch.arange(1 + flips), places, places)  # (views, 3) mirrored, down, right
    maps = torch.eye(2).repeat(len(views), 1, 1)
    maps[views[:, 0] > 0, 1, 1] = -1.0
    alike = views[:, :1] * len(places) ** 2 + torch.arange(len(places) ** 2)  # any shift, mirrored as before
    return Views(grid, maps, views[:, 1:].float(), edge_repeats=False, alike=alike)


def tilts(grid: Grid) -> Views:
    """Images slightly turned, slanted and stretched about their middle."""
    source = torch.Generator().manual_seed(0)
    turn, slant, tall, wide = 2.0 * torch.rand(4, TILTS, generator=source) - 1.0
    sine, cosine = torch.sin(TURN * turn), torch.cos(TURN * turn)
    turned = torch.stack([cosine, -sine, sine, cosine], dim=1).view(-1, 2, 2)
    height, width = 1.0 + STRETCH * tall, 1.0 + STRETCH * wide
    bent = torch.stack([height, torch.zeros(TILTS), SLANT * slant * height, width], dim=1).view(-1, 2, 2)
    return Views(grid, turned @ bent, torch.zeros(TILTS, 2), edge_repeats=True)


def late_tilts(grid: Grid) -> Views:
    """Images as they are, which are tilted with every question by a chance of 1 in `UPRIGHT`, and stay so.

    Each view of an upright image has one tilt that it may go on to.
    """
    tilted = tilts(grid)
    upright = torch.eye(2).repeat(TILTS, 1, 1)
    alike = torch.arange(2 * TILTS)[:, None].repeat(1, UPRIGHT)
    alike[:TILTS, 0] += TILTS
    maps = torch.cat([upright, tilted.maps])
    return Views(grid, maps, torch.zeros(len(maps), 2), edge_repeats=True, alike=alike, starts=TILTS)


VIEWS: dict[str, Callable[[Grid], Views]] = {
    "crops": partial(crops, flips=False),
    "crops+flips": partial(crops, flips=True),
    "tilts": tilts,
    "late_tilts": late_tilts,
}
