"""Which feature to ask next: score, forbid, weigh cost, pick, stop.

What may be asked is kept as a ceiling: infinity for a feature that may be asked, minus infinity for one that may not.
The smaller of a score and its ceiling forbids at the price of one pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from askless.core.arrays import Array, array_namespace, one_hot, take_columns
from askless.core.costs import CostModel
from askless.core.protocols import Policy
from askless.core.state import State
from askless.core.stopping import Progress, StoppingRule, first_stop

__all__ = ["ceiling_of", "choose", "close", "decide", "decide_below"]

LOWEST = -3.4e38  # a score above this is a number, and higher than NaN and minus infinity count


def decide(
    policy: Policy,
    progress: Progress,
    allowed: Array,
    costs: CostModel,
    rules: Sequence[StoppingRule],
    truth: Array | None = None,
) -> tuple[Array, Array]:
    """Which feature to ask next of each case, and which rule stopped it: (n,) each, -1 for none."""
    return decide_below(policy, progress, ceiling_of(allowed, progress.state.x), costs, rules, truth)


def decide_below(
    policy: Policy,
    progress: Progress,
    ceiling: Array,
    costs: CostModel,
    rules: Sequence[StoppingRule],
    truth: Array | None = None,
) -> tuple[Array, Array]:
    """What `decide` does, for those who keep a ceiling."""
    xp = array_namespace(ceiling)
    state = progress.state
    fired = first_stop(rules, progress)
    if bool(xp.any(fired >= 0)):
        ceiling = xp.where((fired < 0)[:, None], ceiling, xp.full_like(ceiling, -xp.inf))
    if not bool(xp.any(ceiling > 0)):
        return xp.full_like(fired, -1), fired
    scores = policy.score(state) if truth is None else policy.score_with_truth(state, truth)  # type: ignore[attr-defined]
    return _best(costs.weigh(scores, state), ceiling), fired


def choose(policy: Policy, state: State, ceiling: np.ndarray, costs: CostModel) -> int:
    """Which feature to ask next of a single case, given a ceiling (features,) of which some are open."""
    scores = costs.weigh(policy.score(state), state)
    ranked = np.minimum(scores[0], ceiling)
    pick = int(ranked.argmax())
    return pick if ranked[pick] > LOWEST else int(_best(scores, ceiling[None, :])[0])


def ceiling_of(allowed: Array, like: Array) -> Array:
    """(n, features) the ceiling, in the type of `like`."""
    xp = array_namespace(allowed)
    top = xp.full_like(allowed, xp.inf, dtype=like.dtype)
    return xp.where(allowed, top, -top)


def close(ceiling: Array, pick: Array) -> Array:
    """The ceiling without feature `pick[i]` of case i; numpy's is changed in place."""
    if isinstance(ceiling, np.ndarray):
        rows = np.flatnonzero(pick >= 0)
        ceiling[rows, pick[rows]] = -np.inf
        return ceiling
    xp = array_namespace(ceiling)
    return xp.where(one_hot(pick, ceiling.shape[1]), xp.full_like(ceiling, -xp.inf), ceiling)


def _best(scores: Array, ceiling: Array) -> Array:
    """(n,) the allowed feature with the highest score; -1 where none is allowed. NaN counts as the lowest score."""
    xp = array_namespace(scores)
    ranked = xp.minimum(scores, ceiling)
    pick = xp.argmax(ranked, axis=1)
    if not bool(xp.all(take_columns(ranked, pick) > LOWEST)):
        allowed, lowest = ceiling > 0, xp.finfo(scores.dtype).min
        numbers = xp.where(scores > lowest, scores, xp.full_like(scores, lowest))
        pick = xp.argmax(xp.where(allowed, numbers, xp.full_like(scores, -xp.inf)), axis=1)
        pick = xp.where(xp.any(allowed, axis=1), pick, xp.full_like(pick, -1))
    return xp.astype(pick, xp.int64, copy=False)
