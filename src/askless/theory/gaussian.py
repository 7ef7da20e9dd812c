"""A jointly Gaussian regression problem: exact means, variances and best questions (the paper's Theorem 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from askless.acquisition import State
from askless.exceptions import ParameterError
from askless.theory.policies import DECIMALS, KnownProblem, SubsetPolicy
from askless.theory.table import Bools, Floats, Ints

MAX_FEATURES = 12  # all 2^12 subsets are kept


@dataclass(frozen=True, eq=False)
class GaussianProblem(KnownProblem):
    """(x, y) ~ N(mean, covariance); y is the last variable and squared error is the loss.

    The variance that is left depends on what was asked but not on the answers, so the best adaptive policy is a
    fixed subset, and all subsets are enumerated; bit i of a subset's number stands for feature i.

    >>> import numpy as np
    >>> problem = GaussianProblem("a test", {"x": 1}, np.zeros(2), np.array([[2.0, 1.0], [1.0, 1.0]]))
    >>> problem.variance(np.array([[False], [True]])).tolist()  # 1, and 1 - 1 x 1 / 2
    [1.0, 0.5]
    """

    name: str
    features: Mapping[str, int]  # how many of the columns each has, in order; more than one is a group
    mean: Floats  # (columns + 1,)
    covariance: Floats  # (columns + 1, columns + 1), positive definite

    def __post_init__(self) -> None:
        for name in ("mean", "covariance"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))
        size = sum(self.features.values()) + 1
        for name, expected in (("mean", (size,)), ("covariance", (size, size))):
            shape = getattr(self, name).shape
            if shape != expected:
                message = f"the {name} of the features and y must have the shape {expected}, not {shape}"
                raise ParameterError("wrong_shape", message, name=name, shape=shape, expected=expected)
        if not np.allclose(self.covariance, self.covariance.T):
            raise ParameterError("invalid_choice", "the covariance is not symmetric", name="covariance")
        least = np.linalg.eigvalsh(self.covariance)[0]
        if least <= 0:
            message = f"the covariance is not positive definite: its smallest eigenvalue is {least}"
            raise ParameterError("out_of_range", message, name="covariance", value=float(least), low=0)
        n = len(self.features)
        if n > MAX_FEATURES:
            message = f"{n} features are too many to enumerate; the limit is {MAX_FEATURES}"
            raise ParameterError("too_large", message, name="features", value=n, high=MAX_FEATURES)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Values (n, columns) and responses (n,) of n independent cases."""
        drawn = self.mean + rng.standard_normal((n, len(self.mean))) @ np.linalg.cholesky(self.covariance).T
        return drawn[:, :-1], drawn[:, -1]

    # All subsets at once

    @cached_property
    def subsets(self) -> Bools:
        """(subsets, features) bool, in the order of their numbers."""
        size = len(self.features)
        return (np.arange(2**size)[:, None] >> np.arange(size)) % 2 == 1

    @cached_property
    def _weights(self) -> Floats:
        """(subsets, columns, columns + 1): what each known column adds to the mean of each variable.

        Columns that are not known are cut off from the others, so that one stacked solve serves all subsets.
        """
        shown = self.subsets[:, self.schema.column_feature]  # (subsets, columns)
        inside = np.where(shown[:, :, None] & shown[:, None, :], self.covariance[:-1, :-1], np.eye(shown.shape[1]))
        across = np.where(shown[:, :, None], self.covariance[:-1, :], 0.0)
        return np.linalg.solve(inside, across)

    @cached_property
    def variances(self) -> Floats:
        """(subsets,) Var(y | x_s)."""
        explained = self._weights[:, :, -1] @ self.covariance[:-1, -1]
        return np.asarray(self.covariance[-1, -1] - explained)

    @cached_property
    def _after(self) -> Floats:
        """(subsets, features) Var(y | x_s, x_i)."""
        numbers: Ints = np.arange(len(self.subsets))[:, None] | (1 << np.arange(len(self.features)))
        return self.variances[numbers]

    def number(self, known: Bools) -> Ints:
        """(n,) the numbers of the subsets `known` (n, features)."""
        return np.asarray(known) @ (1 << np.arange(len(self.features)))

    # Exact quantities

    def variance(self, known: Bools) -> Floats:
        """(n,) Var(y | x_s) for `known` (n, features) bool."""
        return self.variances[self.number(known)]

    def expected_variance(self, known: Bools) -> Floats:
        """(n, features) E[Var(y | x_i, x_s)], a group's columns jointly; Var(y | x_s) for what is known."""
        return self._after[self.number(known)]

    def posterior(self, state: State) -> Floats:
        """(n,) E[y | x_s]."""
        return self._expect(state)[:, -1]

    def _expect(self, state: State) -> Floats:
        """(n, columns + 1) the mean of every variable given what is known."""
        known = np.asarray(state.known)
        shift = np.where(known[:, self.schema.column_feature], state.x - self.mean[:-1], 0.0)
        # One product for each subset that occurs, rather than a matrix for each row.
        numbers, which = np.unique(self.number(known), return_inverse=True)
        expected = np.empty((len(known), len(self.mean)))
        for i, number in enumerate(numbers):
            rows = which == i
            expected[rows] = self.mean + shift[rows] @ self._weights[number]
        return expected

    def complete(self, state: State, n: int, rng: np.random.Generator) -> Floats:
        """(cases, n, columns): n draws from p(x | x_s) for each case; what is known stays as it is.

        An unconditional draw is moved by what its known columns lack (Matheron's rule).
        """
        cases, columns = np.shape(state.x)
        noise = rng.standard_normal((cases * n, columns)) @ np.linalg.cholesky(self.covariance[:-1, :-1]).T
        known = np.repeat(state.known, n, axis=0)
        x = np.repeat(state.x, n, axis=0)
        gap = State(x - noise, known, known)
        drawn = np.where(known[:, self.schema.column_feature], x, noise + self._expect(gap)[:, :-1])
        return drawn.reshape(cases, n, columns)

    # Policies and what they are worth

    def predict(self, state: State) -> Floats:
        return self.posterior(state)[:, None]

    def worth(self, state: State) -> Floats:
        """(n, features) Var(y | x_s) - E[Var(y | x_i, x_s)], for the greedy policy."""
        known = np.asarray(state.known)
        return self.variance(known)[:, None] - self.expected_variance(known)

    def greedy_subset(self, budget: int) -> tuple[int, ...]:
        """The features that the greedy policy asks, in its order."""
        known = np.zeros((1, len(self.features)), dtype=bool)
        order: list[int] = []
        for _ in range(min(budget, len(self.features))):
            left = np.where(known, np.inf, self.expected_variance(known).round(DECIMALS))
            order.append(int(left.argmin()))
            known[0, order[-1]] = True
        return tuple(order)

    def best_subset(self, budget: int) -> tuple[int, ...]:
        """The `budget` features that leave the least variance together."""
        size = self.subsets.sum(axis=1)
        left = np.where(size == min(budget, len(self.features)), self.variances.round(DECIMALS), np.inf)
        return tuple(int(i) for i in np.flatnonzero(self.subsets[left.argmin()]))

    def best_value(self, budget: int) -> float:
        """The least expected squared error that any adaptive policy reaches with `budget` questions."""
        return self.subset_variance(self.best_subset(budget))

    def subset_variance(self, features: tuple[int, ...]) -> float:
        """Var(y | the features given)."""
        return float(self.variances[sum(1 << i for i in features)])

    def optimal_policy(self, budget: int) -> SubsetPolicy:
        """The policy that no other beats, when `budget` questions may be asked."""
        return SubsetPolicy(self.best_subset(budget))


def gaussian_chain() -> GaussianProblem:
    """A quantity that drifts along a chain of six places, each read with an error; y is mostly its two ends.

    Neighbours are correlated. The panel reads the two places in the middle at once and is the best single question,
    since the middle is near to both ends; but of two questions the best are the ends themselves.

    >>> problem = gaussian_chain()
    >>> [problem.schema.names[i] for i in problem.greedy_subset(2)]
    ['panel', 'place_0']
    >>> [problem.schema.names[i] for i in problem.best_subset(2)]
    ['place_0', 'place_5']
    """
    keep = np.array([0.85, 0.90, 0.90, 0.90, 0.85])  # correlation from each place to the next; all variances are 1
    place = np.diag(np.append(1.0, np.sqrt(1 - keep**2)))  # (places, innovations)
    for i in range(5):
        place[i + 1] += keep[i] * place[i]
    error = np.diag([0.5, 0.6, 0.4, 0.5, 0.6, 0.4])
    readings = np.hstack([place, error, np.zeros((6, 1))])  # (columns, independent N(0, 1))
    response = np.concatenate([np.array([1.0, 0.0, 0.3, 0.0, 0.0, 0.9]) @ place, np.zeros(6), [0.3]])
    loading = np.vstack([readings, response])
    features = {"place_0": 1, "place_1": 1, "panel": 2, "place_4": 1, "place_5": 1}
    return GaussianProblem("gaussian_chain", features, np.linspace(-1.0, 2.0, 7), loading @ loading.T)


def gaussian_suppressor() -> GaussianProblem:
    """A signal under a large disturbance, the disturbance by itself, and a plain noisy reading.

    The disturbance says nothing about y and the disturbed signal little; together they all but give y away. A
    greedy policy starts with the plain reading.

    >>> problem = gaussian_suppressor()
    >>> problem.greedy_subset(2), problem.best_subset(2)
    ((2, 0), (0, 1))
    """
    loading = np.array(  # (variables, independent N(0, 1)): y, the disturbance, the error of each reading
        [[1.0, 2.0, 0.2, 0.0, 0.0], [0.0, 1.0, 0.0, 0.1, 0.0], [1.0, 0.0, 0.0, 0.0, 1.2], [1.0, 0.0, 0.0, 0.0, 0.0]]
    )
    features = {"disturbed": 1, "disturbance": 1, "plain": 1}
    return GaussianProblem("gaussian_suppressor", features, np.zeros(4), loading @ loading.T)
