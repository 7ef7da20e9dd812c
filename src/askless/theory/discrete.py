"""A known discrete joint distribution, and the exact answers to what the paper estimates (its Section 3).

With them the tree of partial records that a policy can come to, and the best that any policy can do for money.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from askless.acquisition import (
    Context,
    CostModel,
    Costs,
    Policy,
    Predictor,
    Progress,
    Schema,
    State,
    cost_model,
    decide,
)
from askless.acquisition.stopping import MaxCost
from askless.acquisition.stopping.rules import CENT
from askless.exceptions import ParameterError, bad_value
from askless.theory.policies import KnownProblem, OptimalPolicy
from askless.theory.table import Bools, Floats, Ints, Partial, StateTable, xlogx

Choice = Policy | Callable[[Partial], Ints]
"""A `Policy`, or a function from records to the (n,) features to ask next, -1 for none."""

Prediction = Predictor | Callable[[Partial], Floats]
"""A `Predictor`, or a function from records to (n, classes) probabilities."""


@dataclass(frozen=True, eq=False)
class DiscreteProblem(KnownProblem):
    """p(x_1, ..., x_d, y) as a table. Everything here is exact, in nats, and for a batch of partial records.

    A partial record is `Partial(values, asked)`: integers (n, columns), and the features asked (n, features).

    >>> import numpy as np
    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])  # x tells y with probability 0.8
    >>> problem = DiscreteProblem("one test", {"x": 1}, joint)
    >>> problem.posterior(problem.partial([[0], [1]], [[False], [True]])).round(2).tolist()
    [[0.5, 0.5], [0.2, 0.8]]
    >>> problem.cmi(problem.empty()).round(4).tolist()  # log 2 - H(0.8)
    [[0.1927]]
    """

    name: str
    features: Mapping[str, int]  # how many of the columns each has, in order; more than one is a group
    joint: Floats  # (*levels, classes), sums to 1

    def __post_init__(self) -> None:
        joint = np.array(self.joint, dtype=np.float64)
        width = sum(self.features.values())
        if joint.ndim != width + 1:
            message = f"joint has {joint.ndim} axes; {width} columns and the classes need {width + 1}"
            raise ParameterError("wrong_shape", message, name="joint", shape=joint.shape, expected=width + 1)
        if not np.all(joint >= 0) or abs(joint.sum() - 1) > 1e-9:
            message = f"probabilities must be at least 0 and sum to 1; these sum to {joint.sum()}"
            raise ParameterError("out_of_range", message, name="joint", value=float(joint.sum()))
        joint /= joint.sum()
        joint.setflags(write=False)
        object.__setattr__(self, "joint", joint)

    # What the problem is

    @property
    def levels(self) -> tuple[int, ...]:
        """(columns,) how many values each column has: 0, 1, ..."""
        return self.joint.shape[:-1]

    @property
    def n_classes(self) -> int:
        return int(self.joint.shape[-1])

    @property
    def column_names(self) -> list[str]:
        """The names that the columns have in a table of samples."""
        return [part.name for feature in self.schema.features for part in feature.parts]

    @property
    def groups(self) -> dict[str, list[str]]:
        """The columns' names of each feature that has several: what an estimator takes as `groups`."""
        return {f.name: [part.name for part in f.parts] for f in self.schema.features if f.is_group}

    @cached_property
    def table(self) -> StateTable:
        """All partial records, numbered."""
        return StateTable(self.joint, self.schema)

    # Records

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Integer values (n, columns) and classes (n,) of n independent cases."""
        cells = rng.choice(self.joint.size, size=n, p=self.joint.ravel())
        *columns, y = np.unravel_index(cells, self.joint.shape)
        return np.stack(columns, axis=1), y

    def partial(self, values: ArrayLike, asked: ArrayLike) -> Partial:
        """The records with `values` (n, columns), of which only what was `asked` (n, features) is kept."""
        values, asked = np.array(values, dtype=np.int64), np.array(asked, dtype=bool)
        return Partial(np.where(asked[:, self.schema.column_feature], values, 0), asked)

    def empty(self, n: int = 1) -> Partial:
        """The record of which nothing is known, n times."""
        columns, features = len(self.levels), len(self.schema)
        return Partial(np.zeros((n, columns), dtype=np.int64), np.zeros((n, features), dtype=bool))

    def state(self, partial: Partial) -> State:
        """The same records as policies and predictors see them."""
        return State.of(self.cases(partial.values), self.schema.column_feature, partial.asked)

    # Exact quantities

    def probability(self, partial: Partial) -> Floats:
        """(n,) p(x_s)."""
        return self.table.weight[self.table.number(partial)]

    def posterior(self, partial: Partial) -> Floats:
        """(n, classes) p(y | x_s); for a record that cannot occur, p(y)."""
        numbers = self.table.number(partial)
        numbers = np.where(self.table.weight[numbers] > 0, numbers, self.table.root)
        return self.table.given(self.table.mass, numbers)

    def entropy(self, partial: Partial) -> Floats:
        """(n,) H(y | x_s), the log-loss to expect from the best prediction."""
        return -xlogx(self.posterior(partial)).sum(axis=1)

    def cmi(self, partial: Partial) -> Floats:
        """(n, features) I(y; x_i | x_s), a group's columns jointly; 0 for what was asked or cannot occur."""
        return self.table.given(self._information, self.table.number(partial))

    @cached_property
    def _information(self) -> Floats:
        """(S, features) I(y; x_i | x_s) = H(y | x_s) - E[H(y | x_s, x_i)], times p(x_s)."""
        return self.table.saved(self.table.after(self.table.entropy))

    def answers(self, feature: int) -> Ints:
        """(answers, width), all the values that the columns of a feature can take together."""
        return self.table.answers[feature]

    def answer_probabilities(self, partial: Partial, feature: int) -> Floats:
        """(n, answers) p(x_i | x_s), in the order of `answers`; the feature must not have been asked."""
        if partial.asked[:, feature].any():
            name = self.schema.names[feature]
            raise ParameterError("cannot_ask", f"{name!r} was asked before", feature=name)
        children = self.table.weight[self.table.number(partial)[:, None] + self.table.steps[feature]]
        total = children.sum(axis=1, keepdims=True)
        return np.asarray(children / np.where(total > 0, total, 1.0))

    def complete(self, state: State, n: int, rng: np.random.Generator) -> Ints:
        partial = Partial.of(state)
        uniform = rng.random((len(partial), n, len(self.levels)))
        numbers = np.repeat(self.table.number(partial)[:, None], n, axis=1)  # (cases, n)
        drawn = np.repeat(partial.values[:, None, :], n, axis=1)
        known = partial.asked[:, self.schema.column_feature]
        for column, (level, stride) in enumerate(zip(self.levels, self.table.strides, strict=True)):
            rows = ~known[:, column]  # column after column, each given all those before it
            children = numbers[rows, :, None] + (np.arange(level) - level) * stride  # (rows, n, level)
            upto = self.table.weight[children].cumsum(axis=2)
            value = np.count_nonzero(uniform[rows, :, column, None] * upto[..., -1:] >= upto[..., :-1], axis=2)
            drawn[rows, :, column] = value
            numbers[rows] += (value - level) * stride
        return drawn

    # Policies and what they are worth

    def predict(self, state: State) -> Floats:
        return self.posterior(Partial.of(state))

    def worth(self, state: State) -> Floats:
        """(n, features) I(y; x_i | x_s), for the greedy policy."""
        return self.cmi(Partial.of(state))

    def optimal_policy(self, budget: int) -> OptimalPolicy:
        """The policy that no other beats, when `budget` questions may be asked."""
        return OptimalPolicy(self.table, budget)

    def best_value(self, budget: int) -> float:
        """The least expected log-loss that any adaptive policy reaches with `budget` questions."""
        root = self.table.root
        if budget < 0:
            raise bad_value("out_of_range", "budget", budget, "at least 0", low=0)
        if budget == 0:
            return float(self.table.entropy[root])
        return float(self.table.plan(min(budget, len(self.schema)))[-1][root].min())

    def best_value_for_money(self, money: float, costs: Costs) -> float:
        """The least expected log-loss that any adaptive policy reaches without spending more than `money`.

        Bellman's equation over records and money spent: what a question costs may depend on what was asked before.
        """
        table = self.table
        prices = _prices(table, self.schema, cost_model(costs, self.schema))
        steps = [each.tolist() for each in table.steps]
        limit = money + CENT * (1.0 + money)
        known: dict[tuple[int, float], float] = {}

        def best(number: int, spent: float) -> float:
            key = number, round(spent, 9)
            if key not in known:
                values = [float(table.entropy[number])]
                for feature in np.flatnonzero(table.open[number]).tolist():
                    after = spent + float(prices[number, feature])
                    if after <= limit:
                        values.append(sum(best(number + step, after) for step in steps[feature]))
                known[key] = min(values)
            return known[key]

        return best(table.root, 0.0)

    def reachable(
        self, policy: Choice, budget: int | None = None, *, costs: Costs | None = None, money: float | None = None
    ) -> Visits:
        """All the records that a policy may come to in `budget` questions, with their probabilities.

        `policy` is a `Policy`, or a function from a `Partial` to the features (n,) to ask, -1 for none. Scores
        that are information are weighed against `costs`, and no path costs more than `money`.
        """
        most = len(self.schema) if budget is None else budget
        charged = cost_model(costs, self.schema)
        partial, probability, spent = self.empty(), np.ones(1), np.zeros(1)
        partials, probabilities, picks, sums = [], [], [], []
        for step in range(most + 1):
            none = np.full(len(partial), -1)
            pick, price = _pick(self, policy, partial, spent, charged, money) if step < most else (none, 0.0 * none)
            partials.append(partial)
            probabilities.append(probability)
            picks.append(pick)
            sums.append(spent)
            partial, probability, parent = _children(self, partial, probability, pick)
            spent = (spent + price)[parent]
            if not len(partial):
                break
        whole = Partial(np.concatenate([p.values for p in partials]), np.concatenate([p.asked for p in partials]))
        return Visits(whole, np.concatenate(probabilities), np.concatenate(picks), np.concatenate(sums))

    def expected_loss(
        self,
        policy: Choice,
        budget: int | None = None,
        predictor: Prediction | None = None,
        *,
        costs: Costs | None = None,
        money: float | None = None,
    ) -> float:
        """The expected log-loss after `budget` questions, or for `money`, of the best predictor or the one given."""
        visits = self.reachable(policy, budget, costs=costs, money=money)
        last = visits.partial[visits.ended]
        loss = self.entropy(last)
        if predictor is not None:
            given = predictor.predict(self.state(last)) if isinstance(predictor, Predictor) else predictor(last)
            loss = loss + self.divergence(last, np.asarray(given))
        return float(visits.probability[visits.ended] @ loss)

    def divergence(self, partial: Partial, predictions: Floats) -> Floats:
        """(n,) KL(p(y | x_s) || prediction): what `predictions` (n, classes) lose against the best ones."""
        exact = self.posterior(partial)
        with np.errstate(divide="ignore"):  # a class that can be and is said to be impossible: infinitely wrong
            log = np.log(np.where(exact > 0, predictions, 1.0))
        return (xlogx(exact) - exact * log).sum(axis=1)

    def regret(self, partial: Partial, picks: Ints) -> Floats:
        """(n,) how much less information `picks` (n,) bring than the best would; 0 where nothing is picked."""
        cmi = self.cmi(partial)
        got = np.take_along_axis(cmi, np.maximum(picks, 0)[:, None], axis=1)[:, 0]
        return np.where(picks >= 0, cmi.max(axis=1) - got, 0.0)


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
        return np.count_nonzero(self.partial.asked, axis=1)

    @property
    def ended(self) -> Bools:
        """(m,) bool: nothing is asked there."""
        return self.pick < 0


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


def _prices(table: StateTable, schema: Schema, costs: CostModel) -> Floats:
    """(S, features) the price of each question in each record; one of a half-known group never comes up."""
    shape = tuple(int(level) + 1 for level in table.levels)
    codes = np.stack(np.unravel_index(np.arange(len(table.weight)), shape), axis=1)  # (S, columns)
    known = codes < table.levels
    x = np.where(known, codes, 0).astype(np.float64)
    asked = np.logical_and.reduceat(known, schema.starts, axis=1)  # (S, features)
    return np.asarray(costs.prices(State(x, asked, asked)), dtype=np.float64)
