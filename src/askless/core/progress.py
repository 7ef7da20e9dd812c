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
    allowed: np.ndarray | None = None  # (n, features) bool: what may be asked; None: all that was not asked yet
    given: np.ndarray | None = None  # (n, features) bool: known, but not asked for
    truth: np.ndarray | None = None  # (n, columns) for a policy that looks at it
    computed: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # scores, prices, spread

    @property
    def who(self) -> Asker:
        """The asker; an error if there is none."""
        if self.asker is None:
            raise ParameterError("required", "this progress has no `asker`; give it an `Asker`", name="asker")
        return self.asker

    @property
    def open(self) -> np.ndarray:
        """(n, features) bool: what may still be asked."""
        return ~self.state.asked if self.allowed is None else self.allowed

    def narrowed(self, allowed: np.ndarray) -> Progress:
        """The same with less allowed; what was computed stays."""
        return replace(self, allowed=allowed, computed=self.computed)

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

    def _once(self, name: str, compute: Callable[[], Any]) -> Any:
        if name not in self.computed:
            self.computed[name] = compute()
        return self.computed[name]

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
