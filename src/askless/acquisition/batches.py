"""Several features at once, chosen together: one blood draw, one page of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from askless.acquisition.choice import narrowed, pick_best, ranked_scores
from askless.acquisition.policy import Predictor
from askless.acquisition.progress import Context, Progress
from askless.acquisition.reference import Reference
from askless.acquisition.state import State
from askless.acquisition.stopping import StoppingRule
from askless.exceptions import ParameterError

Member = tuple[np.ndarray, np.ndarray]
"""A question for each case: the feature (n,), -1 for none, and what it costs (n,)."""

WORLDS = 32  # imagined rows of answers for each case
CASES_AT_ONCE = 256  # so that their worlds stay in memory
LEADING = 16  # candidates that are tried in every world
REDUNDANT_BELOW = 0.1  # of the strongest candidate's effect on the prediction


def choose_batch(progress: Progress, rules: Sequence[StoppingRule], size: int) -> tuple[list[Member], np.ndarray]:
    """What to ask of each case at once: at most `size` members, and which rule stopped it (n,), -1 for none.

    The first is the best feature alone. Each further one is the best on average over imagined answers to those
    before it. A copy of what is known, or of a member, is not asked. Limits of number and money count the whole
    batch; a member costs what it costs after those before it are ordered, whatever their answers will be; what
    waits for another feature waits for its answer.
    """
    if any(rule.promises for rule in rules):
        message = "a certified rule is for questions one at a time; it cannot be used with batches"
        raise ParameterError("not_supported", message, name="stopping")
    allowed, fired = narrowed(progress, rules)
    allowed = allowed.copy()  # members are taken out below
    context, reference = progress.context, progress.context.reference
    if reference is None:
        message = "batches are chosen with answers from stored rows, and this model has none; see `reference_rows`"
        raise ParameterError("not_supported", message, name="batch")
    allowed &= ~_repeated(context, progress.state.known)
    members: list[Member] = []
    state, count, spent = progress.state, progress.count, progress.spent
    chosen = np.zeros(state.asked.shape, dtype=bool)
    while len(members) < size:
        planned = progress.changed(
            state=State(state.x, state.asked | chosen, state.known), count=count, spent=spent, allowed=allowed.copy()
        )
        if members:
            inside, _ = narrowed(planned.changed(context=replace(context, precedence=None)), rules)
            ended = members[-1][0] < 0  # a case that has no next one has none after it
            inside &= ~ended[:, None]
        else:
            inside, planned = allowed, progress
        if not inside.any():
            break
        scores = (
            _expected(progress, reference, planned, chosen, inside) if members else ranked_scores(progress, inside)
        )
        pick = pick_best(scores, inside)
        asks = pick >= 0
        price = planned.price_of(pick)
        count, spent = count + asks, spent + price
        chosen[np.flatnonzero(asks), pick[asks]] = True
        allowed &= ~(chosen | _repeated(context, chosen))
        members.append((pick, price))
    return members, fired


def _repeated(context: Context, known: np.ndarray) -> np.ndarray:
    """(n, features) bool: what says nothing new beside what is `known` (n, features), as far as the rows tell."""
    return known.astype(np.float32) @ context.copies > 0.5


def _expected(
    progress: Progress, reference: Reference, planned: Progress, chosen: np.ndarray, allowed: np.ndarray
) -> np.ndarray:
    """(n, features) scores after the features chosen so far, averaged over imagined answers to them."""
    context = progress.context
    rows = reference.draw(progress.prediction, progress.spread, WORLDS)
    means = []
    for start in range(0, len(progress.state), CASES_AT_ONCE):
        part = slice(start, start + CASES_AT_ONCE)
        means.append(_in_worlds(context, reference, progress.state[part], rows[part], chosen[part], allowed[part]))
    return ranked_scores(planned, allowed, np.concatenate(means))


def _in_worlds(
    context: Context, reference: Reference, state: State, rows: np.ndarray, chosen: np.ndarray, allowed: np.ndarray
) -> np.ndarray:
    """(n, features) mean scores over worlds (n, worlds), in which the features chosen were answered.

    A policy may not have learned that two features say the same. So its leading candidates are tried in every world:
    none counts for more than it moves the prediction there.
    """
    policy, predictor, schema = context.policy, context.predictor, context.schema
    worlds = reference.answered(state, rows, chosen, schema)
    scores = np.asarray(policy.score(worlds), dtype=np.float64).reshape(len(state), WORLDS, -1)
    if not policy.informative:  # scores without a unit: how often would each be asked next?
        scores = _shares(scores, allowed)
    means = np.where(allowed, scores.mean(axis=1), -np.inf)
    before = _predicted(predictor, worlds, len(state))
    leading = np.argsort(-means, axis=1, kind="stable")[:, :LEADING]  # (n, leading)
    moves = np.empty(leading.shape)
    for j in range(leading.shape[1]):
        asked = chosen.copy()
        asked[np.arange(len(asked)), leading[:, j]] = True
        after = _predicted(predictor, reference.answered(state, rows, asked, schema), len(state))
        moves[:, j] = _moved(before, after)
    own = np.take_along_axis(means, leading, axis=1)
    moves = np.where(np.isfinite(own), moves, 0.0)  # what cannot be asked has no say in what counts as a repeat
    if policy.informative:
        limited = np.minimum(own, moves)
    else:
        limited = np.where(moves >= REDUNDANT_BELOW * moves.max(axis=1, keepdims=True), own, own - 1.0)
    capped = np.full_like(means, -np.inf)
    np.put_along_axis(capped, leading, limited, axis=1)
    return capped


def _predicted(predictor: Predictor, states: State, n: int) -> np.ndarray:
    """(n, worlds, outputs)."""
    return np.asarray(predictor.predict(states), dtype=np.float64).reshape(n, WORLDS, -1)


def _moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(n,) the mean KL(after || before) of class probabilities, or the mean squared difference of means."""
    if before.shape[2] == 1:
        return ((after - before) ** 2).mean(axis=(1, 2))
    tiny = np.finfo(np.float64).tiny
    each = after * (np.log(np.maximum(after, tiny)) - np.log(np.maximum(before, tiny)))
    return each.sum(axis=2).mean(axis=1)


def _shares(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """(n, worlds, features) softmax over what is allowed (n, features)."""
    scores = np.where(allowed[:, None] & (scores > -np.inf), scores, -np.inf)  # NaN is the lowest
    top = scores.max(axis=2, keepdims=True)
    powers = np.exp(np.minimum(scores - np.where(np.isfinite(top), top, 0.0), 0.0))
    return powers / np.maximum(powers.sum(axis=2, keepdims=True), np.finfo(np.float64).tiny)
