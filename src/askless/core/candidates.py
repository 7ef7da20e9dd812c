"""What could be asked next, and why the first of it is: so that a person sees what came second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from askless.core.arrays import Array
from askless.core.choice import ceiling_of, narrowed, ranked_scores
from askless.core.progress import Asker, Progress
from askless.core.state import Cases, State
from askless.core.stopping import StoppingRule

__all__ = ["Candidate", "candidates_after", "candidates_of"]


@dataclass(frozen=True)
class Candidate:
    """A feature that could be asked next."""

    name: str
    score: float  # what the choice went by; with prices, information for each unit of money
    information: float | None  # nats, or a drop of the squared error; None where the method does not say
    price: float


def candidates_of(progress: Progress, rules: Sequence[StoppingRule]) -> tuple[Candidate, ...]:
    """What may be asked next of a single case, the best first; empty where a rule stops it."""
    ceiling, _ = narrowed(progress, rules)
    places = np.flatnonzero(np.asarray(ceiling)[0] > 0)
    if not len(places):
        return ()
    who = progress.who
    scores, prices = np.asarray(ranked_scores(progress, ceiling))[0], np.asarray(progress.prices)[0]
    information = np.asarray(progress.scores)[0] if who.informative else None
    low = np.where(np.isnan(scores), -np.inf, scores)
    order = places[np.argsort(-low[places], kind="stable")]
    return tuple(
        Candidate(
            who.schema.names[i],
            float(scores[i]),
            None if information is None else float(information[i]),
            float(prices[i]),
        )
        for i in order.tolist()
    )


def candidates_after(
    asker: Asker,
    rules: Sequence[StoppingRule],
    case: Cases,
    can_ask: Array,  # (1, features) bool
    known: Array,  # (1, features) bool: there from the start
    order: Sequence[int],
) -> tuple[Candidate, ...]:
    """The candidates for a single case after the questions `order`."""
    state = State.of(case, asker.schema.column_feature, known)
    progress = Progress(state, np.zeros(1, dtype=np.int64), np.zeros(1), np.empty((1, 0)), asker, given=known)
    for feature in order:
        pick = np.array([feature])
        spent = progress.spent + progress.prices[:, feature]
        state = progress.state.after(pick, case, asker.schema)
        progress = replace(progress, state=state, count=progress.count + 1, spent=spent)
    ceiling = ceiling_of(can_ask & ~progress.state.asked, progress.state.x)
    prediction = asker.predictor.predict(progress.state)
    return candidates_of(replace(progress, prediction=prediction, ceiling=ceiling), rules)
