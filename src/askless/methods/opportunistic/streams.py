"""Training rows that are asked question after question, many at once."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from askless.training import States, Tensors

__all__ = ["Streams", "states_of"]


def states_of(rows: Tensors, row: Tensor, asked: Tensor) -> States:
    """The states of the given rows (b,) with what was asked of them (b, features)."""
    x, y = rows.x.index_select(0, row), rows.y.index_select(0, row)
    if rows.complete:
        return States(x, y, asked)
    present, askable = (part.index_select(0, row).to(x.dtype) for part in (rows.present, rows.askable))
    return States(x, y, asked, present, askable)


class Streams:
    """So many cases at once; one that has been asked all that it may be is replaced by another row."""

    def __init__(self, rows: Tensors, max_features: int, count: int, seed: int) -> None:
        self.rows = rows
        able = torch.from_numpy(rows.askable.numpy().sum(axis=1, dtype=np.int64))  # torch would copy it in 64 bits
        self.last = able.clamp(max=max_features)  # (rows,) how many questions each row is asked
        self._useful = able.nonzero().squeeze(1)  # a row that cannot be asked anything teaches nothing
        self.row = self._some_rows(count, torch.Generator().manual_seed(seed))  # (count,)
        self.asked = torch.zeros(count, rows.present.shape[1], dtype=torch.uint8)

    def states(self) -> States:
        """What is known of each case."""
        return states_of(self.rows, self.row, self.asked)

    def move(self, pick: Tensor, generator: torch.Generator) -> None:
        """Ask each case for what was picked (count,)."""
        self.asked.scatter_(1, pick[:, None], 1)
        ended = (self.asked.sum(dim=1) >= self.last[self.row]).nonzero().squeeze(1)
        self.asked[ended] = 0
        self.row[ended] = self._some_rows(len(ended), generator)

    def _some_rows(self, count: int, generator: torch.Generator) -> Tensor:
        return self._useful[torch.randint(len(self._useful), (count,), generator=generator)]

    def tensors(self) -> dict[str, Tensor]:
        """Where each case stands."""
        return {"row": self.row, "asked": self.asked}
