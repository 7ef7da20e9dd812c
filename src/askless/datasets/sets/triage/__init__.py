"""Emergency-department triage: an invented department whose truth is known.

A hidden condition, its severity and an age band produce the answers and the destination (`columns.py`). Given these
three, columns are independent of one another, but for the two blood pressures. So the probability of each destination
is a sum over 90 hidden states, exact for any set of answers. The numbers are plausible, not clinical evidence: do not
learn medicine here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.datasets.base import Generated, Info, Table
from askless.datasets.sets.triage.columns import (
    AFTER_PRESSURE,
    AGE_BANDS,
    BEFORE_PRESSURE,
    CLASSES,
    DIASTOLIC,
    STATES,
    SYSTOLIC,
    Column,
    Number,
    destination,
    prior,
)
from askless.exceptions import TableError
from askless.hints import did_you_mean, nearest

if TYPE_CHECKING:
    import pandas as pd

GROUPS = {"blood pressure": ("systolic", "diastolic"), "blood panel": ("white cells", "haemoglobin", "creatinine")}
COSTS = {  # minutes until the answer is there
    "age": 1.0,
    "sex": 1.0,
    "arrival": 1.0,
    "complaint": 1.0,
    "heart disease": 1.0,
    "pain": 1.0,
    "consciousness": 1.0,
    "face, arm or speech sign": 2.0,
    "temperature": 2.0,
    "heart rate": 2.0,
    "oxygen saturation": 2.0,
    "blood pressure": 3.0,
    "abdomen": 4.0,
    "ECG": 10.0,
    "ultrasound": 12.0,
    "lactate": 15.0,
    "blood panel": 45.0,
    "troponin": 60.0,
}
MISSING = {"ECG": 0.02, "ultrasound": 0.05, "lactate": 0.10, "blood panel": 0.06, "troponin": 0.08}

AGE = Number("age", "years", low=18, high=95, step=1, usual=(0, 0), spread=1)  # its table is `_age`
DIASTOLIC_SLOPE = 0.45  # mmHg of diastolic for each of systolic pressure
LEAST_PULSE_PRESSURE = 10  # mmHg


@dataclass(frozen=True, eq=False)
class Block:
    """One column, or two that depend on one another even when the hidden state is known."""

    columns: tuple[Column, ...]
    joint: np.ndarray  # (states, values of the first column[, values of the second])

    @cached_property
    def padded(self) -> np.ndarray:
        """`joint` with one more place at the end of each axis, for "not known": the sum over that column."""
        table = self.joint
        for axis in range(1, table.ndim):
            table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
        return table

    def likelihood(self, codes: list[np.ndarray]) -> np.ndarray:
        """(n, states) how probable each row's values are; a code of -1 is not known."""
        index: tuple[Any, ...] = (slice(None), *codes)
        return self.padded[index].T

    def draw(self, state: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        """For each column the (n,) codes of fresh values, one row for each hidden state."""
        flat = self.joint.reshape(len(STATES), -1)
        return list(np.unravel_index(pick(flat, state, rng), self.joint.shape[1:]))


def pick(table: np.ndarray, row: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n,) one index drawn with the probabilities in row `row[i]` of `table`, for each i."""
    steps = np.cumsum(table, axis=1)
    steps /= steps[:, -1:]
    ladder = (steps + np.arange(len(table))[:, None]).reshape(-1)  # row r climbs from r to r + 1
    found = np.searchsorted(ladder, rng.random(len(row)) + row, side="right") - row * table.shape[1]
    return np.minimum(found, table.shape[1] - 1)  # u + row can round up to the next row's start


def _age() -> np.ndarray:
    """(states, ages): every year of the band is equally probable."""
    bands = np.array([AGE_BANDS[s.age_band] for s in STATES])
    inside = (AGE.values >= bands[:, :1]) & (AGE.values <= bands[:, 1:])
    return inside / inside.sum(axis=1, keepdims=True)


def _blood_pressure() -> np.ndarray:
    """(states, systolic, diastolic): a high systolic pressure goes with a high diastolic one."""
    systolic, diastolic = SYSTOLIC.values[:, None], DIASTOLIC.values[None, :]
    centre = DIASTOLIC.centres[:, None, None] + DIASTOLIC_SLOPE * (systolic - 130)
    given = np.exp(-0.5 * ((diastolic - centre) / DIASTOLIC.spread) ** 2)
    given = np.where(diastolic <= systolic - LEAST_PULSE_PRESSURE, given, 0.0)
    return SYSTOLIC.table()[:, :, None] * given / given.sum(axis=2, keepdims=True)


# In the order of the table.
_JOINT: tuple[tuple[tuple[Column, ...], Callable[[], np.ndarray]], ...] = (
    ((AGE,), _age),
    *(((column,), column.table) for column in BEFORE_PRESSURE),
    ((SYSTOLIC, DIASTOLIC), _blood_pressure),
    *(((column,), column.table) for column in AFTER_PRESSURE),
)
COLUMNS = tuple(column for columns, _ in _JOINT for column in columns)
UNITS = ", ".join(f"{column.name} ({column.unit})" for column in COLUMNS if isinstance(column, Number))


@cache
def blocks() -> tuple[Block, ...]:
    """All blocks, in the order of the table; the tables are computed on first use."""
    return tuple(Block(columns, table()) for columns, table in _JOINT)


def state_posterior(codes: Mapping[str, np.ndarray], n: int) -> np.ndarray:
    """(n, states) how probable each hidden state is, given the codes by column; a code of -1 is not known."""
    unknown = np.full(n, -1)
    log = np.log(prior())[None, :].repeat(n, axis=0)
    for block in blocks():
        place = [codes.get(column.name, unknown) for column in block.columns]
        if any((code >= 0).any() for code in place):
            with np.errstate(divide="ignore"):  # impossible in this state
                log += np.log(block.likelihood(place))
    top = log.max(axis=1, keepdims=True)
    if np.isneginf(top).any():
        row = int(np.argmax(np.isneginf(top)))
        message = f"row {row} (0-based): these values cannot occur together; the blood pressures are too close"
        raise TableError("bad_cell", message, row=row, columns=["systolic", "diastolic"])
    weights = np.exp(log - top)
    return weights / weights.sum(axis=1, keepdims=True)


def sample(n: int, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The hidden state of n patients, and the codes of each column, none missing."""
    state = pick(prior()[None, :], np.zeros(n, dtype=np.int64), rng)
    codes: dict[str, np.ndarray] = {}
    for block in blocks():
        names = [column.name for column in block.columns]
        codes.update(zip(names, block.draw(state, rng), strict=True))
    return state, codes


def triage_posterior(frame: pd.DataFrame) -> pd.DataFrame:
    """The exact probability of each destination, given what each row of a triage table knows.

    A missing value, or a column that is not there, is not known; a test that failed tells nothing, because tests
    fail at random. Numbers between two shown values count as the nearer one.

    >>> import pandas as pd
    >>> known = pd.DataFrame({"complaint": ["fever", "fever"], "lactate": [None, 4.1]})
    >>> triage_posterior(known).round(2)
       discharge  intensive care  ward
    0       0.62            0.12  0.26
    1       0.01            0.78  0.21
    """
    import pandas as pd

    columns = {column.name: column for column in COLUMNS}
    for name in frame.columns:
        if name not in columns:
            raise TableError(
                "unknown_name",
                f"the triage table has no column {name!r}{did_you_mean(name, columns)}",
                column=name,
                nearest=nearest(name, columns),
            )
    codes = {name: columns[name].codes(frame[name]) for name in frame.columns}
    probabilities = state_posterior(codes, len(frame)) @ destination()
    return pd.DataFrame(probabilities, columns=list(CLASSES), index=frame.index)


def _draw(n: int, rng: np.random.Generator) -> Table:
    import pandas as pd

    state, codes = sample(n, rng)
    label = np.array(CLASSES, dtype=object)[pick(destination(), state, rng)]
    frame = pd.DataFrame({column.name: _shown(column.values[codes[column.name]]) for column in COLUMNS})
    for feature, rate in MISSING.items():  # completely at random, the whole feature at once
        failed = rng.random(n) < rate
        for name in GROUPS.get(feature, (feature,)):
            frame[name] = frame[name].mask(failed)
    return frame, pd.Series(label.tolist(), name="destination")


def _shown(values: np.ndarray) -> object:
    """Strings as pandas infers them, so that the dtype is the one that reading a file would give."""
    return values.tolist() if values.dtype == object else values


triage = Generated(
    Info(
        name="triage",
        description=(
            "An invented emergency department: should the patient go home, to a ward or to intensive care? Numbers: "
            f"{UNITS}. Costs are minutes until the answer is there. Laboratory values and tests are missing "
            "completely at random. askless.datasets.triage_posterior gives the exact probabilities for any answers."
        ),
        rows=5000,
        columns=len(COLUMNS),
        classes=CLASSES,
        groups=GROUPS,
        costs=COSTS,
        options=("n", "random_state"),
        source="generated by askless; the numbers are plausible, not clinical evidence",
        licence="MIT",
    ),
    _draw,
)
