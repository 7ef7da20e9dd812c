"""Numbers: a rank and a signed logarithm, so that neither skew nor a few extreme values hide the rest."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from askless.acquisition.schema import Part
from askless.encoding.cells import as_numbers
from askless.encoding.channels import LARGEST, Channel, Linear, Rank, SignedLog, Standardised, half_of, halved
from askless.encoding.codec import Encoded, PartCodec
from askless.encoding.table import Column
from askless.exceptions import UnseenWarning

__all__ = ["NumberCodec"]

ENOUGH = 10  # numbers, most of which lie outside of the training range, are worth a word


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
