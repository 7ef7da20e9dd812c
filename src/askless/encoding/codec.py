"""What every kind of column can do, and the simplest: yes or no in one column of -1 and +1."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from askless.acquisition.schema import Part
from askless.encoding.cells import (
    BadCell,
    family,
    is_missing,
    is_unknown,
    number,
    read_boolean,
    read_cells,
    shown,
)
from askless.encoding.table import Column

_SIGNS: dict[float | None, float] = {0.0: -1.0, 1.0: 1.0}  # True finds 1.0, False 0.0


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
    width: int  # how many encoded columns there are

    @classmethod
    @abstractmethod
    def fit(cls, column: Column) -> Self:
        """Learn from a training column that has at least one value."""

    @property
    @abstractmethod
    def accepts(self) -> str:
        """What an answer may be, for the end of a sentence."""

    @abstractmethod
    def encode(self, values: np.ndarray) -> Encoded:
        """Encode cells (n,); raises `BadCell`."""

    def encode_one(self, cell: Any) -> list[float] | None:
        """The columns of a single cell, None where it is missing."""
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


class BooleanCodec(PartCodec):
    """Booleans, and what is said for them: 0 and 1, yes and no, true and false.

    >>> codec = BooleanCodec.fit(Column("smokes", np.array([True, False])))
    >>> codec.encode(np.array([True, 0, "No", None], dtype=object)).x.ravel().tolist()
    [1.0, -1.0, -1.0, 0.0]
    """

    kind = "boolean"
    width = 1
    accepts = "yes or no"

    def __init__(self, part: Part) -> None:
        self.part = part

    @classmethod
    def fit(cls, column: Column) -> Self:
        return cls(Part(column.name, cls.kind))

    def encode(self, values: np.ndarray) -> Encoded:
        signs = read_cells(values, _sign)
        present = ~np.isnan(signs)
        return Encoded(np.where(present, signs, 0.0).astype(np.float32)[:, None], present)

    def encode_one(self, cell: Any) -> list[float] | None:
        """-1 for no, +1 for yes; None also for what people say for unknown."""
        return None if isinstance(cell, str) and is_unknown(cell) else super().encode_one(cell)

    def to_json(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_json(cls, name: str, data: dict[str, Any]) -> Self:
        return cls(Part(name, cls.kind))


def _sign(cell: Any) -> float:
    """-1, +1, or NaN where missing."""
    if is_missing(cell):
        return float("nan")
    sign = _SIGNS.get(read_boolean(cell) if family(cell) == "text" else number(cell))
    if sign is None:
        raise BadCell(f"{shown(cell)} is neither true nor false", cell)
    return sign
