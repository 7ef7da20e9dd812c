"""How the encoding says what is wrong, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from askless.exceptions import InterviewError, TableError

__all__ = ["BadCell", "CellTypeError", "did_you_mean", "listed"]


class CellTypeError(TableError, TypeError):
    """A cell holds something that is neither text nor a number, such as a list or a dictionary."""


class BadCell(Exception):
    """One value cannot be read.

    Whoever reads a value knows only what is wrong with it; the row and the column are filled in on the way up, and
    the encoder then turns the whole into the error of a table or of an interview.
    """

    def __init__(self, problem: str, *, row: int = 0, error: type[TableError] = TableError) -> None:
        super().__init__(problem)
        self.problem, self.error = problem, error
        self.row, self.column = row, ""

    def in_table(self, row_numbers: Sequence[int] | None = None) -> TableError:
        """The error of a table, with the column and the row; `row_numbers` are the rows' places in a larger one."""
        row = self.row if row_numbers is None else row_numbers[self.row]
        return self.error(f"column {self.column!r}, row {row} (counting from 0): {self.problem}")

    def in_answer(self, feature: str, accepts: str) -> InterviewError:
        """The error of an answer, with what would have been accepted."""
        part = "" if self.column == feature else f", {self.column!r}"
        return InterviewError(f"the answer to {feature!r}{part}: {self.problem}; it takes {accepts}")


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A hint at the name nearest to `name`, whatever the case of its letters; empty where none is near.

    >>> did_you_mean("Agee", ["sex", "age"])
    " (did you mean 'age'?)"
    """
    by_key = {known.casefold(): known for known in names}
    near = get_close_matches(name.casefold(), by_key, n=1)
    return f" (did you mean {by_key[near[0]]!r}?)" if near else ""


def listed(names: Iterable[object], most: int = 10) -> str:
    """Names for a sentence, shortened where there are many.

    >>> listed("abc"), listed("abc", most=2)
    ("'a', 'b', 'c'", "'a', 'b' and 1 more")
    """
    every = [repr(name) for name in names]
    rest = len(every) - most
    return ", ".join(every[:most]) + (f" and {rest} more" if rest > 0 else "")
