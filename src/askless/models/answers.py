"""Answers that stand for what a feature may be answered with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from askless.models.network import Network

__all__ = ["AnswerBook"]


@dataclass(frozen=True, eq=False)
class AnswerBook:
    """A few encoded answers to every feature, with their probabilities; a feature may have none."""

    widths: np.ndarray  # (features,) columns of each
    counts: np.ndarray  # (features,) answers of each
    values: np.ndarray  # the answers (count, width) of one feature after those of another, flat
    weights: np.ndarray  # their probabilities, likewise

    @classmethod
    def of(cls, answers: Sequence[tuple[np.ndarray, np.ndarray]]) -> AnswerBook:
        """From the answers (count, width) to each feature and their probabilities (count,)."""
        return cls(
            np.array([values.shape[1] for values, _ in answers]),
            np.array([len(values) for values, _ in answers]),
            np.concatenate([values.ravel() for values, _ in answers]),
            np.concatenate([weights for _, weights in answers]),
        ).checked()

    @cached_property
    def answers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """What `of` was given."""
        values = np.split(self.values, np.cumsum(self.counts * self.widths)[:-1])
        weights = np.split(self.weights, np.cumsum(self.counts)[:-1])
        shaped = (flat.reshape(-1, width) for flat, width in zip(values, self.widths.tolist(), strict=True))
        return list(zip(shaped, weights, strict=True))

    def fits(self, network: Network) -> bool:
        """Whether the features and their columns are those of a network."""
        return len(self.widths) == len(network.mask_weight) and int(self.widths.sum()) == len(network.value_weight)

    # Files

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything by a name."""
        return {f"answers.{each.name}": getattr(self, each.name) for each in fields(self)}

    @classmethod
    def build(cls, arrays: dict[str, np.ndarray]) -> AnswerBook:
        """The book that `arrays` came from."""
        return cls(**{each.name: arrays[f"answers.{each.name}"] for each in fields(cls)}).checked()

    def checked(self) -> AnswerBook:
        """Itself, if the shapes fit one another."""
        fits = (
            self.widths.shape == self.counts.shape == (len(self.widths),)
            and self.widths.dtype.kind == self.counts.dtype.kind == "i"
            and bool((self.widths >= 1).all() and (self.counts >= 0).all())
            and self.weights.shape == (int(self.counts.sum()),)
            and self.values.shape == (int(self.counts @ self.widths),)
        )
        if not fits:
            raise ValueError("the answers do not fit their features")
        return self
