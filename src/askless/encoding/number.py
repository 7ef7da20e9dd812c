"""Numbers: a rank and a signed logarithm, so that neither skew nor a few extreme values hide the rest.

Channels see half of each number (`halved`), so that the difference of any two is finite; they store what they learned
in the user's units.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_right
from math import log1p
from typing import Any, ClassVar, Self

import numpy as np

from askless.acquisition.schema import Part
from askless.encoding.cells import as_numbers
from askless.encoding.codec import Encoded, PartCodec
from askless.encoding.table import Column
from askless.exceptions import UnseenWarning

ENOUGH = 10  # numbers, most of which lie outside of the training range, are worth a word

MAX_KNOTS = 256
LOG_SLOPE = 3.0  # of the signed logarithm at the median, for each interquartile range
_TINY = 1e-280  # what is smaller counts as 0, so that the slope between two knots is finite
LARGEST = float(np.finfo(np.float64).max)
_FAR = 1e300  # a ratio is cut here instead of becoming infinite


class NumberCodec(PartCodec):
    """A number by two standardised channels; one is enough where the training rows hold at most two values.

    >>> codec = NumberCodec.fit(Column("age", np.array([20.0, 30.0, 40.0, 90.0])))
    >>> codec.width, codec.part.low, codec.part.high
    (2, 20.0, 90.0)
    """

    kind = "number"

    def __init__(self, part: Part, channels: tuple[Standardised, ...]) -> None:
        self.part, self.channels = part, channels

    @classmethod
    def fit(cls, column: Column) -> Self:
        """Learn the channels from the values that are not missing."""
        numbers = as_numbers(column.values)
        numbers = numbers[~np.isnan(numbers)]
        half = halved(numbers)
        few = np.isin(half, [half.min(), half.max()]).all()
        classes: tuple[type[Channel], ...] = (Linear,) if few else (Rank, SignedLog)
        channels = tuple(Standardised.fit(channel.fit(half), half) for channel in classes)
        part = Part(column.name, cls.kind, low=float(numbers.min()), high=float(numbers.max()))
        return cls(part, channels)

    @property
    def width(self) -> int:
        """One column for each channel."""
        return len(self.channels)

    @property
    def accepts(self) -> str:
        """A number; the training range for orientation."""
        return f"a number (from {self.part.low:g} to {self.part.high:g} in the training table)"

    def encode(self, values: np.ndarray) -> Encoded:
        """The channels; text that spells a number counts as that number."""
        numbers = as_numbers(values)
        present = ~np.isnan(numbers)
        self._warn_of_range(numbers[present])
        half = halved(numbers)
        x = np.empty((len(half), self.width), dtype=np.float32)
        for i, channel in enumerate(self.channels):
            x[:, i] = channel(half)
        x[~present] = 0.0
        return Encoded(x, present)

    def encode_one(self, cell: Any) -> list[float] | None:
        """The channels of a plain number in plain Python; all else goes the long way."""
        if (type(cell) is float or type(cell) is int) and -LARGEST <= cell <= LARGEST:
            half = half_of(cell)
            return [channel.one(half) for channel in self.channels]
        return super().encode_one(cell)

    def _warn_of_range(self, numbers: np.ndarray) -> None:
        """Warn if most of the numbers (n,), none of them missing, are outside the training range."""
        low, high = self.part.low, self.part.high
        assert low is not None
        assert high is not None
        outside = (numbers < low) | (numbers > high)
        count, values = int(outside.sum()), len(numbers)
        if values >= ENOUGH and 2 * count > values:
            first = float(numbers[int(outside.argmax())])
            warnings.warn(
                UnseenWarning(
                    "outside_training_range",
                    f"column {self.part.name!r}: {count:,} of {values:,} values, for instance {first:g}, are outside "
                    f"the training range {low:g} to {high:g}; check the unit",
                    column=self.part.name,
                    value=first,
                    rows=count,
                    low=low,
                    high=high,
                ),
                stacklevel=2,
            )

    def to_json(self) -> dict[str, Any]:
        """The range and the channels."""
        channels = [channel.to_json() for channel in self.channels]
        return {"low": self.part.low, "high": self.part.high, "channels": channels}

    @classmethod
    def from_json(cls, name: str, data: dict[str, Any]) -> Self:
        """The codec that `to_json` described."""
        part = Part(name, cls.kind, low=data["low"], high=data["high"])
        return cls(part, tuple(Standardised.from_json(channel) for channel in data["channels"]))


def halved(numbers: np.ndarray) -> np.ndarray:
    """(n,) what the channels take: half of each number, and 0 for what is next to nothing."""
    half: np.ndarray = 0.5 * numbers
    half[np.abs(half) < _TINY] = 0.0
    return half


def half_of(number: float) -> float:
    """What `halved` makes of one number."""
    half = 0.5 * number
    return 0.0 if abs(half) < _TINY else half


def _check_finite(*numbers: Any) -> None:
    if not all(np.all(np.isfinite(each)) for each in numbers):
        raise ValueError("what a channel learned is not finite")


class Channel(ABC):
    """One function of a number, learned from the training rows."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def fit(cls, half: np.ndarray) -> Self:
        """Learn from the halved numbers (n,) of the training rows, none of them missing."""

    @abstractmethod
    def __call__(self, half: np.ndarray) -> np.ndarray:
        """(n,) float64; NaN where `half` is."""

    def one(self, half: float) -> float:
        """What a call gives for one finite number; in plain Python where that is quicker."""
        return float(self(np.array([half]))[0])

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The arguments that make the same channel again."""


class Linear(Channel):
    """The place in the training range: 0 at its low end, 1 at its high end, and not beyond."""

    name = "linear"

    def __init__(self, low: float, high: float) -> None:
        _check_finite(low, high)
        self.low, self.high = low, high

    @classmethod
    def fit(cls, half: np.ndarray) -> Self:
        """The range."""
        return cls(2.0 * float(half.min()), 2.0 * float(half.max()))

    def __call__(self, half: np.ndarray) -> np.ndarray:
        """0 to 1; 0 where the range is a single value."""
        low, high = 0.5 * self.low, 0.5 * self.high
        if not low < high:
            return np.zeros_like(half)
        return np.asarray((np.clip(half, low, high) - low) / (high - low))

    def one(self, half: float) -> float:
        """0 to 1; 0 where the range is a single value."""
        low, high = 0.5 * self.low, 0.5 * self.high
        return (min(max(half, low), high) - low) / (high - low) if low < high else 0.0

    def to_json(self) -> dict[str, Any]:
        """The range."""
        return {"low": self.low, "high": self.high}


class Rank(Channel):
    """The share of training rows below: a piecewise linear distribution function with mid-ranks for ties.

    >>> rank = Rank.fit(halved(np.array([1.0, 2.0, 2.0, 5.0])))
    >>> rank(halved(np.array([0.0, 1.0, 2.0, 3.5, 9.0]))).tolist()
    [0.125, 0.125, 0.5, 0.6875, 0.875]
    """

    name = "rank"

    def __init__(self, values: Any, ranks: Any) -> None:
        self.values = np.asarray(values, dtype=np.float64)  # (knots,) increasing
        self.ranks = np.asarray(ranks, dtype=np.float64)  # (knots,)
        _check_finite(self.values, self.ranks)
        if self.values.ndim != 1 or self.values.shape != self.ranks.shape or not self.values.size:
            raise ValueError("a rank channel needs as many values as ranks")
        if not np.all(self.values[1:] > self.values[:-1]):
            raise ValueError("the values of a rank channel must increase")
        self._half = 0.5 * self.values
        self._halves, self._ranks = (
            array("d", self._half),
            array("d", self.ranks),
        )  # for `one`: small and in one place

    @classmethod
    def fit(cls, half: np.ndarray) -> Self:
        """Every distinct value is a knot; where they are too many, about equally spaced ranks are kept."""
        values, counts = np.unique(half, return_counts=True)
        ranks = (np.cumsum(counts) - 0.5 * counts) / half.size
        if values.size > MAX_KNOTS:
            wanted = np.linspace(ranks[0], ranks[-1], MAX_KNOTS)
            kept = np.unique(np.searchsorted(ranks, wanted).clip(max=values.size - 1))
            values, ranks = values[kept], ranks[kept]
        return cls(2.0 * values, ranks)

    def __call__(self, half: np.ndarray) -> np.ndarray:
        """Between the ranks of the lowest and the highest training value."""
        return np.asarray(np.interp(half, self._half, self.ranks))

    def one(self, half: float) -> float:
        """The same arithmetic as numpy's."""
        halves, ranks = self._halves, self._ranks
        i = bisect_right(halves, half) - 1
        if i < 0:
            return ranks[0]
        low, rank = halves[i], ranks[i]
        if i + 1 == len(halves) or low == half:
            return rank
        return (ranks[i + 1] - rank) / (halves[i + 1] - low) * (half - low) + rank

    def to_json(self) -> dict[str, Any]:
        """The knots."""
        return {"values": self.values.tolist(), "ranks": self.ranks.tolist()}


class SignedLog(Channel):
    """sign(u) log(1 + 3 |u|), where u counts interquartile ranges from the median.

    Where more than half of the rows share one value the interquartile range may be 0; the mean absolute deviation
    from the median then takes its place.
    """

    name = "signed log"

    def __init__(self, median: float, scale: float) -> None:
        _check_finite(median, scale)
        if not scale > 0.0:
            raise ValueError(f"a scale is {scale!r}")
        self.median, self.scale = median, scale
        self._middle, self._unit = 0.5 * median, 0.5 * scale

    @classmethod
    def fit(cls, half: np.ndarray) -> Self:
        """The median and the scale."""
        low, median, high = (float(q) for q in np.quantile(half, [0.25, 0.5, 0.75]))
        spread = high - low
        if spread == 0.0:
            away = np.abs(half - median)
            furthest = float(away.max())
            spread = furthest * float(np.mean(away / furthest)) if furthest else 0.5
        return cls(2.0 * median, min(2.0 * spread, LARGEST))

    def __call__(self, half: np.ndarray) -> np.ndarray:
        """0 at the median, log(4) one interquartile range above it."""
        with np.errstate(over="ignore"):
            u = (half - self._middle) / self._unit
        np.clip(u, -_FAR, _FAR, out=u)
        return np.asarray(np.sign(u) * np.log1p(LOG_SLOPE * np.abs(u)))

    def one(self, half: float) -> float:
        """0 at the median, log(4) one interquartile range above it."""
        if self._unit == 0.0:  # it is next to nothing, and Python does not divide by 0
            return super().one(half)
        u = (half - self._middle) / self._unit
        if u < 0.0:
            return -log1p(LOG_SLOPE * min(-u, _FAR))
        return log1p(LOG_SLOPE * min(u, _FAR))

    def to_json(self) -> dict[str, Any]:
        """The median and the scale."""
        return {"median": self.median, "scale": self.scale}


CHANNELS: dict[str, type[Channel]] = {cls.name: cls for cls in (Linear, Rank, SignedLog)}


class Standardised:
    """A channel with mean 0 and standard deviation 1 over the training rows; a constant one is 0."""

    def __init__(self, channel: Channel, mean: float, sd: float) -> None:
        _check_finite(mean, sd)
        if not sd > 0.0:
            raise ValueError(f"a standard deviation is {sd!r}")
        self.channel, self.mean, self.sd = channel, mean, sd

    @classmethod
    def fit(cls, channel: Channel, half: np.ndarray) -> Self:
        """The mean and the (population) standard deviation of a channel that has been learned."""
        raw = channel(half)
        return cls(channel, float(raw.mean()), float(raw.std()) or 1.0)

    def __call__(self, half: np.ndarray) -> np.ndarray:
        """Standard deviations from the mean of the training rows."""
        return (self.channel(half) - self.mean) / self.sd

    def one(self, half: float) -> float:
        """What a call gives for one finite number."""
        return (self.channel.one(half) - self.mean) / self.sd

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs."""
        return {"channel": self.channel.name, "mean": self.mean, "sd": self.sd, "learned": self.channel.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """The channel that `to_json` described."""
        return cls(CHANNELS[data["channel"]](**data["learned"]), data["mean"], data["sd"])
