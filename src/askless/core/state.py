"""Partial records: what is known of each case, and the full cases from which a roll-out reveals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like, one_hot
from askless.core.schema import Schema

__all__ = ["Answer", "Answers", "Cases", "Memo", "PerCase", "State"]

Memo = dict[Any, Any]
"""What was computed from a state's `x` and `known`, by whoever computed it."""


@dataclass(frozen=True)
class Cases:
    """A batch of complete records, as the encoder makes them."""

    x: Array  # (n, columns)
    present: Array  # (n, features) bool: the value is not missing

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def __getitem__(self, rows: slice | np.ndarray) -> Cases:
        return Cases(self.x[rows, :], self.present[rows, :])


class PerCase(ABC):
    """What a memo holds of each case, and a state of some of them can take over."""

    @abstractmethod
    def at(self, cases: np.ndarray) -> PerCase:
        """The same of some cases (m,), which may repeat."""


@dataclass(slots=True)
class Answer:
    """The answer that led to a state of one case."""

    before: Memo  # of the state before
    earlier: Answer | Answers | None  # what led to the state before
    feature: int
    start: int  # the columns are start, start + 1, ..., stop - 1
    stop: int
    values: np.ndarray  # (1 + stop - start,): a one, which stands for "known", and the columns


@dataclass(slots=True)
class Answers:
    """The answers that led to a state of many cases, those to the same question side by side.

    Cases that were told nothing are not among them.
    """

    before: Memo  # of the state before
    runs: list[tuple[int, int, int]]  # a feature, and where the answers to it begin and end
    values: np.ndarray  # (m, 1 + width): a one, the feature's columns, and zeros
    rows: np.ndarray  # (m,) the case of each answer
    places: np.ndarray | None  # (n,) the answer of each case, where all were told something
    schema: Schema


@dataclass(frozen=True)
class State:
    """A batch of partial records. Entries of `x` that are not known are zero: a policy cannot peek.

    A state that came from another by answers says so in `told`, so that what is linear in the answers can be added
    to what was computed before. Neither has to be looked at: `x` and `known` say everything.
    """

    x: Array  # (n, columns)
    asked: Array  # (n, features) bool: never asked again
    known: Array  # (n, features) bool: asked, or given beforehand, and answered with a value
    # Not arguments, so that `dataclasses.replace` begins anew.
    told: Answer | Answers | None = field(default=None, init=False, repr=False, compare=False)
    memo: Memo = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return int(self.x.shape[0])

    @property
    def nothing_known(self) -> bool:
        """Whether nothing is known of any case, so that all look the same."""
        return self.told is None and not self.known.any()

    @property
    def unknown_cases(self) -> np.ndarray:
        """(m,) the cases of which nothing is known; for numpy."""
        if isinstance(self.told, Answers) and len(self.told.rows) == len(self):
            return self.told.rows[:0]
        return np.flatnonzero(~self.known.any(axis=1))

    @classmethod
    def of(cls, cases: Cases, column_feature: Array, asked: Array) -> State:
        """The state in which the features `asked` (n, features) have been asked of `cases`."""
        xp = array_namespace(cases.x)
        known = asked & cases.present
        shown = xp.take(known, column_feature, axis=1)  # (n, columns)
        return cls(xp.where(shown, cases.x, xp.zeros_like(cases.x)), asked, known)

    def after(self, pick: Array, cases: Cases, schema: Schema) -> State:
        """The state after asking feature `pick[i]` of case i; a negative pick asks nothing."""
        if not isinstance(self.x, np.ndarray):
            asked = self.asked | one_hot(pick, self.asked.shape[1])
            return State.of(cases, constant_like(schema.column_feature, self.x), asked)
        if len(self) > 1:
            return self._after_many(pick, cases, schema)
        index = int(pick[0])
        if index < 0 or self.known[0, index]:
            return self
        feature = schema.features[index]
        values = cases.x[0, feature.start : feature.stop] if cases.present[0, index] else None
        return self.answered(index, feature.start, feature.stop, values)

    def at(self, cases: np.ndarray) -> State:
        """The state of some of the cases (m,), which may repeat; for numpy."""
        memo = {who: kept.at(cases) for who, kept in self.memo.items() if isinstance(kept, PerCase)}
        return State(self.x[cases], self.asked[cases], self.known[cases])._with(None, memo)

    def answered(self, feature: int, start: int, stop: int, values: np.ndarray | None) -> State:
        """The state of one case after its first answer to a feature of these columns; None tells nothing."""
        return _Next.after_answer(self, feature, start, stop, values)

    def corrected(self, feature: int, start: int, stop: int, values: np.ndarray | None) -> State:
        """The state of one case in which the answer to a feature, if there was one, is replaced."""
        x, asked, known = self.x.copy(), self.asked.copy(), self.known.copy()
        x[0, start:stop] = 0.0 if values is None else values
        asked[0, feature] = True
        known[0, feature] = values is not None
        return State(x, asked, known)

    def _after_many(self, pick: np.ndarray, cases: Cases, schema: Schema) -> State:
        rows = np.flatnonzero(pick >= 0)
        pick = pick[rows]
        asked = _with_ones(self.asked, rows, pick)
        news = cases.present[rows, pick] & ~self.known[rows, pick]
        if not news.all():
            rows, pick = rows[news], pick[news]
        if not len(rows):
            return State(self.x, asked, self.known)._with(self.told, self.memo)
        order = np.argsort(pick.astype(np.int16 if len(schema) < 2**15 else np.int64), kind="stable")
        rows, pick = rows[order], pick[order]
        widths = schema.widths[pick]
        offsets = np.arange(widths.max())
        real = offsets < widths[:, None]  # (m, width)
        columns = schema.starts[pick][:, None] + offsets
        x = self.x.copy(order="C")
        values = np.empty((len(rows), 1 + len(offsets)), dtype=x.dtype)
        values[:, 0] = 1.0
        if real.all():
            values[:, 1:] = cases.x[rows[:, None], columns]
            x.reshape(-1)[rows[:, None] * x.shape[1] + columns] = values[:, 1:]  # faster than by pairs
        else:  # features of different widths: no columns of the next feature
            at, k = np.nonzero(real)
            values[:, 1:] = 0.0
            values[at, 1 + k] = x[rows[at], columns[at, k]] = cases.x[rows[at], columns[at, k]]
        told = Answers(self.memo, _runs(pick), values, rows, _inverse(rows, len(self)), schema)
        return State(x, asked, _with_ones(self.known, rows, pick))._with(told, {})

    def _with(self, told: Answer | Answers | None, memo: Memo) -> State:
        self.__dict__.update(told=told, memo=memo)
        return self


class _Next(State):
    """The state after an answer; its arrays are made when somebody looks at them, which running sums need not."""

    def __new__(cls, x: np.ndarray, asked: np.ndarray, known: np.ndarray) -> State:  # type: ignore[misc]
        """What `dataclasses.replace` makes is an ordinary state."""
        return State(x, asked, known)

    @classmethod
    def after_answer(cls, before: State, feature: int, start: int, stop: int, values: np.ndarray | None) -> _Next:
        """The state after an answer in the columns from start to stop; None tells nothing."""
        self = object.__new__(cls)
        own = self.__dict__
        own["_made"], own["_answer"] = None, (before, feature, start, stop, values)
        if values is None:
            own["told"], own["memo"] = before.told, before.memo
            return self
        told = np.empty(1 + stop - start, dtype=values.dtype)
        told[0] = 1.0
        told[1:] = values
        own["told"], own["memo"] = Answer(before.memo, before.told, feature, start, stop, told), {}
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or what is unpickled, is an ordinary state."""
        return State, self._arrays()

    def __len__(self) -> int:
        return 1

    @property
    def x(self) -> np.ndarray:
        return self._arrays()[0]

    @property
    def asked(self) -> np.ndarray:
        return self._arrays()[1]

    @property
    def known(self) -> np.ndarray:
        return self._arrays()[2]

    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        made: tuple[np.ndarray, np.ndarray, np.ndarray] | None = self.__dict__["_made"]
        if made is None:
            answers, state = [], cast(State, self)
            while isinstance(state, _Next) and state.__dict__["_made"] is None:
                state, *answer = state.__dict__["_answer"]
                answers.append(answer)
            made = state.x.copy(), state.asked.copy(), state.known.copy()
            for feature, start, stop, values in reversed(answers):
                made[1][0, feature] = True
                if values is not None:
                    made[0][0, start:stop] = values
                    made[2][0, feature] = True
            self.__dict__.update(_made=made, _answer=None)
        return made


def _with_ones(mask: np.ndarray, rows: np.ndarray, pick: np.ndarray) -> np.ndarray:
    """A copy of `mask` (n, features) that is True also at (rows[i], pick[i])."""
    copy = mask.copy(order="C")
    copy.reshape(-1)[rows * mask.shape[1] + pick] = True
    return copy


def _runs(ordered: np.ndarray) -> list[tuple[int, int, int]]:
    """The runs of equal numbers: the number, where it begins and where it ends."""
    counts = np.bincount(ordered)
    found = np.flatnonzero(counts)
    stops = np.cumsum(counts[found])
    return list(zip(found.tolist(), (stops - counts[found]).tolist(), stops.tolist(), strict=True))


def _inverse(rows: np.ndarray, n: int) -> np.ndarray | None:
    if len(rows) < n:
        return None
    places = np.empty(n, dtype=np.intp)
    places[rows] = np.arange(n)
    return places
