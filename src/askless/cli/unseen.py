"""Values of a table that a model's training has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from askless.cli.console import count
from askless.cli.errors import complain
from askless.encoding.category import MAX_CHOICES
from askless.encoding.cells import is_missing, shown
from askless.encoding.choices import Choices

if TYPE_CHECKING:
    import pandas as pd

    from askless.acquisition import Part
    from askless.fitted import FittedModel

__all__ = ["Unseen"]

MANY = 0.1  # of a column's numbers outside of the range, however near, are worth a word


class Unseen:
    """Counts them, some rows at a time. Such words count as unknown, such numbers as they are.

    Words in other capitals than the choice that they are read as are counted, too.
    """

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
    respelled: int = 0  # read as a choice in other capitals
    spelling: str = ""  # an example of these

    @cached_property
    def _choices(self) -> Choices:
        return Choices(self.part.choices or ())

    def look(self, column: pd.Series) -> None:
        for cell, times in column.value_counts().items():
            if is_missing(cell) or not times:  # a categorical column counts those that it does not hold, too
                continue
            self.values += times
            if self._choices.exact(cell) is not None:
                continue
            place = self._choices.alike(cell)
            if place is None:
                self.unseen += times
                self.example = self.example or shown(cell)
            else:
                self.respelled += times
                self.spelling = self.spelling or f"{shown(cell)} is read as {shown(self._choices.all[place])}"

    def sentence(self) -> str | None:
        told = []
        if self.respelled:
            told.append(f"{_of(self.respelled, self.values)} in other capitals than in training: {self.spelling}")
        if self.unseen and len(self._choices.all) < MAX_CHOICES:  # of so many some were left out
            none = f"none of the model's choices, such as {self.example}: unknown to it"
            told.append(f"{_of(self.unseen, self.values)} {none}")
        return "; ".join(told) or None


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
