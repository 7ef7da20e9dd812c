"""A random order for each case."""

from __future__ import annotations

from dataclasses import dataclass

from askless.methods.static import Order, StaticMethod
from askless.models import RandomOrder
from askless.training import Checkpoint, Problem, Progress, uniform_sets


@dataclass(eq=False, repr=False, kw_only=True)
class Random(StaticMethod):
    """Asks each case in a random order of its own: what asking without thought is worth.

    Parameters
    ----------
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for `Greedy`.
    """

    kind = "control"

    def _order(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Order:
        return Order(RandomOrder(seed), uniform_sets(problem.max_features), [])
