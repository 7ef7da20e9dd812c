"""Orders that do not depend on the answers: one that the user gives, and a random one for each case."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from askless.core import Policy
from askless.methods.base import Fitted, Method
from askless.methods.settings import NETWORK
from askless.models import RandomOrder, Ranking

if TYPE_CHECKING:
    from askless.training import Checkpoint, Problem, Progress, Sampler

__all__ = ["FixedOrder", "Random"]


class _StaticOrder(Method):
    """A policy that is known beforehand, and a predictor trained for the sets it leads to."""

    limits = NETWORK

    def __init__(
        self,
        *,
        hidden: tuple[int, ...] = (128, 128),
        dropout: float = 0.3,
        batch_size: int = 512,
        learning_rate: float = 3e-3,
        weight_decay: float = 1.0,
        epochs: int | None = None,
    ) -> None:
        self.hidden = hidden
        self.dropout = dropout
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.epochs = epochs

    @abstractmethod
    def _order(self, problem: Problem, seed: int) -> tuple[Policy, Sampler]:
        """The policy, and the sets of features that it leads to."""

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        from askless.training import fit_predictor

        policy, sampler = self._order(problem, seed)
        predictor, history = fit_predictor(
            problem,
            policy,
            sampler,
            hidden=self.hidden,
            dropout=self.dropout,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            epochs=self.epochs,
            seed=seed,
            progress=progress,
            checkpoint=checkpoint,
        )
        return Fitted(policy, predictor, history, {"epochs": len(history)})


class FixedOrder(_StaticOrder):
    """Asks everyone the same features in the same order.

    A questionnaire on paper: the control that a dynamic policy has to beat. The predictor is trained for exactly the
    sets that the order leads to.

    Parameters
    ----------
    order : names of features, first to last; those left out come after, in the table's order. None: the table's.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for `Greedy`.
    """

    def __init__(
        self,
        *,
        order: Sequence[str] | None = None,
        hidden: tuple[int, ...] = (128, 128),
        dropout: float = 0.3,
        batch_size: int = 512,
        learning_rate: float = 3e-3,
        weight_decay: float = 1.0,
        epochs: int | None = None,
    ) -> None:
        super().__init__(
            hidden=hidden,
            dropout=dropout,
            batch_size=batch_size,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            epochs=epochs,
        )
        self.order = order

    def _order(self, problem: Problem, seed: int) -> tuple[Policy, Sampler]:
        import torch

        from askless.training import prefix_sets

        given = [problem.schema.index(name) for name in (() if self.order is None else self.order)]
        if len(set(given)) < len(given):
            raise ValueError("the order names a feature twice")
        place = np.arange(len(problem.schema), dtype=np.float64) + len(given)
        place[given] = np.arange(len(given))
        return Ranking(-place), prefix_sets(torch.from_numpy(-place), problem.max_features)


class Random(_StaticOrder):
    """Asks each case in a random order of its own: what asking without thought is worth."""

    def _order(self, problem: Problem, seed: int) -> tuple[Policy, Sampler]:
        from askless.training import uniform_sets

        return RandomOrder(seed), uniform_sets(problem.max_features)
