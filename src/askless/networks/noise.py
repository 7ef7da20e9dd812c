"""Gumbel noise that is drawn once and read at random offsets.

Drawing it costs several times the matrix products it goes with; reading a bank is a view, without a copy.
"""

import torch
from torch import Tensor

__all__ = ["GumbelBank", "gumbel_noise"]


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
