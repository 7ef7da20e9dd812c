"""The layer of selectors: each draws one feature from a Concrete distribution, together they are a soft mask."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from askless.nn import MaskedNet, relaxed_gradient, relaxed_selection

__all__ = ["SPEED", "SelectingNetwork", "Selections", "distinct_choices"]

SPEED = 10.0
"""How much faster the selectors move than other weights, and how much further weight decay lets them go.

A choice among many features needs logits that differ by several units, while the optimiser's steps and decay suit
weights well below one."""


class SelectingNetwork(nn.Module):
    """Selectors (k, features) and the network that predicts from what they select."""

    def __init__(self, n_selectors: int, n_features: int, predictor: MaskedNet, generator: torch.Generator) -> None:
        super().__init__()
        start = 0.1 * torch.randn(n_selectors, n_features, generator=generator)
        self.selectors = nn.Parameter(start / SPEED)
        self.predictor = predictor

    @property
    def logits(self) -> Tensor:
        """(k, features) of each selector."""
        return SPEED * self.selectors.detach()


class Selections:
    """Draws of the first selectors, relaxed, as soft masks, and the way back to the selectors' logits.

    The original feeds one number for each selector into the network. Features here may have several columns, so the
    network takes masked values and the mask instead: a feature's mask is the sum of the selectors' mass on it, at
    most 1. What two selectors choose counts once, and gives them no gradient, so that one of them goes elsewhere.
    """

    def __init__(
        self,
        logits: Tensor,  # (k, features)
        gumbel: Tensor,  # (draws, k, features)
        used: Tensor,  # (draws, k) 1 for the selectors that take part, 0 for the others
        temperature: float,
    ) -> None:
        draws, k, features = gumbel.shape
        each = logits.expand(draws, k, features).reshape(-1, features)
        free = logits.new_zeros(())  # every selector may choose everything
        self._soft, _ = relaxed_selection(each, gumbel.reshape(-1, features), free, temperature)
        self._used, self._temperature = used, temperature
        total = torch.bmm(used[:, None, :], self._soft.view(draws, k, features)).squeeze(1)
        self._below = total < 1.0
        self.mask = total.clamp_max(1.0)  # (draws, features)

    def gradient(self, g: Tensor) -> Tensor:
        """(k, features) that of the logits, given that of the masks (draws, features)."""
        draws, k = self._used.shape
        each = (g * self._below)[:, None, :] * self._used[:, :, None]  # (draws, k, features)
        flat = relaxed_gradient(each.view(draws * k, -1), self._soft, self._temperature)
        return flat.view(draws, k, -1).sum(dim=0)


def distinct_choices(logits: Tensor) -> Tensor:
    """(k,) the feature of each selector; of those that want the same, later ones take their best that is free."""
    left = logits.clone()
    choices = []
    for row in left:
        choices.append(int(row.argmax()))
        left[:, choices[-1]] = -torch.inf
    return torch.tensor(choices)
