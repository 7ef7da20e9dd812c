"""Cases of which the same is known: a roll-out asks them the same, so it has to think only once.

Before the first answer all cases are alike. Answers tell them apart, in some tables late (yes or no, a few
categories, many zeros), in others at once. Where hardly any are alike any more, each goes on by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.core.arrays import Array
from askless.core.schema import Schema
from askless.core.state import Cases

__all__ = ["Twins", "all_treat_alike"]

MOST = 0.7  # states, as a share of the cases: with more of them it is not worth telling who is alike
UNTOLD = np.uint64(0xA0761D6478BD642F)  # mixed into the key where there is no answer
MIX, STIR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xE7037ED1A0B428DB)  # odd, with bits all over


def all_treat_alike(*parts: object) -> bool:
    """Whether all parts of a roll-out say that they treat cases in the same state alike."""
    return all(getattr(part, "treats_alike", False) for part in parts)


@dataclass(frozen=True)
class Twins:
    """Which cases stand in the same state, and a case for each state."""

    cases: Cases  # one for each state
    state: np.ndarray | None = None  # (n,) that of each case; None: every case has its own
    answers: Answered | None = None

    @classmethod
    def before_answers(cls, cases: Cases, can_ask: np.ndarray, schema: Schema) -> tuple[Twins, np.ndarray]:
        """Nothing is known yet, so that cases differ in what can be asked of them (n, features) alone.

        With it comes what can be asked in each state.
        """
        twins, case = _told_apart([_row_codes(np.packbits(can_ask, axis=1))], Answered(cases, schema))
        return twins, can_ask if case is None else can_ask[case]

    def to_all(self, array: Array) -> Array:
        """(n, ...) of all cases, from that of each state (states, ...)."""
        return array if self.state is None else array[self.state]

    def after(self, pick: Array) -> tuple[Twins, np.ndarray | None]:
        """After the question of each state (states,), where a negative one is none.

        With it comes the state that each state was before; None where all are what they were.
        """
        if self.state is None or self.answers is None:
            return self, None
        twins, case = _told_apart([self.state.view(np.uint64), *self.answers(pick[self.state])], self.answers)
        return twins, self.state if case is None else self.state[case]


def _told_apart(signs: list[np.ndarray], answers: Answered) -> tuple[Twins, np.ndarray | None]:
    """Cases with the same signs, each (n,) of 64 bits, stand in the same state; with it a case of each state, None
    where every case has its own.
    """
    key = signs[0] * STIR
    for sign in signs[1:]:
        key = (key ^ (key >> np.uint64(29)) ^ sign) * MIX
    order = key.argsort()
    ordered = key[order]
    begins = np.empty(len(key), dtype=bool)
    begins[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    case = order[begins]
    state = np.empty(len(key), dtype=np.int64)
    state[order] = np.cumsum(begins) - 1
    same = len(case) < MOST * len(key) and all((sign == sign[case][state]).all() for sign in signs)  # no two keys met
    return (Twins(answers.cases[case], state, answers), case) if same else (Twins(answers.cases), None)


class Answered:
    """What cases answer, in numbers that are the same where the same question has the same answer."""

    def __init__(self, cases: Cases, schema: Schema) -> None:
        self.cases, self._schema = cases, schema
        self._short = cases.x.dtype == np.float32  # two columns are as long as a number of 64 bits
        self._wide = schema.widths > (2 if self._short else 0)  # (features,) those that are numbered one by one
        self._numbered: dict[int, np.ndarray] = {}
        self._complete = bool(cases.present.all())

    def __call__(self, asked: np.ndarray) -> list[np.ndarray]:
        """Numbers (n,) of 64 bits for the question of each case (n,), which is negative where there is none."""
        rows, feature = np.arange(len(asked)), np.maximum(asked, 0)
        told = self._pairs(rows, feature) if self._short else np.zeros(len(rows), dtype=np.uint64)
        wide = self._wide[feature]
        for each in np.unique(feature[wide]).tolist():
            those = np.flatnonzero(feature == each)
            told[those] = self._of_feature(each)[those]
        there = asked >= 0 if self._complete else (asked >= 0) & self.cases.present[rows, feature]
        return [told] if there.all() else [np.where(there, told, UNTOLD), there.astype(np.uint64)]

    def _pairs(self, rows: np.ndarray, feature: np.ndarray) -> np.ndarray:
        """(n,) the bits of the first two columns of each case's feature."""
        start, x = self._schema.starts[feature], self.cases.x
        pairs = np.zeros((len(rows), 2), dtype=np.float32)
        pairs[:, 0] = x[rows, start]
        second = np.flatnonzero(self._schema.widths[feature] > 1)
        pairs[second, 1] = x[second, start[second] + 1]
        return pairs.view(np.uint64)[:, 0]

    def _of_feature(self, feature: int) -> np.ndarray:
        """(n,) codes of a feature with more columns."""
        if feature not in self._numbered:
            start = self._schema.starts[feature]
            self._numbered[feature] = _row_codes(self.cases.x[:, start : start + self._schema.widths[feature]])
        return self._numbered[feature]


def _row_codes(rows: np.ndarray) -> np.ndarray:
    """(n,) numbers that are the same for equal rows (n, m)."""
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))
    return np.unique(whole, return_inverse=True)[1].reshape(-1).astype(np.uint64)
