"""How far a regression's predictions are off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like

__all__ = ["LogVariance"]


@dataclass(frozen=True, eq=False)
class LogVariance:
    """The logarithm of a standardised mean's variance: linear in what is known, and a parabola in the mean itself.

    Which features are known tells most of it; the mean tells the rest where large numbers vary more, as prices do.
    """

    weights: np.ndarray  # (features + 3,): of each known feature, of the mean and its square, and the constant
    limits: np.ndarray  # (2,) the least and the largest that was seen: beyond them nothing is known of it

    @staticmethod
    def design(known: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """(n, features + 2) what it is linear in, from what is known (n, features) and means (n,)."""
        return np.column_stack([known.astype(np.float64), mean, mean**2])

    def __call__(self, known: Array, mean: Array) -> Array:
        """(n,) from what is known (n, features) and standardised means (n,)."""
        xp = array_namespace(mean)
        weights = constant_like(self.weights, mean, dtype=mean.dtype)
        slope, bend, constant = weights[-3], weights[-2], weights[-1]
        told = xp.astype(known, mean.dtype) @ weights[:-3] + mean * (slope + mean * bend) + constant
        return xp.clip(told, *self.limits.tolist())

    def of_one(self, known: np.ndarray, mean: float) -> float:
        """For a single case (features,)."""
        slope, bend, constant = map(float, self.weights[-3:])
        told = float(self.weights[:-3].dot(known)) + mean * (slope + mean * bend) + constant
        return min(max(told, float(self.limits[0])), float(self.limits[1]))

    def checked(self, n_features: int) -> LogVariance:
        """Itself, if it fits so many features."""
        shapes = self.weights.shape, self.limits.shape
        if shapes != ((n_features + 3,), (2,)) or not self.limits[0] <= self.limits[1]:
            raise ValueError(f"the log variance has arrays of the shapes {shapes} for {n_features} features")
        return self
