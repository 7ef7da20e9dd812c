"""Gates with Gaussian noise: z = clip(mean + sigma * noise, 0, 1), one for each feature."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from askless.nn import MaskedNet

__all__ = ["SPEED", "GatedNetwork", "Gates", "expected_open", "expected_open_gradient"]

HALF_OPEN = 0.5  # where every mean starts, as in the paper
SPEED = 5.0
"""How much faster the means move than other weights, and how much further weight decay lets them go.

Decay pulls the means towards a half, where they started; faster ones feel it less."""


class GatedNetwork(nn.Module):
    """A gate for each feature and the network that predicts from what comes through."""

    def __init__(self, n_features: int, predictor: MaskedNet) -> None:
        super().__init__()
        self.moved = nn.Parameter(torch.zeros(n_features))
        self.predictor = predictor

    @torch.no_grad()
    def bound(self) -> None:
        """Pull the means back to 1 at most: beyond, neither the loss nor the penalty would ever move them again."""
        self.moved.clamp_(max=(1.0 - HALF_OPEN) / SPEED)

    @property
    def means(self) -> Tensor:
        """(features,) of the gates; those above 0 are open."""
        return HALF_OPEN + SPEED * self.moved.detach()


class Gates:
    """Draws of the gates, and the way back to their means."""

    def __init__(self, means: Tensor, noise: Tensor, sigma: float) -> None:
        drawn = torch.add(means, noise, alpha=sigma)
        self._inside = (drawn > 0.0) & (drawn < 1.0)
        self.mask = drawn.clamp_(0.0, 1.0)  # (b, features)

    def gradient(self, g: Tensor) -> Tensor:
        """(features,) that of the means, given that of the mask (b, features); none where it was clipped."""
        return (g * self._inside).sum(dim=0)


def expected_open(means: Tensor, sigma: float) -> Tensor:
    """The expected number of gates above 0: the sum of the normal distribution at mean / sigma."""
    chances: Tensor = torch.special.ndtr(means / sigma)
    return chances.sum()


def expected_open_gradient(means: Tensor, sigma: float) -> Tensor:
    """(features,) the gradient of `expected_open`: the normal density at each mean."""
    return torch.exp(-0.5 * (means / sigma).square()) / (sigma * math.sqrt(2.0 * math.pi))
