"""Number formats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.experiments.report.statistics import Estimate

__all__ = ["Scale", "amount", "count", "duration", "scale_of"]

IN_HUNDREDTHS = ("auroc", "accuracy", "ece")
MINUS = "\u2212"


@dataclass(frozen=True)
class Scale:
    """The factor and the decimals of a score."""

    factor: float
    decimals: int

    def number(self, value: float, *, signed: bool = False) -> str:
        """One number, with a true minus.

        >>> Scale(100.0, 2).number(0.93914), Scale(1.0, 3).number(-0.2, signed=True)
        ('93.91', '−0.200')
        """
        written = f"{value * self.factor:{'+' if signed else '-'}.{self.decimals}f}"
        if float(written) == 0.0:  # neither +0.00 nor -0.00
            written = written.lstrip("+-")
        return written.replace("-", MINUS)

    def plus_minus(self, estimate: Estimate) -> str:
        """The half width of the interval, or nothing.

        >>> Scale(100.0, 2).plus_minus(Estimate(0.9, 0.89, 0.91, 5))
        '± 1.00'
        """
        return "" if estimate.half is None else f"± {self.number(estimate.half)}"

    def span(self, estimate: Estimate, *, signed: bool = False) -> str:
        """The ends of the interval, or nothing.

        >>> Scale(100.0, 1).span(Estimate(0.01, -0.01, 0.03, 5), signed=True)
        '−1.0 to +3.0'
        """
        if estimate.low is None or estimate.high is None:
            return ""
        return f"{self.number(estimate.low, signed=signed)} to {self.number(estimate.high, signed=signed)}"


def scale_of(metric: str, scores: list[float]) -> Scale:
    """The scale of a metric: hundredths with two decimals, else four significant digits, or three below 1.

    >>> [scale_of("rmse", [size]).decimals for size in (1234.5, 12.3, 1.2, 0.43, 0.012)]
    [0, 2, 3, 3, 4]
    """
    if metric in IN_HUNDREDTHS:
        return Scale(100.0, 2)
    size = max((abs(score) for score in scores if np.isfinite(score) and score), default=1.0)
    return Scale(1.0, int(np.clip((2 if size < 1 else 3) - np.floor(np.log10(size)), 0, 9)))


def amount(value: float) -> str:
    """A number of two digits or more, with commas.

    >>> amount(3.14159), amount(31.4), amount(31415.9)
    ('3.1', '31', '31,416')
    """
    return f"{value:.1f}" if abs(value) < 10 else f"{value:,.0f}"


def duration(seconds: float) -> str:
    """A time.

    >>> duration(0.31), duration(75.2), duration(600), duration(9000)
    ('0.3 s', '75 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{amount(seconds)} s"
    return f"{amount(seconds / 60)} min" if seconds < 7200 else f"{amount(seconds / 3600)} h"


def count(number: int, thing: str) -> str:
    """A number and a noun.

    >>> count(1, "question"), count(4601, "row")
    ('1 question', '4,601 rows')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
