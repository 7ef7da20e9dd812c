"""Stop after so many questions, or so much money."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.core.arrays import Array, array_namespace
from askless.core.numbers import checked_number
from askless.core.progress import Progress
from askless.core.stopping.base import Rule

__all__ = ["MaxCost", "MaxFeatures"]

CENT = 1e-9  # sums of prices are rounded: a budget of 0.3 pays for 0.1 three times


@dataclass(frozen=True)
class MaxFeatures(Rule):
    """Stop after a number of questions."""

    limit: int
    treats_alike = True

    def __post_init__(self) -> None:
        limit = checked_number(self.limit, "the number of features to ask", low=0, whole=True, name="limit")
        object.__setattr__(self, "limit", limit)

    @property
    def reason(self) -> str:
        """How many were asked."""
        return f"asked {self.limit} feature{'' if self.limit == 1 else 's'}"

    def stops(self, progress: Progress) -> Array:
        """True once `limit` questions were asked."""
        if isinstance(progress.count, np.ndarray):
            return progress.count >= self.limit
        return progress.count >= array_namespace(progress.count).asarray(self.limit)

    def __repr__(self) -> str:
        return f"MaxFeatures({self.limit})"


@dataclass(frozen=True)
class MaxCost(Rule):
    """Never spend more than so much on a case. What is too dear is passed over; the rest is still asked."""

    money: float
    treats_alike = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "money", checked_number(self.money, "the money to spend", low=0, name="money"))

    @property
    def reason(self) -> str:
        """The budget, which pays for nothing more."""
        return f"nothing affordable left of {self.money:g}"

    def closes(self, progress: Progress) -> Array:
        """(n, features) what would cost more than is left."""
        return progress.spent[:, None] + progress.prices > self.money + CENT * (1.0 + self.money)

    def stops(self, progress: Progress) -> Array:
        """True once nothing that is open can be paid."""
        xp = array_namespace(progress.state.asked)
        return ~xp.any(progress.open & ~self.closes(progress), axis=1)

    def __repr__(self) -> str:
        return f"MaxCost({self.money:g})"
