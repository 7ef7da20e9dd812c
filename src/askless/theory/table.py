"""All partial records of a joint table at once.

A partial record of integer values is what every exact quantity of a discrete problem is asked about. A column with L
values gets L + 1 codes, the last of which means "not known". A partial record is then one cell of a table of
(L_1 + 1) x (L_2 + 1) x ... cells, and an answer moves a record to another cell of the same table. So p(x_s, y),
conditional entropies, mutual information and dynamic programming are each computed once for every partial record
there is, and a query about a batch of records is a look-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askless.acquisition import Feature, Part, Schema, State
from askless.exceptions import ParameterError

MAX_CELLS = 5_000_000  # of the table of partial records times classes: 40 MB in float64

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def xlogx(p: Floats) -> Floats:
    """p log p in nats, with 0 log 0 = 0."""
    return p * np.log(np.where(p > 0, p, 1.0))


class StateTable:
    """Numbers every partial record of `joint` (*levels, classes); S is how many there are.

    Quantities are kept times p(x_s), so that a sum over answers needs no weights and nothing is divided by zero.
    """

    def __init__(self, joint: Floats, schema: Schema) -> None:
        self.levels = np.array(joint.shape[:-1])  # (columns,)
        shape = self.levels + 1
        n_states, n_classes = int(np.prod(shape)), joint.shape[-1]
        if n_states * n_classes > MAX_CELLS:
            cells = n_states * n_classes
            message = f"{cells} partial records times classes are too many to enumerate; the limit is {MAX_CELLS}"
            raise ParameterError("too_large", message, name="joint", value=cells, high=MAX_CELLS)
        self.strides = np.append(np.cumprod(shape[:0:-1])[::-1], 1)  # (columns,) as in C order
        self.column_feature = schema.column_feature
        for axis in range(len(shape)):  # not knowing a column sums over it
            joint = np.concatenate([joint, joint.sum(axis=axis, keepdims=True)], axis=axis)
        self.mass: Floats = joint.reshape(-1, n_classes)  # (S, classes): p(x_s, y)
        self.weight: Floats = self.mass.sum(axis=1)  # (S,): p(x_s)
        self.entropy: Floats = xlogx(self.weight) - xlogx(self.mass).sum(axis=1)  # (S,): p(x_s) H(y | x_s)
        codes = np.stack(np.unravel_index(np.arange(n_states), tuple(shape)), axis=1)  # (S, columns)
        runs = [slice(feature.start, feature.stop) for feature in schema.features]
        # (S, features): none of the feature's columns is known
        self.open = np.logical_and.reduceat(codes == self.levels, [run.start for run in runs], axis=1)
        # For each feature, (answers, width): all that its columns can hold together
        self.answers: list[Ints] = [
            np.stack([axis.ravel() for axis in np.indices(tuple(self.levels[run]))], axis=1) for run in runs
        ]
        # For each feature, (answers,): what an answer adds to the number of a record in which it is not known
        self.steps: list[Ints] = [
            (answers - self.levels[run]) @ self.strides[run] for run, answers in zip(runs, self.answers, strict=True)
        ]

    @property
    def root(self) -> int:
        """The number of the record of which nothing is known."""
        return int(self.levels @ self.strides)

    def number(self, partial: Partial) -> Ints:
        """(n,) the numbers of records."""
        shown = partial.asked[:, self.column_feature]  # (n, columns)
        wrong = shown & ((partial.values < 0) | (partial.values >= self.levels))
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            value, high = int(partial.values[row, column]), int(self.levels[column] - 1)
            message = f"column {column} of row {row} holds {value}, not one of 0 to {high}"
            where = {"row": int(row), "column": int(column)}
            raise ParameterError("out_of_range", message, **where, value=value, low=0, high=high)
        return np.where(shown, partial.values, self.levels) @ self.strides

    def after(self, quantity: Floats) -> Floats:
        """(S, features): `quantity` (S,) summed over the answers to each feature; inf where it was asked."""
        total = np.full(self.open.shape, np.inf)
        for feature, steps in enumerate(self.steps):
            rows = np.flatnonzero(self.open[:, feature])
            total[rows, feature] = quantity[rows[:, None] + steps].sum(axis=1)
        return total

    def plan(self, budget: int) -> list[Floats]:
        """For k = 1..budget questions left, (S, features): the entropy to expect at the end, by what is asked now.

        Bellman's equation for all partial records at once; times p(x_s), and inf where a feature was asked.
        """
        best, plans = self.entropy, []
        for _ in range(budget):
            plans.append(self.after(best))
            least = plans[-1].min(axis=1)
            best = np.where(np.isfinite(least), least, self.entropy)  # nothing left to ask
        return plans

    def saved(self, remaining: Floats) -> Floats:
        """(S, features): by how much `remaining` is less than the entropy now; 0 for what was asked."""
        return np.where(self.open, np.maximum(self.entropy[:, None] - remaining, 0.0), 0.0)

    def given(self, quantity: Floats, numbers: Ints) -> Floats:
        """(n, ...): a quantity (S, ...) that is kept times p(x_s), for records; 0 for those that cannot occur."""
        weight = self.weight[numbers].reshape(-1, *[1] * (quantity.ndim - 1))
        return quantity[numbers] / np.where(weight > 0, weight, 1.0)


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
