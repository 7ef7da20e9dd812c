"""Training a predictor on random sets of known features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from askless.nn import MaskedMLP, NoiseBank
from askless.training.data import Problem

__all__ = ["Sampler", "SubsetLearner", "bernoulli_sets", "prefix_sets", "uniform_sets"]

Sampler = Callable[[Tensor, torch.Generator], Tensor]
"""From what can be asked (b, features) bool, draws the sets that are asked (b, features) bool."""


def bernoulli_sets(askable: Tensor, generator: torch.Generator) -> Tensor:
    """Each row keeps each feature with probability u^2, u uniform: all sizes, small ones more often."""
    b, features = askable.shape
    keep = torch.rand(b, 1, generator=generator).square()
    return (torch.rand(b, features, generator=generator) < keep) & askable


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


def _top(scores: Tensor, askable: Tensor, largest: int, generator: torch.Generator) -> Tensor:
    """The best-scored askable features of each row, a uniform number of them."""
    ranked = torch.where(askable, scores, -torch.inf).argsort(dim=1, descending=True)
    rank = torch.empty_like(ranked).scatter_(
        1, ranked, torch.arange(askable.shape[1]).expand_as(ranked)
    )  # (b, features) place of each feature
    limit = askable.sum(dim=1).clamp(max=largest)
    size = (torch.rand(len(askable), generator=generator) * (limit + 1)).long()
    return (rank < size[:, None]) & askable


class SubsetLearner:
    """Trains a predictor on sets that `sampler` draws anew for every batch."""

    def __init__(
        self,
        module: MaskedMLP,
        problem: Problem,
        noise: NoiseBank,
        sampler: Sampler,
        batch_size: int,
        seed: int,
    ) -> None:
        self.module = module
        self.rows, self.valid = problem.tensors("train"), problem.tensors("valid")
        self.noise, self.sampler, self.batch_size = noise, sampler, batch_size
        fixed = torch.Generator().manual_seed(seed)  # drawn once: validation must not chase noise
        self.valid_mask = (sampler(self.valid.askable, fixed) & self.valid.present).float()

    @property
    def n_batches(self) -> int:
        """Batches in an epoch."""
        return -(-len(self.rows) // self.batch_size)

    def begin(self) -> None:
        """Nothing to prepare."""

    def batches(self, generator: torch.Generator) -> Sequence[Tensor]:
        """Random batches of rows."""
        return torch.split(torch.randperm(len(self.rows), generator=generator), self.batch_size)

    def loss(self, batch: Tensor, temperature: float) -> Tensor:
        """The predictor's mean loss on random sets of the batch's features."""
        rows = self.rows
        present, askable = rows.present.index_select(0, batch), rows.askable.index_select(0, batch)
        mask = (self.sampler(askable, self.noise.generator) & present).float()
        outputs = self.module(rows.masked(rows.x.index_select(0, batch), mask), mask, self.noise)
        return rows.loss(outputs, rows.y.index_select(0, batch)).mean()

    def validate(self, module: MaskedMLP, temperature: float) -> dict[str, float]:
        """The mean loss on the validation rows, with the same sets each time."""
        valid = self.valid
        with torch.no_grad():
            outputs = module(valid.masked(valid.x, self.valid_mask), self.valid_mask)
            return {"loss": float(valid.loss(outputs, valid.y).mean())}

    def tensors(self) -> dict[str, Tensor]:
        """Nothing beyond the module."""
        return {}
