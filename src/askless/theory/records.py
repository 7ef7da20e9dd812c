"""Partial records of integer values: what every exact quantity of a discrete problem is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless.acquisition import Feature, Part, Schema, State

__all__ = ["Bools", "Floats", "Ints", "Partial", "schema_of"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Partial:
    """A batch of partial records as integers. A column whose feature was not asked holds nothing of meaning.

    >>> import numpy as np
    >>> batch = Partial(np.array([[1, 0], [0, 2]]), np.array([[True, False], [True, True]]))
    >>> len(batch), batch[1:].values.tolist()
    (2, [[0, 2]])
    """

    values: Ints  # (n, columns)
    asked: Bools  # (n, features): asked, and answered with a value

    @classmethod
    def of(cls, state: State) -> Partial:
        """The records of a state whose encoded columns hold the integers themselves."""
        return cls(np.rint(np.asarray(state.x)).astype(np.int64), np.asarray(state.known))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: slice | Ints | Bools) -> Partial:
        return Partial(self.values[rows], self.asked[rows])


def schema_of(features: Mapping[str, int]) -> Schema:
    """A schema of plain numbers, from how many columns each feature has; those of a group are numbered.

    >>> [[part.name for part in f.parts] for f in schema_of({"age": 1, "pressure": 2}).features]
    [['age'], ['pressure_0', 'pressure_1']]
    """
    made: list[Feature] = []
    start = 0
    for name, width in features.items():
        names = [name] if width == 1 else [f"{name}_{k}" for k in range(width)]
        made.append(Feature(name, tuple(Part(n, "number") for n in names), start, start + width))
        start += width
    return Schema(tuple(made))
