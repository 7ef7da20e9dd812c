"""What could be asked next, and why the first of it is: so that a person sees what came second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from askless.core.arrays import Array
from askless.core.choice import ceiling_of, narrowed, ranked_scores
from askless.core.progress import Asker, Progress
from askless.core.schema import Schema
from askless.core.state import Cases, State
from askless.core.stopping import StoppingRule
from askless.core.stopping.base import makes_promise
from askless.core.stopping.certified import not_used

__all__ = ["Candidate", "Ranking", "candidates_after", "candidates_of", "ranking_of"]


@dataclass(frozen=True)
class Candidate:
    """A feature that could be asked next."""

    name: str
    score: float  # the highest is asked first; with costs, information per unit of cost; see Interview.fixed_order
    information: float | None  # nats, or the expected drop of the squared error; None if scores are no information
    price: float


@dataclass(slots=True)
class Ranking:
    """What the choice of the next question of a single case went by."""

    ceiling: np.ndarray  # (features,) infinity where a feature may be asked, else minus infinity
    scores: np.ndarray  # (features,) after prices had their say
    information: np.ndarray | None  # (features,) the policy's own scores, where they are information

    def order(self) -> list[int]:
        """The features that may be asked, the best first; NaN counts as the lowest score."""
        places = np.flatnonzero(self.ceiling > 0)
        best_first: list[int] = places[(-np.fmax(self.scores[places], -np.inf)).argsort(kind="stable")].tolist()
        return best_first

    def candidates(self, order: Sequence[int], schema: Schema, prices: Sequence[float]) -> tuple[Candidate, ...]:
        """The features in that order as candidates."""
        names, scores = schema.names, self.scores.tolist()
        told = None if self.information is None else self.information.tolist()
        return tuple(Candidate(names[i], scores[i], None if told is None else told[i], prices[i]) for i in order)


def ranking_of(progress: Progress, ceiling: Array) -> Ranking:
    """What a single case may be asked below a ceiling (1, features), and how much each is worth."""
    scores = np.asarray(ranked_scores(progress, ceiling))[0]
    return Ranking(ceiling[0], scores, np.asarray(progress.scores)[0] if progress.who.informative else None)


def candidates_of(progress: Progress, rules: Sequence[StoppingRule]) -> tuple[Candidate, ...]:
    """What may be asked next of a single case, the best first; empty where a rule stops it."""
    ceiling, _ = narrowed(progress, rules)
    if not (ceiling > 0).any():
        return ()
    ranking = ranking_of(progress, ceiling)
    return ranking.candidates(ranking.order(), progress.who.schema, np.asarray(progress.prices)[0].tolist())


def candidates_after(
    asker: Asker,
    rules: Sequence[StoppingRule],
    case: Cases,
    can_ask: Array,  # (1, features) bool
    known: Array,  # (1, features) bool: there from the start
    order: Sequence[int],
) -> tuple[Candidate, ...]:
    """The candidates for a single case after the questions `order`.

    As in an interview, a certified rule is not used once a feature was asked that was not the next one.
    """
    state = State.of(case, asker.schema.column_feature, known)
    progress = Progress(state, np.zeros(1, dtype=np.int64), np.zeros(1), np.empty((1, 0)), asker, given=known)

    def with_prediction(progress: Progress) -> Progress:
        ceiling = ceiling_of(can_ask & ~progress.state.asked, progress.state.x)
        return replace(progress, prediction=asker.predictor.predict(progress.state), ceiling=ceiling)

    for feature in order:
        if any(map(makes_promise, rules)):
            following = candidates_of(with_prediction(progress), rules)
            if not following or following[0].name != asker.schema.names[feature]:
                rules = not_used(rules, "the features were asked in another order")
        pick = np.array([feature])
        spent = progress.spent + progress.prices[:, feature]
        state = progress.state.after(pick, case, asker.schema)
        progress = replace(progress, state=state, count=progress.count + 1, spent=spent)
    return candidates_of(with_prediction(progress), rules)
