"""Where the asking of a batch stands, and what can be known about it when somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from askless.core.costs import CostModel, Uniform
from askless.core.precedence import Precedence
from askless.core.protocols import Policy, Predictor
from askless.core.reference import Reference
from askless.core.schema import Schema
from askless.core.state import State
from askless.exceptions import ParameterError

__all__ = ["Asker", "Progress"]


@dataclass(frozen=True)
class Asker:
    """Who asks: what stays the same from the first question to the last."""

    policy: Policy
    predictor: Predictor
    schema: Schema
    costs: CostModel = field(default_factory=Uniform)
    precedence: Precedence | None = None
    reference: Reference | None = None  # stored training rows, from which answers can be imagined

    @cached_property
    def informative(self) -> bool:
        """Whether scores are information, so that a ratio to a price has a meaning."""
        return bool(getattr(self.policy, "informative", False))

    @cached_property
    def weighs(self) -> bool:
        """Whether prices change what is asked next."""
        return self.informative and not getattr(self.costs, "equal", False)


@dataclass(frozen=True)
class Progress:
    """What a stopping rule may look at: the batch before the next question.

    Prices, scores and the spread are computed when a rule, or the choice, looks at them.
    """

    state: State
    count: np.ndarray  # (n,) questions asked so far
    spent: np.ndarray  # (n,) money spent so far
    prediction: np.ndarray  # (n, outputs)
    asker: Asker | None = None
    ceiling: np.ndarray | None = None  # (n, features) infinity where a feature may be asked, else minus infinity
    given: np.ndarray | None = None  # (n, features) bool: known, but not asked for
    truth: np.ndarray | None = None  # (n, columns) for a policy that looks at it
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def who(self) -> Asker:
        """The asker, which must be there."""
        if self.asker is None:
            raise ParameterError("this progress does not say who asks; give it an `Asker`")
        return self.asker

    @property
    def open(self) -> np.ndarray:
        """(n, features) bool: what may still be asked."""
        return ~self.state.asked if self.ceiling is None else self.ceiling > 0

    def below(self, ceiling: np.ndarray) -> Progress:
        """The same with another ceiling; what was computed stays."""
        lower = replace(self, ceiling=ceiling)
        lower.__dict__["memo"] = self.memo
        return lower

    @property
    def prices(self) -> np.ndarray:
        """(n, features) the price of each question, if it came next."""
        return self._once("prices", self._prices)

    def price_of(self, pick: np.ndarray) -> np.ndarray:
        """(n,) what feature `pick[i]` costs case i; a negative pick costs nothing."""
        return np.where(pick >= 0, self.prices[np.arange(len(pick)), np.maximum(pick, 0)], 0.0)

    @property
    def scores(self) -> np.ndarray:
        """(n, features) of the policy."""
        return self._once("scores", self._scores)

    @property
    def spread(self) -> np.ndarray | None:
        """(n,) the standard deviation of a regression's prediction; None where the predictor does not say."""
        return self._once("spread", self._spread)

    def _once(self, name: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
        if name not in self.memo:
            self.memo[name] = compute()
        return self.memo[name]

    def _prices(self) -> np.ndarray:
        state = self.state
        if self.given is not None:  # what nobody asked for was not paid for, and opens no panel
            state = State(state.x, state.asked & ~self.given, state.known)
        return self.who.costs.prices(state)

    def _scores(self) -> np.ndarray:
        policy = self.who.policy
        if self.truth is None:
            return policy.score(self.state)
        return policy.score_with_truth(self.state, self.truth)  # type: ignore[attr-defined]

    def _spread(self) -> np.ndarray | None:
        spread = getattr(self.who.predictor, "spread", None)
        return None if spread is None else spread(self.state)
