"""The Concrete relaxation of a selection (Maddison et al. 2017; Jang et al. 2017), and Gumbel noise."""

from __future__ import annotations

import torch
from torch import Tensor

NEVER = -1e9  # a logit this low gets no mass, and unlike an infinite one it can be reached by adding


def relaxed_selection(
    logits: Tensor,  # (b, features)
    gumbel: Tensor,  # (b, features)
    blocked: Tensor,  # (b, features) 1 for what is not allowed, 0 for what is; each row has at least one 0
    temperature: float,
) -> tuple[Tensor, Tensor]:
    """A Concrete sample (b, features) among the features that are not blocked, and the index (b,) it tends to.

    Blocked features get no mass. Left in the softmax, most of a trained policy's mass would fall on features that
    are known already, and teach nothing.
    """
    perturbed = (logits + gumbel).add(blocked, alpha=NEVER)
    return torch.softmax(perturbed / temperature, dim=1), perturbed.argmax(dim=1)


def gumbel_noise(*shape: int) -> Tensor:
    """Standard Gumbel noise."""
    return -torch.empty(*shape).exponential_().clamp_min_(1e-30).log_()


class GumbelBank:
    """Pre-drawn Gumbel noise."""

    SMALLEST, LARGEST = 1 << 16, 1 << 22  # numbers; a bank is 16 batches, between these

    def __init__(self, batch_size: int, n_features: int) -> None:
        batch = batch_size * n_features
        self._bank = gumbel_noise(max(min(max(16 * batch, self.SMALLEST), self.LARGEST), 2 * batch))

    def draw(self, rows: int, columns: int) -> Tensor:
        """(rows, columns) of standard Gumbel noise."""
        count = rows * columns
        start = int(torch.randint(self._bank.numel() - count + 1, ()))
        return self._bank[start : start + count].view(rows, columns)
