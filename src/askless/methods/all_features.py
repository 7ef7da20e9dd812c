"""Asking everything: the upper limit of what answers are worth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from askless.methods.base import Fitted
from askless.methods.static import Order, StaticMethod, ranked
from askless.training import Checkpoint, Problem, Progress, full_sets, mixed_sets

COMPLETE = 0.75  # share of the training sets that hold everything


@dataclass(eq=False, repr=False, kw_only=True)
class AllFeatures(StaticMethod):
    """Asks for everything, in the table's order, whatever the budget: what the answers are worth together.

    The upper limit that other methods are compared with. Only the last prediction counts: those before it are made
    from the first features of the table.

    Parameters
    ----------
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for `Greedy`.
    """

    kind = "control"

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        everything = replace(problem, max_features=len(problem.schema))
        fitted = super()._fit(everything, seed, progress, checkpoint)
        return replace(fitted, max_features=everything.max_features)

    def _order(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Order:
        policy, prefixes, history = ranked(-np.arange(len(problem.schema), dtype=np.float64), problem, [])
        return Order(policy, mixed_sets(prefixes, full_sets, COMPLETE), history)
