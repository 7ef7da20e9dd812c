"""The most recent experiences: what was asked of a row, what was asked next, and how that was rewarded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

__all__ = ["Experiences", "Replay", "capacity"]

PER_FEATURE = 1000  # experiences that are kept for each feature
MOST_BYTES = 1 << 27


def capacity(n_features: int, most: int) -> int:
    """How many experiences to keep: 1000 for each feature, unless they are more than `most` or too much memory."""
    return max(1, min(PER_FEATURE * n_features, most, MOST_BYTES // (_bytes(n_features) + 3 * 8)))


def _bytes(n_features: int) -> int:
    return -(-n_features // 8)


@dataclass(frozen=True)
class Experiences:
    """Some experiences."""

    row: Tensor  # (b,) of the training table
    asked: Tensor  # (b, features) 0 or 1, before the question
    pick: Tensor  # (b,) the feature that was asked
    reward: Tensor  # (b,)

    @property
    def asked_after(self) -> Tensor:
        """(b, features) 0 or 1, with the question."""
        return self.asked.scatter(1, self.pick[:, None], 1)


class Replay:
    """A ring of experiences: new ones take the places of the oldest. Values are not kept, only rows and bits."""

    def __init__(self, size: int, n_features: int, dtype: torch.dtype) -> None:
        self.size, self.n_features = size, n_features
        self._row = torch.zeros(size, dtype=torch.int64)
        self._bits = torch.zeros(size, _bytes(n_features), dtype=torch.uint8)
        self._pick = torch.zeros(size, dtype=torch.int64)
        self._reward = torch.zeros(size, dtype=dtype)
        self.total = torch.zeros((), dtype=torch.int64)  # experiences so far, also those that are gone

    def __len__(self) -> int:
        return min(self.size, int(self.total))

    def add(self, new: Experiences) -> None:
        """Keep new experiences; of more than there is room for, the last."""
        count = len(new.row)
        first = max(0, count - self.size)
        places = (self.total + torch.arange(first, count)) % self.size
        self._row[places] = new.row[first:]
        self._bits[places] = torch.from_numpy(np.packbits(new.asked[first:].numpy(), axis=1))
        self._pick[places] = new.pick[first:]
        self._reward[places] = new.reward[first:]
        self.total += count

    def at(self, places: Tensor) -> Experiences:
        """The experiences at some places (b,), each below the length."""
        bits = self._bits.index_select(0, places).numpy()
        asked = torch.from_numpy(np.unpackbits(bits, axis=1, count=self.n_features))
        row, pick, reward = (part.index_select(0, places) for part in (self._row, self._pick, self._reward))
        return Experiences(row, asked, pick, reward)

    def tensors(self) -> dict[str, Tensor]:
        """Everything that is kept."""
        return {
            "replay_row": self._row,
            "replay_bits": self._bits,
            "replay_pick": self._pick,
            "replay_reward": self._reward,
            "replay_total": self.total,
        }
