"""Errors of single values: what is wrong, with the column and the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from askless.exceptions import InterviewError, TableError

__all__ = ["BadCell", "CellError", "CellTypeError"]


class CellError(TableError):
    """A value of a table cannot be read.

    The code is `bad_cell`. The fields are `column`, `row`, `value` and `words`.
    """

    @property
    def words(self) -> tuple[str, ...]:
        """Text in a column of numbers, which may stand for missing values."""
        return tuple(self.fields["words"])


class CellTypeError(CellError, TypeError):
    """A cell holds something that is neither text nor a number, such as a list or a dictionary."""


class BadCell(Exception):
    """One value cannot be read.

    The function that reads a value knows only the value. Its callers add the row and the column, and the encoder
    turns the exception into a `CellError` for a table or an `InterviewError` for an answer.
    """

    def __init__(
        self, problem: str, value: Any, *, row: int = 0, error: type[CellError] = CellError, words: Sequence[str] = ()
    ) -> None:
        super().__init__(problem)
        self.problem, self.error, self.words = problem, error, tuple(words)
        self.value = value.item() if isinstance(value, np.generic) else value
        self.row, self.column = row, ""

    def in_table(self, row_numbers: Sequence[int] | None = None) -> CellError:
        """The error for a table; `row_numbers` are the rows' places in a larger one."""
        row = int(self.row if row_numbers is None else row_numbers[self.row])
        return self.error(
            "bad_cell",
            f"column {self.column!r}, row {row} (0-based): {self.problem}",
            column=self.column,
            row=row,
            value=self.value,
            words=self.words,
        )

    def in_answer(self, feature: str, accepts: str) -> InterviewError:
        """The error for an answer; `accepts` says what the feature accepts."""
        part = "" if self.column == feature else f", part {self.column!r}"
        return InterviewError(
            "bad_answer",
            f"answer to {feature!r}{part}: {self.problem}; expected {accepts}",
            feature=feature,
            column=self.column,
            value=self.value,
            expected=accepts,
        )
