"""Partial records: what is known of each case, and the full cases from which a roll-out reveals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.acquisition.schema import Schema


@dataclass(frozen=True)
class Cases:
    """A batch of complete records, as the encoder makes them."""

    x: np.ndarray  # (n, columns)
    present: np.ndarray  # (n, features) bool: the value is not missing

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: slice | np.ndarray) -> Cases:
        return Cases(self.x[rows], self.present[rows])


@dataclass(frozen=True)
class State:
    """A batch of partial records. Entries of `x` that are not known are zero: a policy cannot peek."""

    x: np.ndarray  # (n, columns)
    asked: np.ndarray  # (n, features) bool: never asked again
    known: np.ndarray  # (n, features) bool: asked, or given beforehand, and answered with a value

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: slice | np.ndarray) -> State:
        return State(self.x[rows], self.asked[rows], self.known[rows])

    @classmethod
    def of(cls, cases: Cases, column_feature: np.ndarray, asked: np.ndarray) -> State:
        """The state in which the features `asked` (n, features) have been asked of `cases`."""
        known = asked & cases.present
        x = np.where(known[:, column_feature], cases.x, np.zeros((), cases.x.dtype))
        return cls(x, asked, known)

    @classmethod
    def empty(cls, n: int, schema: Schema) -> State:
        """Nothing is asked of n cases."""
        nothing = np.zeros((n, len(schema)), dtype=bool)
        return cls(np.zeros((n, schema.n_columns), dtype=np.float32), nothing, nothing)

    def after(self, pick: np.ndarray, cases: Cases, schema: Schema) -> State:
        """The state after asking feature `pick[i]` of case i; a negative pick asks nothing."""
        rows = np.flatnonzero(pick >= 0)
        features = pick[rows]
        x, asked, known = self.x.copy(), self.asked.copy(), self.known.copy()
        asked[rows, features] = True
        answered = cases.present[rows, features]
        rows, features = rows[answered], features[answered]
        known[rows, features] = True
        # features of fewer columns than the widest repeat their last one
        width = np.arange(schema.widths.max())
        columns = schema.starts[features][:, None] + np.minimum(width, schema.widths[features][:, None] - 1)
        x[rows[:, None], columns] = cases.x[rows[:, None], columns]
        return State(x, asked, known)

    def with_answer(self, feature: int, start: int, stop: int, values: np.ndarray | None) -> State:
        """The state of a single case with an answer in the columns from start to stop; None is no value."""
        x, asked, known = self.x.copy(), self.asked.copy(), self.known.copy()
        x[0, start:stop] = 0.0 if values is None else values
        asked[0, feature] = True
        known[0, feature] = values is not None
        return State(x, asked, known)
