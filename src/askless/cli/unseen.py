"""Values of a table that a model's training has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from askless.cli.console import count
from askless.cli.errors import complain
from askless.encoding.category import MAX_CHOICES
from askless.encoding.cells import is_missing, key, shown

if TYPE_CHECKING:
    import pandas as pd

    from askless.core import Part
    from askless.fitted import FittedModel

__all__ = ["Unseen"]

MANY = 0.1  # of a column's numbers outside of the range, however near, are worth a word


class Unseen:
    """Counts them, some rows at a time. Such words count as unknown, such numbers as they are."""

    def __init__(self, model: FittedModel) -> None:
        parts = [part for feature in model.schema.features for part in feature.parts]
        self._columns: list[_Words | _Numbers] = [
            _Words(part) if part.choices is not None else _Numbers(part)
            for part in parts
            if part.choices is not None or part.low is not None
        ]

    def look(self, frame: pd.DataFrame) -> None:
        """Count those of some rows."""
        for column in self._columns:
            if column.part.name in frame:
                column.look(frame[column.part.name])

    def tell(self) -> None:
        """Say what is worth a word on standard error."""
        for column in self._columns:
            if (told := column.sentence()) is not None:
                complain(f"note: {column.part.name}: {told}")


@dataclass
class _Words:
    """A column of categories."""

    part: Part
    values: int = 0
    unseen: int = 0
    example: str = ""

    @cached_property
    def _choices(self) -> set[str]:
        return {key(choice) for choice in self.part.choices or ()}

    def look(self, column: pd.Series) -> None:
        for cell, times in column.value_counts().items():
            if not is_missing(cell):
                self.values += times
                if key(cell) not in self._choices:
                    self.unseen += times
                    self.example = self.example or shown(cell)

    def sentence(self) -> str | None:
        if not self.unseen or len(self._choices) >= MAX_CHOICES:  # of so many some were left out
            return None
        return f"{_of(self.unseen, self.values)} none of the model's choices, such as {self.example}: unknown to it"


@dataclass
class _Numbers:
    """A column of numbers."""

    part: Part
    values: int = 0
    outside: int = 0  # of the range that training has seen
    farthest: float = 0.0  # how far outside the farthest is
    example: float = 0.0

    def look(self, column: pd.Series) -> None:
        import pandas as pd

        values = pd.to_numeric(column, errors="coerce").dropna().to_numpy(dtype=np.float64)
        if not len(values):
            return
        low, high = self._range
        off = np.maximum(low - values, values - high)
        self.values += len(values)
        self.outside += int((off > 0).sum())
        if off.max() > self.farthest:
            self.farthest, self.example = float(off.max()), float(values[off.argmax()])

    def sentence(self) -> str | None:
        low, high = self._range
        if self.farthest <= high - low and self.outside <= MANY * self.values:
            return None
        some, seen = _of(self.outside, self.values), f"{low:g} to {high:g}"
        return f"{some} outside of what training has seen, {seen}, as {self.example:g} is"

    @property
    def _range(self) -> tuple[float, float]:
        assert self.part.low is not None
        assert self.part.high is not None
        return self.part.low, self.part.high


def _of(some: int, values: int) -> str:
    return f"{some:,} of {count(values, 'value')} {'is' if some == 1 else 'are'}"
