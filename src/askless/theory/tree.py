"""The tree of partial records that a policy can come to, with exact probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from askless.acquisition import Context, CostModel, Policy, Predictor, Progress, Uniform, decide
from askless.acquisition.stopping import MaxCost
from askless.exceptions import ParameterError
from askless.theory.records import Bools, Floats, Ints, Partial

if TYPE_CHECKING:
    from askless.theory.discrete import DiscreteProblem

__all__ = ["Choice", "Prediction", "Visits", "expand", "predict_with"]

Choice = Policy | Callable[[Partial], Ints]
"""A `Policy`, or a function from records to the (n,) features to ask next, -1 for none."""

Prediction = Predictor | Callable[[Partial], Floats]
"""A `Predictor`, or a function from records to (n, classes) probabilities."""


@dataclass(frozen=True, eq=False)
class Visits:
    """The m records that a policy can come to; `probability` sums to 1 over those with the same depth.

    (Over those where the asking `ended` as well, whatever their depth: a policy may stop early.)
    """

    partial: Partial
    probability: Floats  # (m,) of coming to the record
    pick: Ints  # (m,) what the policy asks there, -1 where the asking ended
    spent: Floats  # (m,) the money that the questions before cost

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


def expand(
    problem: DiscreteProblem, policy: Choice, budget: int, costs: CostModel | None = None, money: float | None = None
) -> Visits:
    """Follow the policy from the empty record through every answer that can occur; no path costs more than money."""
    partial, probability, spent = problem.empty(), np.ones(1), np.zeros(1)
    partials, probabilities, picks, sums = [], [], [], []
    costs = costs or Uniform()
    for step in range(budget + 1):
        none = np.full(len(partial), -1)
        pick, price = _pick(problem, policy, partial, spent, costs, money) if step < budget else (none, 0.0 * none)
        partials.append(partial)
        probabilities.append(probability)
        picks.append(pick)
        sums.append(spent)
        partial, probability, parent = _children(problem, partial, probability, pick)
        spent = (spent + price)[parent]
        if not len(partial):
            break
    whole = Partial(np.concatenate([p.values for p in partials]), np.concatenate([p.asked for p in partials]))
    return Visits(whole, np.concatenate(probabilities), np.concatenate(picks), np.concatenate(sums))


def _pick(
    problem: DiscreteProblem, policy: Choice, partial: Partial, spent: Floats, costs: CostModel, money: float | None
) -> tuple[Ints, Floats]:
    """(n,) the features to ask next and their prices; a `Policy` decides as it does in a roll-out."""
    state = problem.state(partial)
    scored = policy if isinstance(policy, Policy) else problem.greedy
    progress = Progress(
        state=state,
        count=np.zeros(len(partial)),
        spent=spent,
        prediction=problem.posterior(partial),
        context=Context(scored, problem, problem.schema, costs=costs),
    )
    if isinstance(policy, Policy):
        pick, _ = decide(progress, () if money is None else (MaxCost(money),))
    elif money is None:
        pick = np.asarray(policy(partial))
    else:
        raise ParameterError("not_supported", "a function cannot be used with `money`; use a policy", name="money")
    there = np.maximum(pick, 0)[:, None]
    again = (pick >= 0) & np.take_along_axis(partial.asked, there, axis=1)[:, 0]
    if again.any():
        name = problem.schema.names[pick[again][0]]
        raise ParameterError("cannot_ask", f"the policy asks {name!r} a second time", feature=name)
    return pick, np.take_along_axis(progress.prices, there, axis=1)[:, 0] * (pick >= 0)


def _children(
    problem: DiscreteProblem, partial: Partial, probability: Floats, pick: Ints
) -> tuple[Partial, Floats, Ints]:
    """The records after each possible answer, the probabilities of coming to them, and where they come from."""
    values, asked, chances = [partial.values[:0]], [partial.asked[:0]], [probability[:0]]
    parents = [pick[:0]]
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
        parents.append(rows[parent])
    children = Partial(np.concatenate(values), np.concatenate(asked))
    return children, np.concatenate(chances), np.concatenate(parents)


def predict_with(problem: DiscreteProblem, predictor: Prediction, partial: Partial) -> Floats:
    """(n, classes) from either kind of predictor."""
    if isinstance(predictor, Predictor):
        return np.asarray(predictor.predict(problem.state(partial)))
    return np.asarray(predictor(partial))
