"""Training a predictor on random sets of known features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from askless.nn import Dropout, MaskedNet
from askless.training.augment import views_for
from askless.training.data import Problem

__all__ = [
    "Sampler",
    "SubsetLearner",
    "bernoulli_sets",
    "full_sets",
    "mixed_sets",
    "prefix_sets",
    "uniform_sets",
]

ROWS_PER_EPOCH = 1 << 17

Sampler = Callable[[Tensor, torch.Generator], Tensor]
"""From what can be asked (b, features) bool, draws the sets that are asked (b, features) bool."""


def bernoulli_sets(askable: Tensor, generator: torch.Generator) -> Tensor:
    """Each row keeps each feature with probability u^2, u uniform: all sizes, small ones more often."""
    b, features = askable.shape
    keep = torch.rand(b, 1, generator=generator).square()
    return (torch.rand(b, features, generator=generator) < keep) & askable


def full_sets(askable: Tensor, generator: torch.Generator) -> Tensor:
    """All features that can be asked."""
    return askable


def uniform_sets(largest: int) -> Sampler:
    """Sets of 0 to `largest` features, every size and every member equally likely."""

    def draw(askable: Tensor, generator: torch.Generator) -> Tensor:
        return _top(torch.rand(askable.shape, generator=generator), askable, largest, generator)

    return draw


def prefix_sets(scores: Tensor, largest: int) -> Sampler:
    """The first 0 to `largest` features of a fixed order, given by scores (features,), that can be asked."""

    def draw(askable: Tensor, generator: torch.Generator) -> Tensor:
        return _top(scores.expand(askable.shape), askable, largest, generator)

    return draw


def mixed_sets(first: Sampler, second: Sampler, share: float) -> Sampler:
    """Sets of the first sampler, and for about this share of the rows of the second."""

    def draw(askable: Tensor, generator: torch.Generator) -> Tensor:
        swapped = torch.rand(len(askable), 1, generator=generator) < share
        return torch.where(swapped, second(askable, generator), first(askable, generator))

    return draw


def _top(scores: Tensor, askable: Tensor, largest: int, generator: torch.Generator) -> Tensor:
    """The best-scored askable features of each row, a uniform number of them."""
    best = torch.where(askable, scores, -torch.inf).topk(min(largest, askable.shape[1]), dim=1).indices
    limit = askable.sum(dim=1).clamp(max=largest)
    size = (torch.rand(len(askable), generator=generator) * (limit + 1)).long()
    taken = torch.arange(best.shape[1]) < size[:, None]  # (b, largest)
    return torch.zeros_like(askable).scatter_(1, best, taken)


class SubsetLearner:
    """Trains a predictor on sets that `sampler` draws anew for every batch."""

    def __init__(
        self,
        module: MaskedNet,
        problem: Problem,
        dropout: Dropout,
        sampler: Sampler,
        batch_size: int,
        seed: int,
        augment: str = "none",
    ) -> None:
        self.module = module
        self.rows, self.valid = problem.tensors("train"), problem.tensors("sample")
        self.dropout, self.sampler, self.batch_size = dropout, sampler, batch_size
        self._views = views_for(problem.schema.grid, augment, complete=self.rows.complete)
        fixed = torch.Generator().manual_seed(seed)  # drawn once: validation must not chase noise
        self.valid_mask = (sampler(self.valid.askable, fixed) & self.valid.present).float()

    @property
    def n_batches(self) -> int:
        """Batches in an epoch."""
        return -(-min(len(self.rows), ROWS_PER_EPOCH) // self.batch_size)

    def begin(self) -> None:
        """Nothing to prepare."""

    def batches(self, generator: torch.Generator) -> Sequence[Tensor]:
        """Random batches of rows; an epoch of a large table takes some of them."""
        n, b = len(self.rows), self.batch_size
        if n <= ROWS_PER_EPOCH:
            return torch.split(torch.randperm(n, generator=generator), b)
        if not self.rows.problem.scratch.on_disk:
            return torch.split(torch.randint(n, (ROWS_PER_EPOCH,), generator=generator), b)
        starts = torch.randint(n - b + 1, (self.n_batches,), generator=generator)  # rows lie there in random order
        return [torch.arange(start, start + b) for start in starts.tolist()]

    def gradients(self, batch: Tensor, temperature: float) -> Tensor:
        """The predictor's mean loss on random sets of the batch's features."""
        rows = self.rows
        present, askable = rows.present.index_select(0, batch), rows.askable.index_select(0, batch)
        mask = (self.sampler(askable, self.dropout.generator) & present).float()
        x, y = self.examples(batch)
        run = self.module(rows.inputs(x, mask), self.dropout)
        run.backward(rows.loss_gradient(run.outputs, y).div_(len(batch)))
        return rows.loss(run.outputs, y).mean()

    def examples(self, batch: Tensor) -> tuple[Tensor, Tensor]:
        """The batch's complete values (b, columns), each image in a view of its own, and labels (b,)."""
        x, y = self.rows.x.index_select(0, batch), self.rows.y.index_select(0, batch)
        if self._views is not None:
            x = self._views.show(x, self._views.draw(len(x), self.dropout.generator))
        return x, y

    def validate(self, module: MaskedNet, temperature: float) -> dict[str, float]:
        """The mean loss on the validation rows, with the same sets each time."""
        valid = self.valid
        outputs = module.evaluated(valid.inputs(valid.x, self.valid_mask))
        return {"loss": float(valid.loss(outputs, valid.y).mean())}

    def tensors(self) -> dict[str, Tensor]:
        """Nothing beyond the module."""
        return {}
