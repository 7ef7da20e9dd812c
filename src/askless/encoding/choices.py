"""The choices of a category, and which of them a word means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from askless.encoding.cells import composed, key

__all__ = ["Choice", "Choices"]

Choice = str | int | float | bool


class Choices:
    """Finds choices: by their text, or else, where only one is meant, whatever the capitals.

    Where training has told two spellings apart, a third one means neither.

    >>> choices = Choices(["fever", "Cough", "cough", "mäßig"])
    >>> [choices.find(word) for word in ("fever", " Fever ", "MÄSSIG", "cough", "COUGH", "pain")]
    [0, 0, 3, 2, None, None]
    """

    def __init__(self, choices: Iterable[Choice]) -> None:
        self.all = tuple(choices)
        self._exact = {key(choice): i for i, choice in enumerate(self.all)}
        self._alike: dict[str, int | None] = {}
        for i, choice in enumerate(self.all):
            word = _small(choice)
            self._alike[word] = None if word in self._alike else i

    def exact(self, cell: Any) -> int | None:
        """The position of the choice with the text of a cell, spaces at its ends aside."""
        return self._exact.get(key(cell))

    def alike(self, cell: Any) -> int | None:
        """The position of the only choice that differs from a text in capitals alone."""
        return self._alike.get(_small(cell)) if isinstance(cell, str) else None

    def find(self, cell: Any) -> int | None:
        """The position of the choice that a cell means, or None."""
        place = self.exact(cell)
        return self.alike(cell) if place is None else place


def _small(cell: Any) -> str:
    return composed(key(cell).casefold())
