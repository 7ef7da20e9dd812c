"""The contracts of policies and predictors."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import numpy as np

from askless.core.state import State
from askless.exceptions import TruthError

__all__ = ["Policy", "Predictor", "Task", "TruthPolicy", "refuse_truth"]

Task = Literal["classification", "regression"]
"""What is predicted: the probabilities of classes, or a mean."""


@runtime_checkable
class Policy(Protocol):
    """Scores what could be asked next. It never selects, forbids, pays or stops: the roll-out does.

    Scores of features that were asked already or cannot be asked are ignored. One whose scores are the same in every
    state may say `fixed_order = True`.

    >>> import numpy as np
    >>> from askless.core import Cases, MaxFeatures, Schema, rollout
    >>> class LeftToRight:
    ...     def score(self, state):
    ...         n, features = state.asked.shape
    ...         return np.broadcast_to(-np.arange(features, dtype=float), (n, features))
    >>> class Sum:
    ...     def predict(self, state):
    ...         return state.x.sum(axis=1, keepdims=True)
    >>> schema = Schema.of_numbers(["a", "b", "c"])
    >>> cases = Cases(np.array([[1.0, 2.0, 4.0]]), np.ones((1, 3), dtype=bool))
    >>> t = rollout(LeftToRight(), Sum(), cases, schema, stopping=MaxFeatures(2))
    >>> t.order.tolist(), t.predictions[:, :, 0].tolist()
    ([[0, 1]], [[0.0, 1.0, 3.0]])
    """

    def score(self, state: State) -> np.ndarray:
        """(n, features), higher is asked sooner."""
        ...


@runtime_checkable
class TruthPolicy(Protocol):
    """An oracle control that sees the whole truth; refused everywhere but in experiments."""

    needs_truth: bool

    def score_with_truth(self, state: State, truth: np.ndarray) -> np.ndarray:
        """(n, features), given the complete encoded records (n, columns)."""
        ...


@runtime_checkable
class Predictor(Protocol):
    """Predicts from any set of known features.

    A predictor of numbers may have `spread(state)`: the standard deviation (n,) of its predictions, or None.
    """

    def predict(self, state: State) -> np.ndarray:
        """(n, outputs): class probabilities, or one mean."""
        ...


def refuse_truth(policy: object) -> None:
    """Raise an error if the policy looks at the truth."""
    if getattr(policy, "needs_truth", False):
        name = type(policy).__name__
        raise TruthError("needs_truth", f"{name} looks at the truth; it is a control for experiments only", name=name)
