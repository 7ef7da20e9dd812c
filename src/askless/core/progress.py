"""Where the asking of a batch stands, and what can be known about it when somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from askless.core.arrays import Array, array_namespace, take_columns
from askless.core.costs import CostModel, Uniform
from askless.core.precedence import Precedence
from askless.core.protocols import Policy, Predictor
from askless.core.reference import Reference
from askless.core.schema import Schema
from askless.core.state import State
from askless.exceptions import ParameterError

__all__ = ["Asker", "Progress"]


Both = Callable[[State], tuple[np.ndarray, np.ndarray]]
"""The prediction (1, outputs) and the scores (features,) of a single case, in numpy, from its state."""


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
    def both(self) -> Both | None:
        """Predictor and policy in one go; None where they have to be called one after the other."""
        beside = getattr(self.policy, "beside", None)
        return None if beside is None else beside(self.predictor)

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
    count: Array  # (n,) questions asked so far
    spent: Array  # (n,) money spent so far
    prediction: Array  # (n, outputs)
    asker: Asker | None = None
    ceiling: Array | None = None  # (n, features) infinity where a feature may be asked, else minus infinity
    given: Array | None = None  # (n, features) bool: known, but not asked for
    truth: Array | None = None  # (n, columns) for a policy that looks at it
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def who(self) -> Asker:
        """The asker; an error if there is none."""
        if self.asker is None:
            raise ParameterError("required", "this progress has no `asker`; give it an `Asker`", name="asker")
        return self.asker

    @property
    def open(self) -> Array:
        """(n, features) bool: what may still be asked."""
        return ~self.state.asked if self.ceiling is None else self.ceiling > 0

    def below(self, ceiling: Array) -> Progress:
        """The same with another ceiling; what was computed stays."""
        lower = replace(self, ceiling=ceiling)
        lower.__dict__["memo"] = self.memo
        return lower

    @property
    def prices(self) -> Array:
        """(n, features) the price of each question, if it came next."""
        return self._once("prices", self._prices)

    def price_of(self, pick: Array) -> Array:
        """(n,) what feature `pick[i]` costs case i; a negative pick costs nothing."""
        xp = array_namespace(self.prices)
        price = take_columns(self.prices, xp.where(pick >= 0, pick, xp.zeros_like(pick)))
        return xp.where(pick >= 0, price, xp.zeros_like(price))

    @property
    def scores(self) -> Array:
        """(n, features) of the policy."""
        return self._once("scores", self._scores)

    @property
    def spread(self) -> Array | None:
        """(n,) the standard deviation of a regression's prediction; None where the predictor does not say."""
        return self._once("spread", self._spread)

    def _once(self, name: str, compute: Callable[[], Array]) -> Array:
        if name not in self.memo:
            self.memo[name] = compute()
        return self.memo[name]

    def _prices(self) -> Array:
        state = self.state
        if self.given is not None:  # what nobody asked for was not paid for, and opens no panel
            state = State(state.x, state.asked & ~self.given, state.known)
        return self.who.costs.prices(state)

    def _scores(self) -> Array:
        policy = self.who.policy
        if self.truth is None:
            return policy.score(self.state)
        return policy.score_with_truth(self.state, self.truth)  # type: ignore[attr-defined]

    def _spread(self) -> Array | None:
        spread = getattr(self.who.predictor, "spread", None)
        return None if spread is None else spread(self.state)
