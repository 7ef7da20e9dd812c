"""Numbers: a rank and a signed logarithm, so that neither skew nor a few extreme values hide the rest.

Channels see half of each number (`halved`), so that the difference of any two is finite; they store what they learned
in the user's units.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
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

    def __init__(self, part: Part, channels: Sequence[Channel], means: Sequence[float], sds: Sequence[float]) -> None:
        self.part, self.channels, self.means, self.sds = part, channels, means, sds
        self.width = len(channels)

    @classmethod
    def fit(cls, column: Column) -> Self:
        numbers = as_numbers(column.values)
        numbers = numbers[~np.isnan(numbers)]
        half = halved(numbers)
        few = np.isin(half, [half.min(), half.max()]).all()
        channels: list[Channel] = [Linear.fit(half)] if few else [Rank.fit(half), SignedLog.fit(half)]
        raw = [channel(half) for channel in channels]
        means, sds = [float(r.mean()) for r in raw], [float(r.std()) or 1.0 for r in raw]  # 1 of a constant one
        part = Part(column.name, cls.kind, low=float(numbers.min()), high=float(numbers.max()))
        return cls(part, channels, means, sds)

    @property
    def accepts(self) -> str:
        return f"a number (from {self.part.low:g} to {self.part.high:g} in the training table)"

    def encode(self, values: np.ndarray) -> Encoded:
        """The channels; text that spells a number counts as that number. Warns if most are outside the range."""
        numbers = as_numbers(values)
        present = ~np.isnan(numbers)
        low, high = self.part.low, self.part.high
        outside, n = (numbers < low) | (numbers > high), int(present.sum())
        count = int(outside.sum())
        if n >= ENOUGH and 2 * count > n:
            first = float(numbers[int(outside.argmax())])
            message = (
                f"column {self.part.name!r}: {count:,} of {n:,} values, for instance {first:g}, are outside the "
                f"training range {low:g} to {high:g}; check the unit"
            )
            fields = {"column": self.part.name, "value": first, "rows": count, "low": low, "high": high}
            warnings.warn(UnseenWarning("outside_training_range", message, **fields), stacklevel=2)
        half = halved(numbers)
        x = np.empty((len(half), self.width), dtype=np.float32)
        for i, (channel, mean, sd) in enumerate(zip(self.channels, self.means, self.sds, strict=True)):
            x[:, i] = (channel(half) - mean) / sd
        x[~present] = 0.0
        return Encoded(x, present)

    def to_json(self) -> dict[str, Any]:
        channels = [
            {
                "channel": channel.name,
                "mean": mean,
                "sd": sd,
                "learned": {name: np.asarray(value).tolist() for name, value in vars(channel).items()},
            }
            for channel, mean, sd in zip(self.channels, self.means, self.sds, strict=True)
        ]
        return {"low": self.part.low, "high": self.part.high, "channels": channels}

    @classmethod
    def from_json(cls, name: str, data: dict[str, Any]) -> Self:
        part = Part(name, cls.kind, low=data["low"], high=data["high"])
        channels = [channel_from_json(each["channel"], each["learned"]) for each in data["channels"]]
        means, sds = ([float(each[name]) for each in data["channels"]] for name in ("mean", "sd"))
        if not np.isfinite([*means, *sds]).all() or min(sds, default=1.0) <= 0.0:
            raise ValueError(f"the means of {name!r} are {means}, the standard deviations {sds}")
        return cls(part, channels, means, sds)


def halved(numbers: np.ndarray) -> np.ndarray:
    """(n,) what the channels take: half of each number, and 0 for what is next to nothing."""
    half: np.ndarray = 0.5 * numbers
    half[np.abs(half) < _TINY] = 0.0
    return half


# Channels: functions of halved numbers (n,). Their attributes are what they learned from the training rows.


@dataclass(frozen=True)
class Linear:
    """The place in the training range: 0 at its low end, 1 at its high end, and not beyond."""

    name: ClassVar = "linear"
    low: float
    high: float

    @classmethod
    def fit(cls, half: np.ndarray) -> Self:
        """The range of halved numbers (n,), none of them missing."""
        return cls(2.0 * float(half.min()), 2.0 * float(half.max()))

    def __call__(self, half: np.ndarray) -> np.ndarray:
        """0 to 1; 0 where the range is a single value."""
        low, high = 0.5 * self.low, 0.5 * self.high
        if not low < high:
            return np.zeros_like(half)
        return np.asarray((np.clip(half, low, high) - low) / (high - low))


@dataclass(frozen=True, eq=False)
class Rank:
    """The share of training rows below: a piecewise linear distribution function with mid-ranks for ties.

    >>> rank = Rank.fit(halved(np.array([1.0, 2.0, 2.0, 5.0])))
    >>> rank(halved(np.array([0.0, 1.0, 2.0, 3.5, 9.0]))).tolist()
    [0.125, 0.125, 0.5, 0.6875, 0.875]
    """

    name: ClassVar = "rank"

    values: np.ndarray  # (knots,) increasing
    ranks: np.ndarray  # (knots,)

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
        return np.asarray(np.interp(half, 0.5 * self.values, self.ranks))


@dataclass(frozen=True)
class SignedLog:
    """sign(u) log(1 + 3 |u|), where u counts interquartile ranges from the median.

    Where more than half of the rows share one value the interquartile range may be 0; the mean absolute deviation
    from the median then takes its place.
    """

    name: ClassVar = "signed log"
    median: float
    scale: float

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
            u = (half - 0.5 * self.median) / (0.5 * self.scale)
        np.clip(u, -_FAR, _FAR, out=u)
        return np.asarray(np.sign(u) * np.log1p(LOG_SLOPE * np.abs(u)))


Channel = Linear | Rank | SignedLog
CHANNELS: dict[str, type[Linear | SignedLog]] = {cls.name: cls for cls in (Linear, SignedLog)}


def channel_from_json(name: str, learned: dict[str, Any]) -> Channel:
    """The channel of that name with what it learned, as a file says, which may be damaged."""
    arrays = {key: np.array(value, dtype=np.float64) for key, value in learned.items()}
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("what a channel learned is not finite")
    if name == Rank.name:
        rank = Rank(**arrays)
        if rank.values.ndim != 1 or rank.values.shape != rank.ranks.shape or not rank.values.size:
            raise ValueError("a rank channel needs as many values as ranks")
        if not np.all(np.diff(rank.values) > 0.0):
            raise ValueError("the values of a rank channel must increase")
        return rank
    channel = CHANNELS[name](**{key: float(array) for key, array in arrays.items()})
    if isinstance(channel, SignedLog) and not channel.scale > 0.0:
        raise ValueError(f"a scale is {channel.scale!r}")
    return channel
