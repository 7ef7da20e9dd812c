"""Which feature to ask next: forbid, stop, score, weigh prices, pick.

What may be asked is kept as a ceiling: infinity for a feature that may be asked, minus infinity for one that may not.
The smaller of a score and its ceiling forbids at the price of one pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from askless.core.arrays import Array, array_namespace, device, one_hot, take_columns
from askless.core.progress import Progress
from askless.core.stopping import StoppingRule
from askless.exceptions import ParameterError

__all__ = ["ceiling_of", "choose", "close", "decide", "narrowed", "pick_best", "ranked_scores", "weigh", "weighed"]

LOWEST = -3.4e38  # a score above this is a number, and higher than NaN and minus infinity count
FREE_NOISE = 0.01  # of what is free a smaller share of the best candidate's information is enough
FREE = 1e-12  # stands for a price of nothing, so that free questions come first and the best of them before others


def decide(progress: Progress, rules: Sequence[StoppingRule]) -> tuple[Array, Array]:
    """Which feature to ask next of each case, and which rule stopped it: (n,) each, -1 for none."""
    ceiling, fired = narrowed(progress, rules)
    xp = array_namespace(ceiling)
    if not bool(xp.any(ceiling > 0)):
        return xp.full_like(fired, -1), fired
    return pick_best(ranked_scores(progress, ceiling), ceiling), fired


def narrowed(progress: Progress, rules: Sequence[StoppingRule]) -> tuple[Array, Array]:
    """The ceiling (n, features) after precedence and the rules, and which rule stopped each case (n,); -1: none."""
    ceiling = progress.ceiling
    if ceiling is None:
        ceiling = ceiling_of(progress.open, progress.state.x)
    xp = array_namespace(ceiling)
    before = progress.who.precedence
    if before is not None:
        ceiling = _closed(ceiling, before.blocked(progress.state.asked))
    fired = xp.full(progress.count.shape, -1, dtype=xp.int64, device=device(progress.count))
    for i, rule in enumerate(rules):
        closes = getattr(rule, "closes", None)
        if closes is None:
            stops = xp.asarray(rule.stops(progress.below(ceiling)))
            if tuple(stops.shape) != tuple(fired.shape):
                gives, wanted = tuple(stops.shape), tuple(fired.shape)
                raise ParameterError(
                    "wrong_shape",
                    f"{rule!r}: `stops` must return a boolean for each case, shape {wanted}, not {gives}",
                    name="stops",
                    shape=gives,
                    expected=wanted,
                )
            if not bool(xp.any(stops)):
                continue
            ceiling = _closed(ceiling, stops[:, None])
        else:
            left = xp.any(ceiling > 0, axis=1)
            ceiling = _closed(ceiling, closes(progress.below(ceiling)))
            stops = left & ~xp.any(ceiling > 0, axis=1)
        fired = xp.where(stops & (fired < 0), xp.full_like(fired, i), fired)
    return ceiling, fired


def ranked_scores(progress: Progress, ceiling: Array) -> Array:
    """(n, features) the policy's scores, after prices had their say."""
    return weighed(progress.scores, progress, ceiling)


def weighed(scores: Array, progress: Progress, ceiling: Array) -> Array:
    """(n, features) scores, or scores for each unit of money where they are information and prices differ."""
    who = progress.who
    if not who.weighs:
        return scores
    return weigh(scores, progress.prices, ceiling > 0, getattr(who.policy, "noise", 0.0))


def weigh(information: Array, prices: Array, allowed: Array, noise: float = 0.0) -> Array:
    """(n, features) information above the noise for each unit of money; what is worthless comes last.

    `noise` is a share of the best candidate's information. What lies below that is not told apart from nothing: no
    low price makes up for it, and the cheapest of it comes first. What is free has less to prove.

    >>> weigh(np.array([[0.4, 0.3, 0.0]]), np.array([[2.0, 1.0, 0.1]]), np.ones((1, 3), dtype=bool)).tolist()
    [[0.2, 0.3, -0.1]]
    """
    xp = array_namespace(information)
    prices = xp.astype(prices, information.dtype, copy=False)
    zero = xp.zeros_like(information)
    information = xp.where(allowed & (information > 0), information, zero)  # NaN tells nothing
    free = xp.full_like(prices, FREE)
    share = xp.where(prices > free, xp.full_like(prices, noise), xp.full_like(prices, min(noise, FREE_NOISE)))
    gain = information - share * xp.max(information, axis=1, keepdims=True)
    return xp.where(gain > 0, gain / xp.where(prices > free, prices, free), -prices)


def choose(scores: np.ndarray, ceiling: np.ndarray) -> int:
    """Which feature to ask next of a single case, whatever it costs, given scores (features,) and a ceiling
    (features,) with some open.
    """
    ranked = np.minimum(scores, ceiling)
    pick = int(ranked.argmax())
    return pick if ranked[pick] > LOWEST else int(pick_best(scores[None], ceiling[None])[0])


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
    return _closed(ceiling, one_hot(pick, ceiling.shape[1]))


def pick_best(scores: Array, ceiling: Array) -> Array:
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


def _closed(ceiling: Array, closed: Array) -> Array:
    """The ceiling without what is closed (n, features) or (n, 1)."""
    xp = array_namespace(ceiling)
    return xp.where(closed, xp.full_like(ceiling, -xp.inf), ceiling)
