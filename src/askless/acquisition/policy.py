"""The base classes of policies and predictors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from askless.acquisition.state import State
from askless.exceptions import TruthError

Task = Literal["classification", "regression"]
"""What is predicted: the probabilities of classes, or a mean."""


class Policy(ABC):
    """Scores what could be asked next. It never selects, forbids, pays or stops: the roll-out does.

    A policy of your own derives from this class and writes `score`. The attributes say what else is true of it.

    >>> import numpy as np
    >>> from askless.acquisition import Cases, MaxFeatures, Policy, Predictor, Schema, rollout
    >>> class LeftToRight(Policy):
    ...     fixed_order = True
    ...     def score(self, state):
    ...         n, features = state.asked.shape
    ...         return np.broadcast_to(-np.arange(features, dtype=float), (n, features))
    >>> class Sum(Predictor):
    ...     def predict(self, state):
    ...         return state.x.sum(axis=1, keepdims=True)
    >>> schema = Schema.of_numbers(["a", "b", "c"])
    >>> cases = Cases(np.array([[1.0, 2.0, 4.0]]), np.ones((1, 3), dtype=bool))
    >>> t = rollout(LeftToRight(), Sum(), cases, schema, stopping=MaxFeatures(2))
    >>> t.order.tolist(), t.predictions[:, :, 0].tolist()
    ([[0, 1]], [[0.0, 1.0, 3.0]])
    """

    informative: bool = False
    """Scores are information: nats, or the expected drop of the squared error. Prices and rules can weigh it."""

    noise: float = 0.0
    """Scores below this share of the best one count as zero when they are weighed against prices."""

    fixed_order: bool = False
    """The answers do not change the order of the features."""

    stochastic: bool = False
    """The scores of a case depend on its place in the batch."""

    needs_truth: bool = False
    """Scores with the true values. Refused everywhere but in experiments; see `TruthPolicy`."""

    @abstractmethod
    def score(self, state: State) -> np.ndarray:
        """(n, features), higher is asked sooner; features that cannot be asked may have any score."""

    def score_with_truth(self, state: State, truth: np.ndarray) -> np.ndarray:
        """(n, features), given the complete encoded records (n, columns), which only a `TruthPolicy` looks at."""
        return self.score(state)


class TruthPolicy(Policy):
    """An oracle control that sees the whole truth; refused everywhere but in experiments."""

    needs_truth = True

    def score(self, state: State) -> np.ndarray:
        """Raises an error: there are no scores without the truth."""
        name = type(self).__name__
        raise TruthError("needs_truth", f"{name} scores with the true values only", name=name)

    @abstractmethod
    def score_with_truth(self, state: State, truth: np.ndarray) -> np.ndarray:
        """(n, features), given the complete encoded records (n, columns)."""


class Predictor(ABC):
    """Predicts from any set of known features. A predictor of your own derives from this class."""

    @abstractmethod
    def predict(self, state: State) -> np.ndarray:
        """(n, outputs): class probabilities, or one mean."""

    def spread(self, state: State) -> np.ndarray | None:
        """(n,) the standard deviations of predicted means; None, the default, if the predictor does not say."""
        return None


def refuse_truth(policy: Policy) -> None:
    """Raise an error if the policy looks at the truth."""
    if policy.needs_truth:
        name = type(policy).__name__
        raise TruthError("needs_truth", f"{name} looks at the truth; it is a control for experiments only", name=name)
