"""Policies that do not look at the answers."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from askless.acquisition import Policy, State


class Ranking(Policy):
    """The same scores in every state: a static order."""

    fixed_order = True

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)  # (features,)

    def score(self, state: State) -> np.ndarray:
        """(n, features), the same row for every case."""
        if self.scores.shape != (state.asked.shape[1],):
            raise ValueError(f"there are scores of shape {self.scores.shape} for {state.asked.shape[1]} features")
        return np.broadcast_to(self.scores, state.asked.shape)

    def config(self) -> dict[str, Any]:
        """Nothing but the scores matters."""
        return {}

    def arrays(self) -> dict[str, np.ndarray]:
        """The scores."""
        return {"scores": self.scores}

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> Ranking:
        """The ranking that `arrays` came from."""
        return cls(arrays["scores"])


class RandomOrder(Policy):
    """The cases of a batch are asked in random orders, each in its own: the weakest control.

    The order follows from the seed and the case's place in the batch, so a single case always gets the same one.
    """

    fixed_order = True
    stochastic = True  # a case's order depends on its place in the batch

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def score(self, state: State) -> np.ndarray:
        """(n, features) uniform draws, the same for the same batch size: the order of a case does not change."""
        return np.random.default_rng(self.seed).random(state.asked.shape)

    def config(self) -> dict[str, Any]:
        """The seed."""
        return {"seed": self.seed}

    def arrays(self) -> dict[str, np.ndarray]:
        """None."""
        return {}

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> RandomOrder:
        """The policy that `config` came from."""
        return cls(index(config["seed"]))
