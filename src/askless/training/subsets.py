"""Training a predictor on random sets of known features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from askless.networks import MaskedNetwork
from askless.training.loop import Learner, seeded
from askless.training.problem import Problem

__all__ = [
    "Sampler",
    "SubsetLearner",
    "affordable",
    "bernoulli_sets",
    "full_sets",
    "mixed_sets",
    "paid_sets",
    "prefix_sets",
    "uniform_sets",
]

ROWS_PER_EPOCH = 1 << 17

Sampler = Callable[[Tensor], Tensor]
"""From what can be asked (b, features) bool, draws the sets that are asked (b, features) bool."""


def bernoulli_sets(askable: Tensor) -> Tensor:
    """Each row keeps each feature with probability u^2, u uniform: all sizes, small ones more often."""
    b, features = askable.shape
    keep = torch.rand(b, 1).square()
    return (torch.rand(b, features) < keep) & askable


def full_sets(askable: Tensor) -> Tensor:
    """All features that can be asked."""
    return askable


def uniform_sets(largest: int) -> Sampler:
    """Sets of 0 to `largest` features, every size and every member equally likely."""
    return partial(_top, None, largest)


def prefix_sets(scores: Tensor, largest: int) -> Sampler:
    """The first 0 to `largest` features of a fixed order, given by scores (features,), that can be asked."""
    return partial(_top, scores, largest)


def mixed_sets(first: Sampler, second: Sampler, share: float) -> Sampler:
    """Sets of the first sampler, and for about this share of the rows of the second."""

    def draw(askable: Tensor) -> Tensor:
        swapped = torch.rand(len(askable), 1) < share
        return torch.where(swapped, second(askable), first(askable))

    return draw


def _top(scores: Tensor | None, largest: int, askable: Tensor) -> Tensor:
    """The askable features of each row with the best scores (features,), or random ones; a uniform number of them."""
    scores = torch.rand(askable.shape) if scores is None else scores
    best = torch.where(askable, scores, -torch.inf).topk(min(largest, askable.shape[1]), dim=1).indices
    limit = askable.sum(dim=1).clamp(max=largest)
    size = (torch.rand(len(askable)) * (limit + 1)).long()
    taken = torch.arange(best.shape[1]) < size[:, None]  # (b, largest)
    return torch.zeros_like(askable).scatter_(1, best, taken)


SHORT = 0.3  # share of the training states that cannot pay for everything


def affordable(problem: Problem, n: int) -> Tensor:
    """(n, features) bool: what n cases can pay for a question: everything, or no more than some feature costs.

    In use a budget of money rules out what is too dear, so training has to see what is best of the rest.
    """
    prices = torch.from_numpy(problem.first_prices)
    limits = prices[torch.randint(len(prices), (n, 1))]
    rich = torch.rand(n, 1) >= SHORT
    return rich | (prices <= limits)


def paid_sets(sampler: Sampler, problem: Problem) -> Sampler:
    """The sets that a sampler draws among what the cases can pay."""

    def draw(askable: Tensor) -> Tensor:
        return sampler(askable & affordable(problem, len(askable)))

    return draw


class SubsetLearner(Learner):
    """Trains a predictor on sets that `sampler` draws anew for every batch."""

    def __init__(
        self,
        module: MaskedNetwork,
        problem: Problem,
        sampler: Sampler,
        *,
        batch_size: int,
        seed: int,
        augment: str = "none",
    ) -> None:
        self.module = module
        self.rows, self.valid = problem.rows("train"), problem.rows("sample")
        self.sampler, self.batch_size = sampler, batch_size
        self.n_batches = -(-min(len(self.rows), ROWS_PER_EPOCH) // batch_size)  # in an epoch
        self._views = problem.views(augment)
        with seeded(seed):  # drawn once: validation must not chase noise
            self.valid_mask = (sampler(self.valid.askable) & self.valid.present).float()

    def batches(self) -> Sequence[Tensor]:
        n = len(self.rows)
        order = torch.randperm(n) if n <= ROWS_PER_EPOCH else torch.randint(n, (ROWS_PER_EPOCH,))
        return torch.split(order, self.batch_size)

    def loss(self, batch: Tensor, temperature: float) -> Tensor:
        """The predictor's mean loss on random sets of the batch's features."""
        rows = self.rows
        present, askable = rows.present.index_select(0, batch), rows.askable.index_select(0, batch)
        x, y = self.examples(batch)
        mask = (self.sampler(askable) & present).to(x.dtype)
        return rows.loss(self.module(x, mask), y).mean()

    def examples(self, batch: Tensor) -> tuple[Tensor, Tensor]:
        """The batch's complete values (b, columns), each image in a view of its own, and labels (b,)."""
        x, y = self.rows.x.index_select(0, batch), self.rows.y.index_select(0, batch)
        if self._views is not None:
            x = self._views.show(x, self._views.draw(len(x)))
        return x, y

    def validate(self, module: MaskedNetwork, temperature: float) -> dict[str, float]:
        """The mean loss on the validation rows, with the same sets each time."""
        valid = self.valid
        outputs = module.evaluate(valid.x, self.valid_mask.to(valid.x.dtype))
        return {"loss": float(valid.loss(outputs, valid.y).mean())}
