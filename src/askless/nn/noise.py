"""Random numbers that are drawn once and read at random offsets.

Drawing Gumbel noise costs several times the matrix products it goes with; reading a bank at a random offset is a
view, without a copy.
"""

import torch
from torch import Tensor

__all__ = ["GumbelBank", "gumbel_noise"]


def gumbel_noise(*shape: int, generator: torch.Generator) -> Tensor:
    """Standard Gumbel noise."""
    return -torch.empty(*shape).exponential_(generator=generator).clamp_min_(1e-30).log_()


class GumbelBank:
    """Pre-drawn Gumbel noise.

    The bank's content follows from the seed; `generator` only draws where to read, so its state is all that a
    checkpoint needs.
    """

    SMALLEST, LARGEST = 1 << 16, 1 << 22  # numbers; a bank is 16 batches, between these

    def __init__(self, batch_size: int, n_features: int, generator: torch.Generator, seed: int) -> None:
        batch = batch_size * n_features
        size = max(min(max(16 * batch, self.SMALLEST), self.LARGEST), 2 * batch)
        self.generator = generator
        self._bank = gumbel_noise(size, generator=torch.Generator().manual_seed(seed))

    def draw(self, rows: int, columns: int) -> Tensor:
        """(rows, columns) of standard Gumbel noise."""
        count = rows * columns
        start = int(torch.randint(self._bank.numel() - count + 1, (), generator=self.generator))
        return self._bank[start : start + count].view(rows, columns)
