"""An order that the user gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askless.exceptions import ParameterError
from askless.methods.settings import NETWORK, Names
from askless.methods.static import Order, StaticMethod, ranked
from askless.training import Checkpoint, Problem, Progress


@dataclass(eq=False, repr=False, kw_only=True)
class FixedOrder(StaticMethod):
    """Asks everyone the same features in the same order.

    A questionnaire on paper: the control that a dynamic policy has to beat. The predictor is trained for exactly the
    sets that the order leads to.

    Parameters
    ----------
    order : names of features, first to last; those left out come after, in the table's order. None: the table's.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for `Greedy`.
    """

    kind = "control"
    limits = NETWORK | {"order": Names()}

    order: Sequence[str] | None = None

    def _order(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Order:
        given = [problem.schema.index(name) for name in (() if self.order is None else self.order)]
        if len(set(given)) < len(given):
            raise ParameterError("duplicate_name", "the order names a feature twice", name="order")
        place = np.arange(len(problem.schema), dtype=np.float64) + len(given)
        place[given] = np.arange(len(given))
        return ranked(-place, problem, [])
