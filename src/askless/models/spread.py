"""How far a regression's predictions are off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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

    def __call__(self, known: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """(n,) from what is known (n, features) and standardised means (n,)."""
        slope, bend, constant = self.weights[-3:]
        log_variance = known @ self.weights[:-3] + mean * (slope + mean * bend) + constant
        return np.clip(log_variance, *self.limits)

    def checked(self, n_features: int) -> LogVariance:
        """Itself, if it fits so many features."""
        shapes = self.weights.shape, self.limits.shape
        if shapes != ((n_features + 3,), (2,)) or not self.limits[0] <= self.limits[1]:
            raise ValueError(f"the log variance has arrays of the shapes {shapes} for {n_features} features")
        return self
