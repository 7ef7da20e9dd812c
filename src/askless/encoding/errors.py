"""How the encoding says what is wrong, and where."""

from __future__ import annotations

from collections.abc import Sequence

from askless.exceptions import InterviewError, TableError

__all__ = ["BadCell", "CellError", "CellTypeError"]


class CellError(TableError):
    """A value of a table cannot be read; `words` of its column are not numbers, and may stand for missing ones."""

    words: tuple[str, ...] = ()


class CellTypeError(CellError, TypeError):
    """A cell holds something that is neither text nor a number, such as a list or a dictionary."""


class BadCell(Exception):
    """One value cannot be read.

    Whoever reads a value knows only what is wrong with it; the row and the column are filled in on the way up, and
    the encoder then turns the whole into the error of a table or of an interview.
    """

    def __init__(
        self, problem: str, *, row: int = 0, error: type[CellError] = CellError, words: Sequence[str] = ()
    ) -> None:
        super().__init__(problem)
        self.problem, self.error, self.words = problem, error, tuple(words)
        self.row, self.column = row, ""

    def in_table(self, row_numbers: Sequence[int] | None = None) -> CellError:
        """The error of a table, with the column and the row; `row_numbers` are the rows' places in a larger one."""
        row = self.row if row_numbers is None else row_numbers[self.row]
        error = self.error(f"column {self.column!r}, row {row} (counting from 0): {self.problem}")
        error.words = self.words
        return error

    def in_answer(self, feature: str, accepts: str) -> InterviewError:
        """The error of an answer, with what would have been accepted."""
        part = "" if self.column == feature else f", {self.column!r}"
        return InterviewError(f"the answer to {feature!r}{part}: {self.problem}; it takes {accepts}")
