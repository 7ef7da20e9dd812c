"""When to stop asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from askless.core.arrays import Array, array_namespace, device
from askless.core.state import State

__all__ = [
    "NOTHING_LEFT",
    "MaxFeatures",
    "Progress",
    "StoppingRule",
    "as_rules",
    "first_stop",
    "first_stop_of_one",
    "stop_reason",
]

NOTHING_LEFT = "nothing left to ask"


@dataclass(frozen=True)
class Progress:
    """What a stopping rule may look at: the batch before the next question."""

    state: State
    count: Array  # (n,) questions asked so far
    spent: Array  # (n,) money spent so far
    prediction: Array  # (n, outputs)


class StoppingRule(Protocol):
    """Says for each case whether enough is known."""

    reason: str

    def stops(self, progress: Progress) -> Array:
        """(n,) bool."""
        ...


class MaxFeatures:
    """Stop after a number of questions."""

    def __init__(self, limit: int) -> None:
        if not isinstance(limit, (int, np.integer)) or isinstance(limit, bool) or limit < 0:
            raise ValueError(f"the number of features to ask is {limit!r}; it must be an integer of at least 0")
        self.limit = int(limit)
        self.reason = f"asked {self.limit} feature{'' if self.limit == 1 else 's'}"

    def stops(self, progress: Progress) -> Array:
        """True once `limit` questions were asked."""
        if isinstance(progress.count, np.ndarray):
            return progress.count >= self.limit
        return progress.count >= array_namespace(progress.count).asarray(self.limit)

    def config(self) -> dict[str, Any]:
        """What a model file needs to make it again."""
        return {"limit": self.limit}

    def __repr__(self) -> str:
        return f"MaxFeatures({self.limit})"


def as_rules(stopping: StoppingRule | Sequence[StoppingRule] | None) -> tuple[StoppingRule, ...]:
    """What a caller means by `stopping`: no rule, one, or several of which the first to fire stops."""
    if stopping is None:
        return ()
    return tuple(stopping) if isinstance(stopping, Sequence) else (stopping,)


def first_stop(rules: Sequence[StoppingRule], progress: Progress) -> Array:
    """(n,) the position of the first rule that stops each case; -1 where none does."""
    if isinstance(progress.count, np.ndarray):
        fired = np.full(len(progress.count), -1)
        for i, rule in enumerate(rules):
            now = np.asarray(rule.stops(progress))
            if now.any():
                fired[now & (fired < 0)] = i
        return fired
    xp = array_namespace(progress.count)
    fired = xp.full(progress.count.shape, -1, dtype=xp.int64, device=device(progress.count))
    for i, rule in enumerate(rules):
        now = rule.stops(progress) & (fired < 0)
        fired = xp.where(now, xp.full_like(fired, i), fired)
    return fired


def first_stop_of_one(
    rules: Sequence[StoppingRule], state: State, count: int, spent: float, prediction: Array
) -> int:
    """The position of the first rule that stops a single case; -1 where none does."""
    progress = None
    for i, rule in enumerate(rules):
        if type(rule) is MaxFeatures:  # there is one in every interview, and this is much faster
            if count >= rule.limit:
                return i
            continue
        progress = progress or Progress(state, np.array([count]), np.array([spent]), prediction)
        if rule.stops(progress)[0]:
            return i
    return -1


def stop_reason(rules: Sequence[StoppingRule], fired: int) -> str:
    """Why a case stopped, given the rule that fired (-1: none, so nothing was left to ask)."""
    return rules[fired].reason if fired >= 0 else NOTHING_LEFT
