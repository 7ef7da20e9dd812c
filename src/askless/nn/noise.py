"""Random numbers that are drawn once and read at random offsets.

Drawing Gumbel noise and dropout masks costs several times the matrix products they go with; reading a bank at a
random offset is a view, without a copy.
"""

import torch
from torch import Tensor

__all__ = ["NoiseBank", "gumbel_noise"]


def gumbel_noise(*shape: int, generator: torch.Generator) -> Tensor:
    """Standard Gumbel noise."""
    return -torch.empty(*shape).exponential_(generator=generator).clamp_min_(1e-30).log_()


class NoiseBank:
    """Pre-drawn Gumbel and dropout noise.

    The bank's content follows from the seed; `generator` only draws where to read, so its state is all that a
    checkpoint needs.
    """

    SMALLEST, LARGEST = 1 << 16, 1 << 22  # numbers; a bank is 16 batches of the widest layer, between these

    def __init__(self, batch_size: int, widest: int, dropout: float, generator: torch.Generator, seed: int) -> None:
        batch = batch_size * widest
        size = max(min(max(16 * batch, self.SMALLEST), self.LARGEST), 2 * batch)
        source = torch.Generator().manual_seed(seed)
        self.dropout_rate = dropout
        self.generator = generator
        self._gumbel = gumbel_noise(size, generator=source)
        self._keep = (torch.rand(size, generator=source) >= dropout).float().div_(1.0 - dropout)

    def gumbel(self, rows: int, columns: int) -> Tensor:
        """(rows, columns) of standard Gumbel noise."""
        return self._view(self._gumbel, rows, columns)

    def dropout(self, rows: int, columns: int) -> Tensor:
        """(rows, columns) of 0 and 1 / (1 - rate)."""
        return self._view(self._keep, rows, columns)

    def _view(self, bank: Tensor, rows: int, columns: int) -> Tensor:
        count = rows * columns
        start = int(torch.randint(bank.numel() - count + 1, (1,), generator=self.generator))
        return bank[start : start + count].view(rows, columns)
