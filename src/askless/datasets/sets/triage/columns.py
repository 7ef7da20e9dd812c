"""The two kinds of column: how each is distributed given the hidden state, and how its values are numbered.

Numbers live on the grid on which they are shown: they are drawn from it, with weights that follow a normal or
log-normal density. So there is no rounding and no clipping that a posterior would have to undo.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.datasets.sets.triage.conditions import STATES
from askless.exceptions import TableError
from askless.hints import listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Category", "Column", "Number"]


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
