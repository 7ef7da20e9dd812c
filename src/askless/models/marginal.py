"""Conditional mutual information, estimated as if features were independent of one another."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from askless.acquisition import Policy, State
from askless.models.imagined import AnswerBook, Imagination, added_by
from askless.models.network import Network


class MarginalPolicy(Policy):
    """Scores a feature by how much predictions differ over the answers that the training rows gave to it.

    Every feature has a few weighted answers that stand for its distribution; they do not depend on what is known.
    """

    informative = True  # scores are information, which can be weighed against prices
    noise = 0.02  # of the best candidate's information: less is not told apart from nothing

    def __init__(self, network: Network, book: AnswerBook, answered: np.ndarray, scale: float | None) -> None:
        self.network = network  # of the predictor
        self.book = book
        self.answered = answered  # (features,) the chance that asking gives an answer
        self.scale = scale  # of a regression's target; None for classes

    def score(self, state: State) -> np.ndarray:
        """(n, features) estimated information in nats, or reduction of variance; 0 for what was asked."""
        if not state.known.any():  # all cases look the same
            one = State(state.x[:1], np.zeros_like(state.asked[:1]), state.known[:1])
            return np.where(state.asked, 0.0, self._score(one))
        return self._score(state)

    def _score(self, state: State) -> np.ndarray:
        scores = np.zeros(state.asked.shape)
        imagination = Imagination(self.network, self.scale, state, int(self.book.counts.max()))
        for feature, (added, (_, weights)) in enumerate(zip(self._added, self.book.answers, strict=True)):
            for rows in imagination.open_rows(feature, len(added)):
                told = imagination.memory(len(added), len(rows))
                np.add(added[:, None], imagination.sums[rows], out=told)
                scores[rows, feature] = imagination.worth(told, weights[:, None])
        scores *= self.answered
        return scores

    @cached_property
    def _added(self) -> list[np.ndarray]:
        return added_by(self.book, self.network)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_added"}

    # Files

    def config(self) -> dict[str, Any]:
        """The scale of a regression's target."""
        return {"scale": self.scale}

    def arrays(self) -> dict[str, np.ndarray]:
        """The predictor's weights and the answers."""
        return self.network.arrays() | self.book.arrays() | {"answered": self.answered}

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> MarginalPolicy:
        """The policy that `config` and `arrays` came from."""
        rest = {name: array for name, array in arrays.items() if not name.startswith("answer")}
        network, book, answered = Network.build(rest), AnswerBook.build(arrays), arrays["answered"]
        if not bool(book.counts.all()) or not book.fits(network) or answered.shape != book.counts.shape:
            raise ValueError("the answers do not fit the network's features")
        return cls(network, book, answered, None if config["scale"] is None else float(config["scale"]))
