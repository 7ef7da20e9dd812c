"""Yes or no: one column of -1 and +1."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from askless.acquisition.schema import Part
from askless.encoding.cells import PLAIN, family, is_missing, number, read_cells, shown
from askless.encoding.codec import Encoded, PartCodec
from askless.encoding.errors import BadCell
from askless.encoding.table import Column
from askless.encoding.words import is_unknown, read_boolean

__all__ = ["BooleanCodec"]

_SIGNS: dict[float | None, float] = {0.0: -1.0, 1.0: 1.0}  # True finds 1.0, False 0.0


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
        """There is nothing to learn."""
        return cls(Part(column.name, cls.kind))

    def encode(self, values: np.ndarray) -> Encoded:
        """-1 for no, +1 for yes."""
        signs = read_cells(values, _sign)
        present = ~np.isnan(signs)
        return Encoded(np.where(present, signs, 0.0).astype(np.float32)[:, None], present)

    def encode_one(self, cell: Any) -> list[float] | None:
        """-1 for no, +1 for yes; None also for what people say for unknown."""
        if isinstance(cell, str) and is_unknown(cell):
            return None
        if type(cell) not in PLAIN:
            return super().encode_one(cell)
        sign = _sign(cell)
        return None if sign != sign else [sign]

    def to_json(self) -> dict[str, Any]:
        """Nothing but its name."""
        return {}

    @classmethod
    def from_json(cls, name: str, data: dict[str, Any]) -> Self:
        """The codec that `to_json` described."""
        return cls(Part(name, cls.kind))


def _sign(cell: Any) -> float:
    """-1, +1, or NaN where missing."""
    if is_missing(cell):
        return float("nan")
    sign = _SIGNS.get(read_boolean(cell) if family(cell) == "text" else number(cell))
    if sign is None:
        raise BadCell(f"{shown(cell)} is neither true nor false", cell)
    return sign
