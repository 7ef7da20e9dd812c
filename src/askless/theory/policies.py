"""Policies from a known distribution: exact ones, and one that estimates what a question is worth from samples.

The estimate is the paper's I_i^n, and its twin for regression. For each candidate x_i draw n answers from
p(x_i | x_s), predict from each, and measure how much the predictions differ: their mean KL divergence from their mean
tends to I(y; x_i | x_s), and the variance of predicted means tends to Var(y | x_s) - E[Var(y | x_i, x_s)]. Both need
the best predictor and the right distribution of answers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from askless.acquisition import Cases, Policy, Predictor, Schema, State
from askless.exceptions import bad_value
from askless.theory.table import Floats, Ints, Partial, StateTable, schema_of

MAX_ROWS = 65_536  # states that a predictor is given at once

# Scores are rounded, so that what is equal by symmetry ties exactly and the first of the tied is asked.
DECIMALS = 12


@runtime_checkable
class Sampler(Protocol):
    """Imagines answers."""

    def draw(self, state: State, n: int, rng: np.random.Generator) -> np.ndarray:
        """(cases, n, columns): n values of every column for each case.

        Of each draw one feature's columns are used at a time, so features need not fit one another, but the
        columns of a group must. What is drawn for features that were asked is ignored.
        """
        ...


class KnownProblem(Predictor):
    """A known distribution. It is its own best predictor: `predict` makes it a `Predictor`."""

    features: Mapping[str, int]  # how many of the columns each has, in order; more than one is a group

    @cached_property
    def schema(self) -> Schema:
        """The features as a schema; an encoded column holds the value itself."""
        return schema_of(self.features)

    def cases(self, values: np.ndarray) -> Cases:
        """Complete records (n, columns), for a roll-out."""
        return Cases(values.astype(np.float64), np.ones((len(values), len(self.schema)), dtype=bool))

    @abstractmethod
    def complete(self, state: State, n: int, rng: np.random.Generator) -> np.ndarray:
        """(cases, n, columns): n draws from p(x | x_s) for each case; what is known stays as it is."""

    @abstractmethod
    def worth(self, state: State) -> Floats:
        """(n, features) what one more answer saves of the expected loss."""

    @cached_property
    def greedy(self) -> GreedyPolicy:
        """The paper's policy: the question that saves most of the expected loss at once."""
        return GreedyPolicy(self)


@dataclass(frozen=True, eq=False)
class ExactSampler:
    """Draws from p(x_i | x_s) of a known problem, discrete or Gaussian."""

    problem: KnownProblem

    def draw(self, state: State, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.problem.complete(state, n, rng)


@dataclass(frozen=True, eq=False)
class MarginalSampler:
    """Draws from p(x_i), whatever is known: right only where features are independent of one another.

    With `shared`, every case gets the first n of `rows` (from the start again when there are fewer). There is no
    chance in it, a batch gives what its cases give one by one, and n = len(rows) takes each row once.
    """

    rows: np.ndarray  # (rows, columns), complete records
    shared: bool = False

    def draw(self, state: State, n: int, rng: np.random.Generator) -> np.ndarray:
        if self.shared:
            rows = np.broadcast_to(np.arange(n) % len(self.rows), (len(state), n))
        else:
            rows = (rng.random((len(state), n)) * len(self.rows)).astype(np.int64)
        return self.rows[rows]


Spread = Callable[[Floats], Floats]
"""How much (..., n, outputs) predictions differ from one another, as (...)."""


def divergence_from_mean(predictions: Floats) -> Floats:
    """The mean KL divergence of class probabilities (..., n, classes) from their mean, in nats.

    >>> divergence_from_mean(np.array([[1.0, 0.0], [0.0, 1.0]])).round(4)  # log 2
    np.float64(0.6931)
    """
    mean = predictions.mean(axis=-2, keepdims=True)
    # Where a probability is 0 so is its term; the mean is positive wherever any of its terms is.
    ratio = np.divide(predictions, mean, out=np.ones_like(predictions), where=predictions > 0)
    return np.maximum((predictions * np.log(ratio)).sum(axis=-1).mean(axis=-1), 0.0)


def variance_of_means(predictions: Floats) -> Floats:
    """The variance of predicted means (..., n, 1).

    >>> variance_of_means(np.array([[1.0], [3.0]]))
    np.float64(1.0)
    """
    return predictions[..., 0].var(axis=-1)


def estimate_worth(
    predictor: Predictor,
    sampler: Sampler,
    state: State,
    schema: Schema,
    *,
    n_samples: int,
    rng: np.random.Generator,
    spread: Spread = divergence_from_mean,
    max_rows: int = MAX_ROWS,
) -> Floats:
    """(cases, features): how much predictions differ over sampled answers to each feature; 0 for what was asked.

    `max_rows` bounds the states in memory at once; it does not change the estimate.

    >>> import numpy as np
    >>> from askless.theory import ExactSampler, noisy_tests
    >>> problem, rng = noisy_tests(), np.random.default_rng(0)
    >>> state = problem.state(problem.empty())
    >>> worth = estimate_worth(
    ...     problem, ExactSampler(problem), state, problem.schema, n_samples=4000, rng=rng
    ... )
    >>> bool(np.abs(worth - problem.cmi(problem.empty())).max() < 0.01)
    True
    """
    if n_samples < 1:
        raise bad_value("out_of_range", "n_samples", n_samples, "at least 1", low=1)
    worth = np.zeros(state.asked.shape)
    block = max(1, max_rows // (n_samples * len(schema)))  # cases at once: bounds the draws and the predictions
    for start in range(0, len(state), block):
        rows = slice(start, start + block)
        part = state[rows]
        case, feature = np.nonzero(~part.asked)  # (pairs,)
        if len(case):
            drawn = sampler.draw(part, n_samples, rng)
            predictions = _imagine(predictor, part, drawn, case, feature, schema, max_rows)
            worth[start + case, feature] = spread(predictions)
    return worth


def _imagine(
    predictor: Predictor,
    state: State,
    drawn: np.ndarray,  # (cases, n, columns)
    case: Ints,  # (pairs,)
    feature: Ints,  # (pairs,)
    schema: Schema,
    max_rows: int,
) -> Floats:
    """(pairs, n, outputs): what would be predicted for a case if an answer to a feature were the one drawn."""
    n = drawn.shape[1]
    outputs = []
    for start in range(0, len(case) * n, max_rows):
        pair, draw = np.divmod(np.arange(start, min(start + max_rows, len(case) * n)), n)  # (rows,)
        row, asks = case[pair], feature[pair]
        answered = schema.column_feature == asks[:, None]  # (rows, columns)
        x = np.where(answered, drawn[row, draw], state.x[row]).astype(state.x.dtype)
        new = np.arange(len(schema)) == asks[:, None]  # (rows, features)
        outputs.append(np.asarray(predictor.predict(State(x, state.asked[row] | new, state.known[row] | new))))
    return np.concatenate(outputs).reshape(len(case), n, -1)


@dataclass(frozen=True, eq=False)
class SampledPolicy(Policy):
    """Scores by `estimate_worth`. The random numbers start again at each call: same state, same scores."""

    predictor: Predictor
    sampler: Sampler
    schema: Schema
    n_samples: int = 128
    seed: int = 0
    spread: Spread = divergence_from_mean
    max_rows: int = MAX_ROWS
    informative = True  # scores are information, which can be weighed against prices

    def score(self, state: State) -> Floats:
        return estimate_worth(
            self.predictor,
            self.sampler,
            state,
            self.schema,
            n_samples=self.n_samples,
            rng=np.random.default_rng(self.seed),
            spread=self.spread,
            max_rows=self.max_rows,
        )


@dataclass(frozen=True, eq=False)
class GreedyPolicy(Policy):
    """The paper's policy: the question that saves most of the expected loss at once.

    For classes that is the conditional mutual information, for regression the drop of the variance.
    """

    problem: KnownProblem
    informative = True  # scores are information, which can be weighed against prices

    def score(self, state: State) -> Floats:
        return np.where(state.asked, 0.0, self.problem.worth(state).round(DECIMALS))


class OptimalPolicy(Policy):
    """Scores by what all the questions left save, when each is chosen as well as can be.

    Every question asked counts towards the budget. With one left, and beyond the budget, it is the greedy score.
    """

    def __init__(self, table: StateTable, budget: int) -> None:
        if budget < 1:
            raise bad_value("out_of_range", "budget", budget, "at least 1", low=1)
        self.budget = budget
        self._table = table
        self._saved = np.stack([table.saved(plan) for plan in table.plan(budget)], axis=1)  # (S, budget, features)

    def score(self, state: State) -> Floats:
        numbers = self._table.number(Partial.of(state))
        left = np.maximum(self.budget - np.count_nonzero(state.asked, axis=1), 1)  # (n,)
        gain = self._table.given(self._saved, numbers)[np.arange(len(left)), left - 1]
        return np.where(state.asked, 0.0, gain.round(DECIMALS))


@dataclass(frozen=True)
class SubsetPolicy(Policy):
    """Asks the features of a fixed subset, in the order given, before all others."""

    features: tuple[int, ...]

    def score(self, state: State) -> Floats:
        scores = np.zeros(np.shape(state.asked))
        scores[:, list(self.features)] = np.arange(len(self.features), 0, -1)
        return scores
