"""Which feature to ask next: forbid, stop, score, weigh prices, pick; and what came second.

`allowed` (n, features) bool says throughout what may be asked of each case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askless.acquisition.progress import Context, Progress
from askless.acquisition.state import Cases, State
from askless.acquisition.stopping import StoppingRule
from askless.acquisition.stopping.certified import not_used
from askless.exceptions import ParameterError

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
    others = without(allowed, postponed) if postponed else allowed
    pick = pick_best(ranked_scores(progress, others), others) if others.any() else np.full_like(fired, -1)
    if postponed:
        turn = np.full(allowed.shape, -np.inf)
        turn[:, list(postponed)] = -np.arange(len(postponed))
        pick = np.where(pick >= 0, pick, pick_best(turn, allowed))
    return pick, fired


def without(allowed: np.ndarray, features: Sequence[int]) -> np.ndarray:
    """What is allowed (n, features) without some features."""
    rest = allowed.copy()
    rest[:, list(features)] = False
    return rest


def narrowed(progress: Progress, rules: Sequence[StoppingRule]) -> tuple[np.ndarray, np.ndarray]:
    """What may be asked (n, features) after precedence and the rules, and which rule stopped each case (n,) or -1."""
    allowed = progress.open
    precedence = progress.context.precedence
    if precedence is not None:
        allowed = allowed & ~precedence.blocked(progress.state.asked)
    fired = np.full(len(allowed), -1, dtype=np.int64)
    for i, rule in enumerate(rules):
        seen = progress.narrowed(allowed)
        closed = rule.closes(seen)
        if closed is None:
            stops = np.asarray(rule.stops(seen))
            if stops.shape != fired.shape:
                message = (
                    f"{rule!r}: `stops` must return a boolean for each case, shape {fired.shape}, not {stops.shape}"
                )
                raise ParameterError("wrong_shape", message, name="stops", shape=stops.shape, expected=fired.shape)
            allowed = allowed & ~stops[:, None]
        else:
            left = allowed.any(axis=1)
            allowed = allowed & ~closed
            stops = left & ~allowed.any(axis=1)
        fired[stops & (fired < 0)] = i
    return allowed, fired


def ranked_scores(progress: Progress, allowed: np.ndarray, scores: np.ndarray | None = None) -> np.ndarray:
    """(n, features) the policy's scores, or others: per unit of money if they are information and prices differ."""
    context = progress.context
    scores = progress.scores if scores is None else scores
    if context.costs.equal or not context.policy.informative:
        return scores
    return weigh(scores, progress.prices, allowed, context.policy.noise)


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


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A feature that could be asked next."""

    name: str
    score: float  # the highest is asked first; with costs, information per unit of cost; see Interview.fixed_order
    information: float | None  # nats, or the expected drop of the squared error; None if scores are no information
    price: float


def ranked_candidates(
    progress: Progress, allowed: np.ndarray, *, first: int | None = None, most: int | None = None
) -> tuple[Candidate, ...]:
    """What may be asked (1, features) of a single case, the best first, but `first` before all; at most so many."""
    scores = ranked_scores(progress, allowed)[0]
    places = np.flatnonzero(allowed[0])
    order = places[(-np.fmax(scores[places], -np.inf)).argsort(kind="stable")].tolist()  # NaN is the lowest
    if first is not None:
        order = [first, *(index for index in order if index != first)]
    names, informative = progress.context.schema.names, progress.context.policy.informative
    return tuple(
        Candidate(
            name=names[i],
            score=float(scores[i]),
            information=float(progress.scores[0, i]) if informative else None,
            price=float(progress.prices[0, i]),
        )
        for i in order[:most]
    )


def candidates_after(
    context: Context,
    rules: Sequence[StoppingRule],
    case: Cases,
    order: Sequence[int],
    *,
    can_ask: np.ndarray,  # (1, features) bool
    known: np.ndarray,  # (1, features) bool: there from the start
) -> tuple[Candidate, ...]:
    """The candidates for a single case after the questions `order`; empty where a rule stops it.

    As in an interview, a certified rule is not used once a feature was asked that was not the next one.
    """
    state = State.of(case, context.schema.column_feature, known)
    progress = Progress(
        state=state,
        count=np.zeros(1, dtype=np.int64),
        spent=np.zeros(1),
        prediction=np.empty((1, 0)),
        context=context,
        given=known,
    )

    def candidates(progress: Progress) -> tuple[Candidate, ...]:
        prediction = context.predictor.predict(progress.state)
        progress = progress.changed(prediction=prediction, allowed=can_ask & ~progress.state.asked)
        allowed, _ = narrowed(progress, rules)
        return ranked_candidates(progress, allowed) if allowed.any() else ()

    for feature in order:
        if any(rule.promises for rule in rules):
            following = candidates(progress)
            if not following or following[0].name != context.schema.names[feature]:
                rules = not_used(rules, "the features were asked in another order")
        spent = progress.spent + progress.prices[:, feature]
        state = progress.state.after(np.array([feature]), case, context.schema)
        progress = progress.changed(state=state, count=progress.count + 1, spent=spent)
    return candidates(progress)
