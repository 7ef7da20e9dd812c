"""Where the acquisition of a batch stands: what policies, prices and stopping rules have to say about it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from askless.acquisition.costs import CostModel, Uniform
from askless.acquisition.policy import Policy, Predictor
from askless.acquisition.reference import Reference
from askless.acquisition.schema import Precedence, Schema
from askless.acquisition.state import State
from askless.exceptions import bad_value


@dataclass(frozen=True)
class Context:
    """What stays the same from the first question to the last."""

    policy: Policy
    predictor: Predictor
    schema: Schema
    _: KW_ONLY
    costs: CostModel = field(default_factory=Uniform)
    precedence: Precedence | None = None
    reference: Reference | None = None  # stored training rows, from which answers can be imagined

    def __post_init__(self) -> None:
        for name, base in (("policy", Policy), ("predictor", Predictor), ("costs", CostModel)):
            part = getattr(self, name)
            if not isinstance(part, base):
                expected = f"an object whose class derives from askless.acquisition.{base.__name__}"
                raise bad_value("wrong_type", name, part, expected)

    @cached_property
    def copies(self) -> np.ndarray:
        """(features, features) 1 where the second says nothing new beside the first, by the stored rows."""
        assert self.reference is not None
        return self.reference.copies(self.schema)


@dataclass(frozen=True, kw_only=True, eq=False)
class Progress:
    """What a stopping rule may look at: the batch before the next question.

    Prices, scores and the spread are computed once, when something first looks at them.
    """

    state: State
    count: np.ndarray  # (n,) questions asked so far
    spent: np.ndarray  # (n,) money spent so far
    prediction: np.ndarray  # (n, outputs)
    context: Context
    allowed: np.ndarray | None = None  # (n, features) bool: what may be asked; None: all that was not asked yet
    given: np.ndarray | None = None  # (n, features) bool: known, but not asked for
    truth: np.ndarray | None = None  # (n, columns) for a policy that looks at it
    wider: Progress | None = None  # the same before more was forbidden; scores and prices are computed there

    @property
    def open(self) -> np.ndarray:
        """(n, features) bool: what may still be asked."""
        return ~self.state.asked if self.allowed is None else self.allowed

    def narrowed(self, allowed: np.ndarray) -> Progress:
        """The same with less allowed; scores and prices are shared with the original."""
        return replace(self, allowed=allowed, wider=self.wider or self)

    def changed(self, **changes: Any) -> Progress:
        """A later or imagined progress; scores and prices are computed anew."""
        return replace(self, wider=None, **changes)

    @cached_property
    def prices(self) -> np.ndarray:
        """(n, features) the price of each question, if it came next."""
        if self.wider is not None:
            return self.wider.prices
        state = self.state
        if self.given is not None:  # a value that was not asked for was not paid for, and opens no panel
            state = State(state.x, state.asked & ~self.given, state.known)
        return self.context.costs.prices(state)

    def price_of(self, pick: np.ndarray) -> np.ndarray:
        """(n,) what feature `pick[i]` costs case i; a negative pick costs nothing."""
        return np.where(pick >= 0, self.prices[np.arange(len(pick)), np.maximum(pick, 0)], 0.0)

    @cached_property
    def scores(self) -> np.ndarray:
        """(n, features) of the policy."""
        if self.wider is not None:
            return self.wider.scores
        policy = self.context.policy
        return policy.score(self.state) if self.truth is None else policy.score_with_truth(self.state, self.truth)

    @cached_property
    def spread(self) -> np.ndarray | None:
        """(n,) the standard deviation of a regression's prediction; None where the predictor does not say."""
        return self.context.predictor.spread(self.state) if self.wider is None else self.wider.spread
