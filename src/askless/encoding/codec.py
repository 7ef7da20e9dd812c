"""What every kind of column can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from askless.acquisition.schema import Part
from askless.encoding.table import Column

__all__ = ["Encoded", "PartCodec"]


class Encoded(NamedTuple):
    """Encoded values, and where there were any."""

    x: np.ndarray  # (n, width) float32, 0 where missing
    present: np.ndarray  # (n,) bool


class PartCodec(ABC):
    """Encodes one column of the user's table.

    A new kind of column is one file with a subclass, a line in `kinds.CODECS` and one in `kinds.kind_of`.
    """

    kind: ClassVar[str]
    part: Part

    @classmethod
    @abstractmethod
    def fit(cls, column: Column) -> Self:
        """Learn from a training column that has at least one value."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many encoded columns there are."""

    @property
    @abstractmethod
    def accepts(self) -> str:
        """What an answer may be, for the end of a sentence."""

    @abstractmethod
    def encode(self, values: np.ndarray) -> Encoded:
        """Encode cells (n,); raises `BadCell`."""

    def encode_one(self, cell: Any) -> list[float] | None:
        """The columns of a single cell, None where it is missing: what `encode` gives, and perhaps sooner."""
        cells = np.empty(1, dtype=object)
        cells[0] = cell
        encoded = self.encode(cells)
        columns: list[float] = encoded.x[0].tolist()
        return columns if encoded.present[0] else None

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """What the codec learned, without its kind and its name."""

    @classmethod
    @abstractmethod
    def from_json(cls, name: str, data: dict[str, Any]) -> Self:
        """The codec of the column `name` that `to_json` described."""
