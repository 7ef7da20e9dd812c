"""Several features at once, chosen together: one blood draw, one page of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from askless.core.choice import close, narrowed, pick_best, ranked_scores, weighed
from askless.core.progress import Progress
from askless.core.state import State
from askless.core.stopping import StoppingRule

__all__ = ["choose_batch"]

WORLDS = 32  # imagined rows of answers for each case
CASES_AT_ONCE = 256  # so that their worlds stay in memory


def choose_batch(progress: Progress, rules: Sequence[StoppingRule], size: int) -> tuple[list[np.ndarray], np.ndarray]:
    """What to ask of each case at once: at most `size` picks (n,), -1 for none, and which rule stopped it (n,).

    The first is the best feature alone. Each further one is the best on average over imagined answers to those
    before it, so that a feature which would only repeat them is not asked. Limits of number and money count the whole
    batch; what waits for another feature waits for its answer.
    """
    ceiling, fired = narrowed(progress, rules)
    ceiling = np.array(ceiling)  # a copy: members are closed below
    picks: list[np.ndarray] = []
    state, count, spent = progress.state, progress.count, progress.spent
    chosen = np.zeros(state.asked.shape, dtype=bool)
    while len(picks) < size:
        asked = np.asarray(state.asked) | chosen
        planned = replace(
            progress, state=State(state.x, asked, state.known), count=count, spent=spent, ceiling=ceiling.copy()
        )
        if picks:
            inside, _ = narrowed(replace(planned, asker=replace(progress.who, precedence=None)), rules)
            inside = np.where(picks[-1][:, None] < 0, -np.inf, inside)  # a case that has no next has none after it
        else:
            inside, planned = ceiling, progress
        if not (inside > 0).any():
            break
        scores = ranked_scores(progress, inside) if not picks else _expected(progress, planned, chosen, inside)
        pick = pick_best(scores, inside)
        asks = pick >= 0
        prices = np.take_along_axis(np.asarray(planned.prices), np.maximum(pick, 0)[:, None], axis=1)[:, 0]
        count, spent = count + asks, spent + np.where(asks, prices, 0.0)
        chosen[np.flatnonzero(asks), pick[asks]] = True
        ceiling = close(ceiling, pick)
        picks.append(pick)
    return picks, fired


def _expected(progress: Progress, planned: Progress, chosen: np.ndarray, ceiling: np.ndarray) -> np.ndarray:
    """(n, features) scores after the features chosen so far, averaged over imagined answers to them."""
    who, n = progress.who, len(progress.state)
    if who.reference is None:
        raise ValueError("a batch is chosen with imagined answers from stored rows, and this model has none")
    prediction = np.asarray(progress.prediction)
    rows = who.reference.draw(prediction, progress.spread, WORLDS)
    means = []
    for start in range(0, n, CASES_AT_ONCE):
        part = slice(start, start + CASES_AT_ONCE)
        state = State(progress.state.x[part], progress.state.asked[part], progress.state.known[part])
        told = who.reference.told(state, rows[part], chosen[part], who.schema)
        scores = np.asarray(who.policy.score(told)).reshape(len(state), WORLDS, -1)
        if not who.informative:  # scores without a unit: how often would each be asked next?
            scores = _shares(scores, ceiling[part] > 0)
        means.append(scores.mean(axis=1))
    return np.asarray(weighed(np.concatenate(means), planned, ceiling))


def _shares(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """(n, worlds, features) softmax over what is allowed (n, features)."""
    top = np.nanmax(np.where(allowed[:, None], scores, -np.inf), axis=2, keepdims=True)
    powers = np.where(allowed[:, None], np.exp(np.minimum(scores - np.where(np.isfinite(top), top, 0.0), 0.0)), 0.0)
    total = powers.sum(axis=2, keepdims=True)
    shares: np.ndarray = powers / np.where(total > 0, total, 1.0)
    return shares
