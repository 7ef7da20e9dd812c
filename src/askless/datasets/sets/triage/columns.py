"""The hidden state of a patient, and the two kinds of column: how each is distributed given the state.

What cannot be seen is a condition, whether the patient is unstable, and an age band: one of 15 x 2 x 3 = 90 states.
Everything that can be asked, and the destination, depends on the hidden state alone.

Numbers live on the grid on which they are shown: they are drawn from it, with weights that follow a normal or
log-normal density. So there is no rounding and no clipping that a posterior would have to undo.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askless.exceptions import TableError
from askless.hints import listed

if TYPE_CHECKING:
    import pandas as pd

CLASSES = ("discharge", "intensive care", "ward")  # sorted, as estimators order them
AGE_BANDS = ((18, 39), (40, 64), (65, 95))  # years, both ends included
AGE_SHARES = (0.38, 0.34, 0.28)
UNSTABLE_ODDS_BY_AGE = (0.7, 1.0, 1.4)
DISCHARGE_ODDS_BY_AGE = (1.4, 1.0, 0.6)


class Condition(NamedTuple):
    """How often it is seen in each age band, how often it is unstable, and where patients go."""

    weight: tuple[float, float, float]  # by age band
    unstable: float  # probability, in the middle age band
    stable_to: tuple[float, float, float]  # by class
    unstable_to: tuple[float, float, float]


CONDITIONS = {
    "chest wall pain": Condition((10, 9, 4), 0.03, (0.965, 0.005, 0.03), (0.80, 0.02, 0.18)),
    "acute coronary syndrome": Condition((1, 7, 9), 0.35, (0.04, 0.08, 0.88), (0.01, 0.84, 0.15)),
    "pulmonary embolism": Condition((1.5, 3, 4), 0.25, (0.07, 0.04, 0.89), (0.01, 0.84, 0.15)),
    "heart failure": Condition((0.3, 3, 9), 0.30, (0.10, 0.04, 0.86), (0.01, 0.74, 0.25)),
    "pneumonia": Condition((3, 4, 8), 0.20, (0.25, 0.02, 0.73), (0.02, 0.68, 0.30)),
    "viral infection": Condition((10, 6, 3), 0.03, (0.97, 0.003, 0.027), (0.70, 0.03, 0.27)),
    "sepsis": Condition((1.5, 3, 6), 0.45, (0.02, 0.12, 0.86), (0.005, 0.895, 0.10)),
    "minor injury": Condition((16, 10, 6), 0.03, (0.975, 0.002, 0.023), (0.75, 0.02, 0.23)),
    "internal bleeding": Condition((4, 3.5, 4), 0.50, (0.02, 0.15, 0.83), (0.005, 0.925, 0.07)),
    "gastroenteritis": Condition((9, 6, 4), 0.05, (0.94, 0.003, 0.057), (0.45, 0.05, 0.50)),
    "appendicitis": Condition((6, 4, 2.5), 0.15, (0.03, 0.02, 0.95), (0.01, 0.29, 0.70)),
    "faint": Condition((3, 2.5, 3.5), 0.05, (0.90, 0.005, 0.095), (0.60, 0.05, 0.35)),
    "migraine": Condition((7, 6, 2), 0.03, (0.97, 0.003, 0.027), (0.80, 0.02, 0.18)),
    "stroke": Condition((0.6, 3, 8), 0.35, (0.03, 0.09, 0.88), (0.005, 0.845, 0.15)),
    "minor illness": Condition((18, 13, 8), 0.02, (0.985, 0.001, 0.014), (0.85, 0.02, 0.13)),
}


class State(NamedTuple):
    """One hidden state."""

    condition: str
    unstable: bool
    age_band: int


STATES = tuple(State(*state) for state in product(CONDITIONS, (False, True), range(len(AGE_BANDS))))


def prior() -> np.ndarray:
    """(states,) how probable each hidden state is before anything is asked."""
    weights = np.array([condition.weight for condition in CONDITIONS.values()])
    in_band = weights / weights.sum(axis=0)  # (conditions, bands)
    odds = np.array([c.unstable / (1 - c.unstable) for c in CONDITIONS.values()])
    odds_by_band = odds[:, None] * np.array(UNSTABLE_ODDS_BY_AGE)
    unstable = odds_by_band / (1 + odds_by_band)
    severity = np.stack([1 - unstable, unstable], axis=1)  # (conditions, severities, bands)
    joint: np.ndarray = in_band[:, None, :] * severity * np.array(AGE_SHARES)
    return joint.reshape(-1)


def destination() -> np.ndarray:
    """(states, classes) where each hidden state leads; the old are sent home less often than the young."""
    towards = np.array(
        [CONDITIONS[s.condition].unstable_to if s.unstable else CONDITIONS[s.condition].stable_to for s in STATES]
    )
    towards[:, CLASSES.index("discharge")] *= [DISCHARGE_ODDS_BY_AGE[s.age_band] for s in STATES]
    result: np.ndarray = towards / towards.sum(axis=1, keepdims=True)
    return result


@dataclass(frozen=True)
class Number:
    """A measured number. `given` holds, by condition, its centre in stable and in unstable patients.

    With `log`, the centre is the median, `spread` belongs to the logarithm and `by_age` multiplies; else the centre
    is the mode and `by_age` adds.
    """

    name: str
    unit: str
    low: float
    high: float
    step: float
    usual: tuple[float, float]  # the centre for conditions that `given` does not list
    spread: float
    given: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    by_age: tuple[float, float, float] | None = None
    log: bool = False

    @property
    def values(self) -> np.ndarray:
        """(values,) the grid."""
        count = round((self.high - self.low) / self.step) + 1
        grid: np.ndarray = np.round(self.low + self.step * np.arange(count), 3)
        return grid.astype(np.int64) if float(self.step).is_integer() else grid

    @property
    def centres(self) -> np.ndarray:
        """(states,)."""
        centre = np.array([self.given.get(s.condition, self.usual)[s.unstable] for s in STATES])
        if self.by_age is None:
            return centre
        age: np.ndarray = np.array([self.by_age[s.age_band] for s in STATES])
        shifted: np.ndarray = centre * age if self.log else centre + age
        return shifted

    def table(self) -> np.ndarray:
        """(states, values) probabilities."""
        grid, centre = self.values.astype(np.float64), self.centres[:, None]
        z = np.log(grid / centre) if self.log else grid - centre
        weights = np.exp(-0.5 * (z / self.spread) ** 2) / (grid if self.log else 1.0)
        result: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
        return result

    def codes(self, series: pd.Series) -> np.ndarray:
        """(n,) the nearest place on the grid, -1 where the value is not known."""
        import pandas as pd

        try:
            numbers = pd.to_numeric(series).to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            message = f"the column {self.name!r} must hold numbers"
            raise TableError("bad_column", message, column=self.name, expected="number") from None
        place = np.rint((numbers - self.low) / self.step)
        bad = (place < 0) | (place > len(self.values) - 1)
        if bad.any():
            row = int(np.argmax(bad))
            raise TableError(
                "bad_cell",
                f"{self.name!r} in row {row} (0-based) is {numbers[row]:g}; it must be from {self.low:g} to "
                f"{self.high:g} {self.unit}".rstrip(),
                column=self.name,
                row=row,
                value=float(numbers[row]),
                low=self.low,
                high=self.high,
            )
        return np.where(np.isnan(place), -1, place).astype(np.int64)


@dataclass(frozen=True)
class Category:
    """A choice. `given` holds, by condition, the weights of the choices in stable and in unstable patients."""

    name: str
    choices: tuple[Any, ...]
    usual: tuple[tuple[float, ...], tuple[float, ...]]
    given: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = field(default_factory=dict)
    odds_by_age: tuple[float, float, float] = (1.0, 1.0, 1.0)  # of the last choice

    @property
    def values(self) -> np.ndarray:
        """(values,) the choices."""
        return np.array(self.choices, dtype=bool if self.choices == (False, True) else object)

    def table(self) -> np.ndarray:
        """(states, values) probabilities."""
        weights = np.array([self.given.get(s.condition, self.usual)[s.unstable] for s in STATES])
        weights[:, -1] *= [self.odds_by_age[s.age_band] for s in STATES]
        result: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
        return result

    def codes(self, series: pd.Series) -> np.ndarray:
        """(n,) the place among the choices, -1 where the value is not known."""
        import pandas as pd

        codes, found = pd.factorize(series)  # -1 where missing
        for place, value in enumerate(found):
            if value not in self.choices:
                row = int(np.argmax(codes == place))
                raise TableError(
                    "bad_cell",
                    f"{self.name!r} in row {row} (0-based) is {value!r}; it must be one of {listed(self.choices)}",
                    column=self.name,
                    row=row,
                    value=value,
                    choices=list(self.choices),
                )
        places = np.array([*(self.choices.index(value) for value in found), -1], dtype=np.int64)
        return places[codes]


Column = Number | Category
