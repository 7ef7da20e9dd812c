"""A known discrete joint distribution, and the exact answers to what the paper estimates (its Section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from askless.acquisition import Cases, Costs, Predictor, Schema, State, cost_model
from askless.exceptions import ParameterError
from askless.theory.money import best_for_money
from askless.theory.policies import GreedyPolicy, OptimalPolicy
from askless.theory.records import Floats, Ints, Partial, schema_of
from askless.theory.table import StateTable, xlogx
from askless.theory.tree import Choice, Prediction, Visits, expand, predict_with

__all__ = ["DiscreteProblem"]


@dataclass(frozen=True, eq=False)
class DiscreteProblem(Predictor):
    """p(x_1, ..., x_d, y) as a table. Everything here is exact, in nats, and for a batch of partial records.

    A partial record is `Partial(values, asked)`: integers (n, columns), and the features asked (n, features).
    The problem is its own best predictor: `predict` makes it a `Predictor`.

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
            raise ParameterError(
                "wrong_shape",
                f"the features have {width} columns, but a table with {joint.ndim} axes has {joint.ndim - 1} "
                "besides the classes",
                name="joint",
                shape=joint.shape,
                expected=width + 1,
            )
        if not np.all(joint >= 0) or abs(joint.sum() - 1) > 1e-9:
            raise ParameterError(
                "out_of_range",
                f"probabilities must be at least 0 and sum to 1; these sum to {joint.sum()}",
                name="joint",
                value=float(joint.sum()),
            )
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
        """How many classes there are."""
        return int(self.joint.shape[-1])

    @cached_property
    def schema(self) -> Schema:
        """The features as a schema; an encoded column holds the integer itself."""
        return schema_of(self.features)

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

    def cases(self, values: Ints) -> Cases:
        """Complete records, for a roll-out."""
        return Cases(values.astype(np.float64), np.ones((len(values), len(self.schema)), dtype=bool))

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
        entropy: Floats = -xlogx(self.posterior(partial)).sum(axis=1)
        return entropy

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
        """(cases, n, columns): n draws from p(x | x_s) for each case; what is known stays as it is."""
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
        """(n, classes) p(y | x_s): the Bayes classifier."""
        return self.posterior(Partial.of(state))

    def worth(self, state: State) -> Floats:
        """(n, features) I(y; x_i | x_s), for the greedy policy."""
        return self.cmi(Partial.of(state))

    @cached_property
    def greedy(self) -> GreedyPolicy:
        """The paper's policy: the feature with the highest I(y; x_i | x_s)."""
        return GreedyPolicy(self)

    def optimal_policy(self, budget: int) -> OptimalPolicy:
        """The policy that no other beats, when `budget` questions may be asked."""
        return OptimalPolicy(self.table, budget)

    def best_value(self, budget: int) -> float:
        """The least expected log-loss that any adaptive policy reaches with `budget` questions."""
        root = self.table.root
        if budget < 0:
            raise ParameterError(
                "out_of_range", f"budget must be at least 0, not {budget!r}", name="budget", value=budget, low=0
            )
        if budget == 0:
            return float(self.table.entropy[root])
        return float(self.table.plan(min(budget, len(self.schema)))[-1][root].min())

    def best_value_for_money(self, money: float, costs: Costs) -> float:
        """The least expected log-loss that any adaptive policy reaches without spending more than `money`."""
        return best_for_money(self.table, self.schema, cost_model(costs, self.schema), money)

    def reachable(
        self, policy: Choice, budget: int | None = None, *, costs: Costs | None = None, money: float | None = None
    ) -> Visits:
        """All the records that a policy may come to in `budget` questions, with their probabilities.

        `policy` is a `Policy`, or a function from a `Partial` to the features (n,) to ask, -1 for none. Scores
        that are information are weighed against `costs`, and no path costs more than `money`.
        """
        most = len(self.schema) if budget is None else budget
        return expand(self, policy, most, cost_model(costs, self.schema), money)

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
            loss = loss + self.divergence(last, predict_with(self, predictor, last))
        return float(visits.probability[visits.ended] @ loss)

    def divergence(self, partial: Partial, predictions: Floats) -> Floats:
        """(n,) KL(p(y | x_s) || prediction): what `predictions` (n, classes) lose against the best ones."""
        exact = self.posterior(partial)
        with np.errstate(divide="ignore"):  # a class that can be and is said to be impossible: infinitely wrong
            log = np.log(np.where(exact > 0, predictions, 1.0))
        divergence: Floats = (xlogx(exact) - exact * log).sum(axis=1)
        return divergence

    def regret(self, partial: Partial, picks: Ints) -> Floats:
        """(n,) how much less information `picks` (n,) bring than the best would; 0 where nothing is picked."""
        cmi = self.cmi(partial)
        got = np.take_along_axis(cmi, np.maximum(picks, 0)[:, None], axis=1)[:, 0]
        return np.where(picks >= 0, cmi.max(axis=1) - got, 0.0)
