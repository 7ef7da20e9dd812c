"""Values of a table that did not occur in training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from askless.cli.console import count
from askless.cli.errors import note
from askless.encoding.category import MAX_CHOICES, Choices
from askless.encoding.cells import is_missing, shown

if TYPE_CHECKING:
    import pandas as pd

    from askless.acquisition import Part
    from askless.model import FittedModel

__all__ = ["Unseen"]

MANY = 0.1  # a larger share of numbers outside of the training range is reported, however near they are


class Unseen:
    """Counts unusual values, a few rows at a time.

    These are words that did not occur in training (the model takes them for unknown), words in other capitals than in
    training, and numbers outside of the training range.
    """

    def __init__(self, model: FittedModel) -> None:
        parts = [part for feature in model.schema.features for part in feature.parts]
        self._columns: list[_Words | _Numbers] = [
            _Words(part) if part.choices is not None else _Numbers(part)
            for part in parts
            if part.choices is not None or part.low is not None
        ]

    def count(self, frame: pd.DataFrame) -> None:
        """Count the unusual values of some rows."""
        for column in self._columns:
            if column.part.name in frame:
                column.count(frame[column.part.name])

    def report(self) -> None:
        """Print a note for each column with too many unusual values."""
        for column in self._columns:
            for code, message in column.findings():
                note(f"{column.part.name}: {message}", code)


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

    def count(self, column: pd.Series) -> None:
        for cell, times in column.value_counts().items():
            if is_missing(cell) or not times:  # pandas counts absent categories, too
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
                self.spelling = self.spelling or f"{shown(cell)} for {shown(self._choices.all[place])}"

    def findings(self) -> Iterator[tuple[str, str]]:
        if self.respelled:
            some = _of(self.respelled, self.values)
            yield "other_capitals", f"{some} in other capitals than in training, such as {self.spelling}"
        if self.unseen and len(self._choices.all) < MAX_CHOICES:  # a full list may lack rare values of training
            some = _of(self.unseen, self.values)
            yield (
                "unseen_categories",
                f"{some} not in the training data, such as {self.example}, and count as unknown",
            )


@dataclass
class _Numbers:
    """A column of numbers."""

    part: Part
    values: int = 0
    outside: int = 0  # of the training range
    farthest: float = 0.0  # the largest distance from the training range
    example: float = 0.0

    def count(self, column: pd.Series) -> None:
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

    def findings(self) -> Iterator[tuple[str, str]]:
        low, high = self._range
        if self.farthest > high - low or self.outside > MANY * self.values:
            some = _of(self.outside, self.values)
            yield (
                "outside_training_range",
                f"{some} outside of the training range, {low:g} to {high:g}, such as {self.example:g}",
            )

    @property
    def _range(self) -> tuple[float, float]:
        assert self.part.low is not None
        assert self.part.high is not None
        return self.part.low, self.part.high


def _of(some: int, values: int) -> str:
    return f"{some:,} of {count(values, 'value')} {'is' if some == 1 else 'are'}"
