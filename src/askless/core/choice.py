"""Which feature to ask next: forbid, stop, score, weigh prices, pick.

`allowed` (n, features) bool says throughout what may be asked of each case.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from askless.core.progress import Progress
from askless.core.stopping import StoppingRule
from askless.exceptions import ParameterError

__all__ = ["decide", "narrowed", "pick_best", "ranked_scores", "weigh", "weighed", "without"]

FREE_NOISE = 0.01  # free features need to exceed only this share of the best candidate's information
FREE = 1e-12  # stands for a price of nothing, so that free features come first and the best of them before others


def decide(
    progress: Progress, rules: Sequence[StoppingRule], postponed: Sequence[int] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Which feature to ask next of each case, and which rule stopped it: (n,) each, -1 for none.

    Features that were `postponed` wait until nothing else is left, and come back in that order.
    """
    allowed, fired = narrowed(progress, rules)
    if not allowed.any():
        return np.full_like(fired, -1), fired
    others = without(allowed, postponed)
    pick = pick_best(ranked_scores(progress, others), others) if others.any() else np.full_like(fired, -1)
    if len(postponed):
        turn = np.full(allowed.shape, -np.inf)
        turn[:, list(postponed)] = -np.arange(len(postponed))
        pick = np.where(pick >= 0, pick, pick_best(turn, allowed))
    return pick, fired


def without(allowed: np.ndarray, features: Sequence[int]) -> np.ndarray:
    """What is allowed (n, features) without some features."""
    if not len(features):
        return allowed
    rest = allowed.copy()
    rest[:, list(features)] = False
    return rest


def narrowed(progress: Progress, rules: Sequence[StoppingRule]) -> tuple[np.ndarray, np.ndarray]:
    """What may be asked (n, features) after precedence and the rules, and which rule stopped each case (n,) or -1."""
    allowed = progress.open
    precedence = progress.who.precedence
    if precedence is not None:
        allowed = allowed & ~precedence.blocked(progress.state.asked)
    fired = np.full(len(allowed), -1, dtype=np.int64)
    for i, rule in enumerate(rules):
        closes = getattr(rule, "closes", None)
        if closes is None:
            stops = np.asarray(rule.stops(progress.narrowed(allowed)))
            if stops.shape != fired.shape:
                raise ParameterError(
                    "wrong_shape",
                    f"{rule!r}: `stops` must return a boolean for each case, shape {fired.shape}, not {stops.shape}",
                    name="stops",
                    shape=stops.shape,
                    expected=fired.shape,
                )
            allowed = allowed & ~stops[:, None]
        else:
            left = allowed.any(axis=1)
            allowed = allowed & ~closes(progress.narrowed(allowed))
            stops = left & ~allowed.any(axis=1)
        fired[stops & (fired < 0)] = i
    return allowed, fired


def ranked_scores(progress: Progress, allowed: np.ndarray) -> np.ndarray:
    """(n, features) the policy's scores, weighed against prices."""
    return weighed(progress.scores, progress, allowed)


def weighed(scores: np.ndarray, progress: Progress, allowed: np.ndarray) -> np.ndarray:
    """(n, features) scores, or scores per unit of money where they are information and prices differ."""
    who = progress.who
    if not who.weighs:
        return scores
    return weigh(scores, progress.prices, allowed, getattr(who.policy, "noise", 0.0))


def weigh(information: np.ndarray, prices: np.ndarray, allowed: np.ndarray, noise: float = 0.0) -> np.ndarray:
    """(n, features) information above the noise per unit of money; worthless features come last.

    `noise` is a share of the best candidate's information. Gains below this threshold count as zero and are ordered
    by price. Free features use a lower threshold.

    >>> weigh(np.array([[0.4, 0.3, 0.0]]), np.array([[2.0, 1.0, 0.1]]), np.ones((1, 3), dtype=bool)).tolist()
    [[0.2, 0.3, -0.1]]
    """
    prices = prices.astype(information.dtype, copy=False)
    information = np.where(allowed & (information > 0), information, 0.0)  # NaN counts as 0
    share = np.where(prices > FREE, noise, min(noise, FREE_NOISE))
    gain = information - share * information.max(axis=1, keepdims=True)
    return np.where(gain > 0, gain / np.maximum(prices, FREE), -prices)


def pick_best(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """(n,) the allowed feature with the highest score; -1 where none is allowed. NaN counts as the lowest score."""
    lowest = np.finfo(np.result_type(scores, np.float32)).min
    numbers = np.fmax(scores, lowest)  # NaN and minus infinity become the lowest number
    pick = np.where(allowed, numbers, -np.inf).argmax(axis=1)
    return np.where(allowed.any(axis=1), pick, -1)
