"""The tree of partial records that a policy can come to, with exact probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from askless.core import Asker, Policy, Predictor, Progress, decide
from askless.theory.records import Bools, Floats, Ints, Partial

if TYPE_CHECKING:
    from askless.theory.discrete import DiscreteProblem

__all__ = ["Choice", "Prediction", "Visits", "expand", "predict_with"]

Choice = Policy | Callable[[Partial], Ints]
"""A policy of the core, or a function from records to the (n,) features to ask next, -1 for none."""

Prediction = Predictor | Callable[[Partial], Floats]
"""A predictor of the core, or a function from records to (n, classes) probabilities."""


@dataclass(frozen=True, eq=False)
class Visits:
    """The m records that a policy can come to; `probability` sums to 1 over those with the same depth.

    (Over those where the asking `ended` as well, whatever their depth: a policy may stop early.)
    """

    partial: Partial
    probability: Floats  # (m,) of coming to the record
    pick: Ints  # (m,) what the policy asks there, -1 where the asking ended

    def __len__(self) -> int:
        return len(self.pick)

    @property
    def depth(self) -> Ints:
        """(m,) how many questions were asked before."""
        depth: Ints = np.count_nonzero(self.partial.asked, axis=1)
        return depth

    @property
    def ended(self) -> Bools:
        """(m,) bool: nothing is asked there."""
        return self.pick < 0


def expand(problem: DiscreteProblem, policy: Choice, budget: int) -> Visits:
    """Follow the policy from the empty record through every answer that can occur."""
    partial, probability = problem.empty(), np.ones(1)
    partials, probabilities, picks = [], [], []
    for step in range(budget + 1):
        pick = _pick(problem, policy, partial) if step < budget else np.full(len(partial), -1)
        partials.append(partial)
        probabilities.append(probability)
        picks.append(pick)
        partial, probability = _children(problem, partial, probability, pick)
        if not len(partial):
            break
    whole = Partial(np.concatenate([p.values for p in partials]), np.concatenate([p.asked for p in partials]))
    return Visits(whole, np.concatenate(probabilities), np.concatenate(picks))


def _pick(problem: DiscreteProblem, policy: Choice, partial: Partial) -> Ints:
    """(n,) the features to ask next; a policy of the core decides as it does in a roll-out."""
    if not isinstance(policy, Policy):
        pick = np.asarray(policy(partial))
    else:
        state = problem.state(partial)
        nothing = np.zeros(len(partial))
        asker = Asker(policy, problem, problem.schema)
        pick, _ = decide(Progress(state, nothing, nothing, problem.posterior(partial), asker), ())
    again = (pick >= 0) & np.take_along_axis(partial.asked, np.maximum(pick, 0)[:, None], axis=1)[:, 0]
    if again.any():
        raise ValueError(f"the policy asks {problem.schema.names[pick[again][0]]!r} a second time")
    return pick


def _children(problem: DiscreteProblem, partial: Partial, probability: Floats, pick: Ints) -> tuple[Partial, Floats]:
    """The records after each possible answer, and the probabilities of coming to them."""
    values, asked, chances = [partial.values[:0]], [partial.asked[:0]], [probability[:0]]
    for index, feature in enumerate(problem.schema.features):
        rows = np.flatnonzero(pick == index)
        chance = problem.answer_probabilities(partial[rows], index) * probability[rows, None]  # (rows, answers)
        parent, answer = np.nonzero(chance > 0)
        child, child_asked = partial.values[rows][parent], partial.asked[rows][parent]  # copies
        child[:, feature.start : feature.stop] = problem.answers(index)[answer]
        child_asked[:, index] = True
        values.append(child)
        asked.append(child_asked)
        chances.append(chance[parent, answer])
    return Partial(np.concatenate(values), np.concatenate(asked)), np.concatenate(chances)


def predict_with(problem: DiscreteProblem, predictor: Prediction, partial: Partial) -> Floats:
    """(n, classes) from either kind of predictor."""
    if isinstance(predictor, Predictor):
        return np.asarray(predictor.predict(problem.state(partial)))
    return np.asarray(predictor(partial))
