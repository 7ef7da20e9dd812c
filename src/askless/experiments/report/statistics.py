"""The report's arithmetic: intervals over seeds, paired differences, and the best score.

>>> t_interval([1.0, 2.0, 3.0])
Estimate(mean=2.0, low=-0.484..., high=4.484..., n=3)
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

__all__ = ["LEVEL", "Estimate", "best", "case_lead", "paired_lead", "t_interval"]

LEVEL = 0.95  # of every interval
BLOCK = 4_000_000  # bootstrap draws in memory at once: resamples times cases
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Estimate:
    """A mean of n numbers and its 95 % interval; a single number has no interval."""

    mean: float
    low: float | None
    high: float | None
    n: int

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def beyond_chance(self) -> bool:
        """Whether there is an interval and it does not contain 0."""
        return self.low is not None and self.high is not None and (self.low > 0.0 or self.high < 0.0)


def t_interval(values: Sequence[float] | np.ndarray) -> Estimate:
    """The mean of independent numbers, with Student's interval: t times sd / sqrt(n), with n - 1 degrees."""
    sample = np.asarray(values, dtype=np.float64)
    mean, n = float(sample.mean()), len(sample)
    if n < 2:
        return Estimate(mean, None, None, n)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + LEVEL) / 2) * sample.std(ddof=1) / np.sqrt(n))
    return Estimate(mean, mean - half, mean + half, n)


def paired_lead(
    ours: Mapping[Name, float], theirs: Mapping[Name, float], *, greater_is_better: bool
) -> Estimate | None:
    """How much ours is better than theirs, over the runs that both have; None if they share none.

    Both scores of a run come from the same rows, so the effect of the split cancels in their difference.

    >>> paired_lead({0: 0.90, 1: 0.70}, {0: 0.89, 1: 0.69, 2: 0.10}, greater_is_better=True).mean
    0.01...
    """
    shared = [key for key in ours if key in theirs]
    if not shared:
        return None
    sign = 1.0 if greater_is_better else -1.0
    return t_interval([sign * (ours[key] - theirs[key]) for key in shared])


def case_lead(ours: np.ndarray, theirs: np.ndarray, n_boot: int = 1000) -> Estimate:
    """How much our mean loss is lower than theirs; both are (n,) losses of the same cases.

    The interval comes from a bootstrap over cases that draws the same cases for both.
    """
    gain = np.asarray(theirs, dtype=np.float64) - np.asarray(ours, dtype=np.float64)
    n, rng = len(gain), np.random.default_rng(0)
    size = max(1, BLOCK // n)
    drawn = [
        gain[rng.integers(n, size=(min(size, n_boot - start), n))].mean(axis=1) for start in range(0, n_boot, size)
    ]
    low, high = np.quantile(np.concatenate(drawn), ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Estimate(float(gain.mean()), float(low), float(high), n)


def best(means: Mapping[str, float], decimals: int, *, greater_is_better: bool) -> frozenset[str]:
    """The names with the best mean, after rounding as in the table.

    >>> sorted(best({"a": 94.651, "b": 94.649, "c": 94.2}, 2, greater_is_better=True))
    ['a', 'b']
    """
    sign = 1.0 if greater_is_better else -1.0
    shown = {name: sign * round(mean, decimals) for name, mean in means.items() if np.isfinite(mean)}
    top = max(shown.values(), default=0.0)
    return frozenset(name for name, value in shown.items() if value == top)
