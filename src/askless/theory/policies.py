"""Exact policies: what to ask when the distribution is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from askless.acquisition import Policy, State
from askless.exceptions import ParameterError
from askless.theory.records import Floats, Partial
from askless.theory.table import StateTable

__all__ = ["GreedyPolicy", "OptimalPolicy", "SubsetPolicy"]

# Scores are rounded, so that what is equal by symmetry ties exactly and the first of the tied is asked.
DECIMALS = 12


class Known(Protocol):
    """A problem that knows what each question is worth."""

    def worth(self, state: State) -> Floats:
        """(n, features) what one more answer saves of the expected loss."""
        ...


@dataclass(frozen=True, eq=False)
class GreedyPolicy(Policy):
    """The paper's policy: the question that saves most of the expected loss at once.

    For classes that is the conditional mutual information, for regression the drop of the variance.
    """

    problem: Known
    informative = True  # scores are information, which can be weighed against prices

    def score(self, state: State) -> Floats:
        """(n, features); 0 for what was asked."""
        return np.where(state.asked, 0.0, self.problem.worth(state).round(DECIMALS))


class OptimalPolicy(Policy):
    """Scores by what all the questions left save, when each is chosen as well as can be.

    Every question asked counts towards the budget. With one left, and beyond the budget, it is the greedy score.
    """

    def __init__(self, table: StateTable, budget: int) -> None:
        if budget < 1:
            raise ParameterError(
                "out_of_range", f"budget must be at least 1, not {budget}", name="budget", value=budget, low=1
            )
        self.budget = budget
        self._table = table
        self._saved = np.stack([table.saved(plan) for plan in table.plan(budget)], axis=1)  # (S, budget, features)

    def score(self, state: State) -> Floats:
        """(n, features) in nats; 0 for what was asked."""
        numbers = self._table.number(Partial.of(state))
        left = np.maximum(self.budget - np.count_nonzero(state.asked, axis=1), 1)  # (n,)
        gain = self._table.given(self._saved, numbers)[np.arange(len(left)), left - 1]
        return np.where(state.asked, 0.0, gain.round(DECIMALS))


@dataclass(frozen=True)
class SubsetPolicy(Policy):
    """Asks the features of a fixed subset, in the order given, before all others."""

    features: tuple[int, ...]

    def score(self, state: State) -> Floats:
        """(n, features), positive for the members."""
        scores = np.zeros(np.shape(state.asked))
        scores[:, list(self.features)] = np.arange(len(self.features), 0, -1)
        return scores
