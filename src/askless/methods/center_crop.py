"""Patches from the middle of an image outwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.acquisition import Grid
from askless.methods.static import Order, StaticMethod, ranked
from askless.training import Checkpoint, Problem, Progress


@dataclass(eq=False, repr=False, kw_only=True)
class CenterCrop(StaticMethod):
    """Asks for the patches of an image from its centre outwards: what a photographer's eye is worth.

    A control of Covert et al. (2023) for images, whose subject is mostly in the middle. Patches go by the distance of
    their centre from the image's centre. Of equally distant ones the upper comes first, then the left.

    Parameters
    ----------
    hidden, dropout, network, augment, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for
        `Greedy`.
    """

    kind = "control"
    needs_images = True

    def _order(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Order:
        return ranked(-distances(problem.grid), problem, [])


def distances(grid: Grid) -> np.ndarray:
    """(patches,) how far each patch is from the centre, squared, in halves of a patch: whole numbers."""
    row, column = np.divmod(np.arange(grid.n_patches), grid.columns)
    down, right = 2 * row + 1 - grid.rows, 2 * column + 1 - grid.columns
    return (down**2 + right**2).astype(np.float64)
