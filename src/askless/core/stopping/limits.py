"""Stop after so many questions, or so much money."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.core.numbers import checked_number
from askless.core.progress import Progress
from askless.core.stopping.base import Rule

__all__ = ["MaxCost", "MaxFeatures"]

CENT = 1e-9  # sums of prices are rounded: a budget of 0.3 pays for 0.1 three times


@dataclass(frozen=True)
class MaxFeatures(Rule):
    """Stop after a number of questions."""

    limit: int

    def __post_init__(self) -> None:
        limit = checked_number(self.limit, "the number of features to ask", low=0, whole=True, name="limit")
        object.__setattr__(self, "limit", limit)

    @property
    def reason(self) -> str:
        """How many were asked."""
        return f"asked {self.limit} feature{'' if self.limit == 1 else 's'}"

    def stops(self, progress: Progress) -> np.ndarray:
        """True once `limit` questions were asked."""
        return progress.count >= self.limit

    def __repr__(self) -> str:
        return f"MaxFeatures({self.limit})"


@dataclass(frozen=True)
class MaxCost(Rule):
    """Never spend more than so much on a case. What is too dear is passed over; the rest is still asked."""

    money: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "money", checked_number(self.money, "the money to spend", low=0, name="money"))

    @property
    def reason(self) -> str:
        """The budget, which pays for nothing more."""
        return f"nothing affordable left of {self.money:g}"

    def closes(self, progress: Progress) -> np.ndarray:
        """(n, features) what would cost more than is left."""
        return progress.spent[:, None] + progress.prices > self.money + CENT * (1.0 + self.money)

    def stops(self, progress: Progress) -> np.ndarray:
        """True once nothing that is open can be paid."""
        affordable: np.ndarray = (progress.open & ~self.closes(progress)).any(axis=1)
        return ~affordable

    def __repr__(self) -> str:
        return f"MaxCost({self.money:g})"
