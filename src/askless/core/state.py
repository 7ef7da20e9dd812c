"""Partial records: what is known of each case, and the full cases from which a roll-out reveals."""

from __future__ import annotations

from dataclasses import dataclass

from askless.core.arrays import Array, array_namespace, one_hot

__all__ = ["Cases", "State"]


@dataclass(frozen=True)
class Cases:
    """A batch of complete records, as the encoder makes them."""

    x: Array  # (n, columns)
    present: Array  # (n, features) bool: the value is not missing

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def __getitem__(self, rows: slice) -> Cases:
        return Cases(self.x[rows, :], self.present[rows, :])


@dataclass(frozen=True)
class State:
    """A batch of partial records. Entries of `x` that are not known are zero: a policy cannot peek."""

    x: Array  # (n, columns)
    asked: Array  # (n, features) bool: never asked again
    known: Array  # (n, features) bool: asked, or given beforehand, and answered with a value

    def __len__(self) -> int:
        return int(self.x.shape[0])

    @classmethod
    def of(cls, cases: Cases, column_feature: Array, asked: Array) -> State:
        """The state in which the features `asked` (n, features) have been asked of `cases`."""
        xp = array_namespace(cases.x)
        known = asked & cases.present
        shown = xp.take(known, column_feature, axis=1)  # (n, columns)
        return cls(xp.where(shown, cases.x, xp.zeros_like(cases.x)), asked, known)

    def after(self, pick: Array, cases: Cases, column_feature: Array) -> State:
        """The state after asking feature `pick[i]` of case i; a negative pick asks nothing."""
        return State.of(cases, column_feature, self.asked | one_hot(pick, self.asked.shape[1]))
