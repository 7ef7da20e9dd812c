"""Categories: one column for each choice, and which choice a word means."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import islice
from typing import Any, Self

import numpy as np

from askless.acquisition.schema import Part
from askless.encoding.cells import (
    BadCell,
    composed,
    distinct,
    family,
    is_missing,
    is_unknown,
    key,
    parsed,
    plain,
    read_cells,
    shown,
)
from askless.encoding.codec import Encoded, PartCodec
from askless.encoding.table import Column
from askless.exceptions import AsklessWarning, UnseenWarning
from askless.hints import did_you_mean, listed, nearest

MAX_CHOICES = 100
STRANGE = -1.0
ENOUGH = 10  # values, none of which training has seen, are worth a word
NEARLY_ALL = 0.9  # of the rows: so many different values are names of the rows
MOST_SPELLINGS = 3  # that a warning names

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


class CategoryCodec(PartCodec):
    """One-hot columns; a category that the training rows did not hold says nothing, like a missing value.

    A word in other capitals than the one choice that it can mean is read as that choice.

    >>> codec = CategoryCodec.fit(Column("colour", np.array(["red", "blue", "red", None], dtype=object)))
    >>> codec.part.choices
    ('blue', 'red')
    >>> codec.encode(np.array(["red", "green"], dtype=object)).x.tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """

    kind = "category"

    def __init__(self, part: Part) -> None:
        self.part = part
        self._choices: tuple[Choice, ...] = part.choices or ()
        self.width = len(self._choices)
        self._among = Choices(self._choices)
        self._families = {_meant(choice) for choice in self._choices} | {"text"}

    @classmethod
    def fit(cls, column: Column) -> Self:
        """The choices: in the frame's order where it has one, else sorted; only the most frequent of very many."""
        found = distinct(column.values)
        known = [i for i, cell in enumerate(found.cells) if not is_missing(cell)]
        counts = np.bincount(found.codes)
        tally: dict[str, int] = {}
        choices: dict[str, Choice] = {}
        for i in known:
            choice = plain(found.cells[i])
            _finite(choice, int(found.rows[i]))
            tally[key(choice)] = tally.get(key(choice), 0) + int(counts[i])
            choices.setdefault(key(choice), choice)
        ordered = _in_order(choices, column.order)
        if len(ordered) > MAX_CHOICES:
            every = len(ordered) > NEARLY_ALL * sum(tally.values())
            advice = ", a different one in nearly every row; drop it if it is an identifier" if every else ""
            n, rows = len(ordered), len(column.values)
            message = (
                f"column {column.name!r} has {n} distinct values in {rows} training rows{advice}; the {MAX_CHOICES} "
                "most frequent become choices, the others count as unknown"
            )
            fields = {"column": column.name, "value": n, "rows": rows, "high": MAX_CHOICES}
            warnings.warn(AsklessWarning("too_many_categories", message, **fields), stacklevel=2)
            kept = set(sorted(ordered, key=lambda text: -tally[text])[:MAX_CHOICES])  # ties in order
            ordered = [text for text in ordered if text in kept]
        warn_of_spellings(f"column {column.name!r}", ordered, "choices", column=column.name)
        return cls(Part(column.name, cls.kind, choices=tuple(choices[text] for text in ordered)))

    @property
    def accepts(self) -> str:
        return f"one of {listed(self._choices)}"

    def encode(self, values: np.ndarray) -> Encoded:
        name = self.part.name
        respelled: dict[str, Choice] = {}
        codes = read_cells(values, lambda cell: self._code(cell, respelled))
        if respelled:
            told = [f"{word} as {shown(choice)}" for word, choice in respelled.items()]
            rest = len(told) - MOST_SPELLINGS
            read = ", ".join(told[:MOST_SPELLINGS]) + (f" and {rest} more" if rest > 0 else "")
            message = f"column {name!r}: other capitals than in training; read {read}"
            choices = list(respelled.values())
            warnings.warn(UnseenWarning("other_capitals", message, column=name, choices=choices), stacklevel=2)
        strange = codes == STRANGE
        if strange.any() and not (codes >= 0).any():  # nothing fits: perhaps it is another column
            row = int(strange.argmax())
            message = f"column {name!r}, row {row} (0-based): {self._odd(values[row])}; such values count as unknown"
            fields = {"column": name, "row": row, "value": plain(values[row])}
            warnings.warn(AsklessWarning("unexpected_type", message, **fields), stacklevel=2)
        elif np.isnan(codes).all():
            said = list(islice((cell for cell in values if not is_missing(cell)), ENOUGH))
            if len(said) == ENOUGH:
                message = (
                    f"column {name!r}: no value occurred in training, for instance {shown(said[0])}; "
                    f"all count as unknown; training values: {self.accepts}"
                )
                fields = {"column": name, "value": plain(said[0]), "choices": list(self._choices)}
                warnings.warn(UnseenWarning("unseen_categories", message, **fields), stacklevel=2)
        codes[strange] = np.nan
        rows = np.flatnonzero(~np.isnan(codes))
        x = np.zeros((len(codes), self.width), dtype=np.float32)
        x[rows, codes[rows].astype(np.intp)] = 1.0
        return Encoded(x, ~np.isnan(codes))

    def encode_one(self, cell: Any) -> list[float] | None:
        """1 in the column of the choice; unlike in a table, what is of another sort than all choices is refused."""
        respelled: dict[str, Choice] = {}
        cells = np.empty(1, dtype=object)
        cells[0] = cell
        code = read_cells(cells, lambda each: self._code(each, respelled)).item()
        if code == STRANGE:
            raise BadCell(self._odd(cell), cell)
        name = self.part.name
        for word, choice in respelled.items():
            message = f"{name!r}: {word} is read as {shown(choice)}"
            fields = {"column": name, "value": plain(cell), "choices": [choice]}
            warnings.warn(UnseenWarning("other_capitals", message, **fields), stacklevel=4)
        columns = [0.0] * self.width
        if code != code:
            if not is_missing(cell) and not (isinstance(cell, str) and is_unknown(cell)):
                words = [choice for choice in self._choices if isinstance(choice, str)]
                message = (
                    f"{name!r}: {shown(cell)} did not occur in training{did_you_mean(cell, words)}; it counts as "
                    f"unknown; expected {self.accepts}"
                )
                fields = {"column": name, "value": plain(cell), "choices": list(self._choices)}
                warning = UnseenWarning("unseen_categories", message, **fields, nearest=nearest(cell, words))
                warnings.warn(warning, stacklevel=4)
            return None
        columns[int(code)] = 1.0
        return columns

    def _code(self, cell: Any, respelled: dict[str, Choice]) -> float:
        """The position of the choice; NaN where it is missing or unseen; STRANGE where no choice is of its sort.

        What is read as a choice in other capitals is noted in `respelled`.
        """
        if is_missing(cell):
            return float("nan")
        place = self._among.exact(cell)
        if place is not None:
            return float(place)
        place = self._among.alike(cell)
        if place is not None:
            respelled[shown(cell)] = self._choices[place]
            return float(place)
        _finite(plain(cell), 0)
        return float("nan") if family(cell) in self._families else STRANGE

    def _odd(self, cell: Any) -> str:
        return f"{shown(cell)} is a {family(cell)}, but no category of this column is"

    def to_json(self) -> dict[str, Any]:
        return {"choices": list(self._choices)}

    @classmethod
    def from_json(cls, name: str, data: dict[str, Any]) -> Self:
        return cls(Part(name, cls.kind, choices=tuple(data["choices"])))


def _in_order(choices: dict[str, Choice], order: Iterable[Any]) -> list[str]:
    """The keys of the choices: in the frame's order, or numbers before text and each sorted."""
    place = {key(category): i for i, category in enumerate(order)}

    def sorting(text: str) -> tuple[int, bool, float, str]:
        choice = choices[text]
        is_text = isinstance(choice, str)
        return place.get(text, len(place)), is_text, 0.0 if isinstance(choice, str) else choice, text

    return sorted(choices, key=sorting)


def warn_of_spellings(where: str, words: Iterable[Any], called: str, **fields: Any) -> None:
    """Warn if words differ in capitals and spaces only."""
    spellings: dict[str, list[str]] = {}
    for word in words:
        if isinstance(word, str):
            spellings.setdefault(" ".join(word.casefold().split()), []).append(word)
    alike = [word for group in spellings.values() if len(group) > 1 for word in group]
    if alike:
        message = (
            f"{where} holds {listed(alike)}, which are different {called}; spell them alike if they mean the same"
        )
        warnings.warn(AsklessWarning("similar_spellings", message, choices=alike, **fields), stacklevel=3)


def _meant(choice: Choice) -> str:
    """The family of a choice, where text may stand for a number or a boolean."""
    if isinstance(choice, str) and parsed(choice) is not None:
        return "number"
    return "boolean" if key(choice) in ("True", "False") else family(choice)


def _finite(choice: Choice, row: int) -> None:
    if isinstance(choice, float) and not np.isfinite(choice):
        raise BadCell(f"{shown(choice)} is infinity, which cannot be a category", choice, row=row)
