"""The joint distribution: columns grouped into blocks that are independent given the hidden state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from askless.datasets.sets.triage import bedside, laboratory, questions
from askless.datasets.sets.triage.columns import Column, Number
from askless.datasets.sets.triage.conditions import AGE_BANDS, STATES, prior
from askless.exceptions import TableError

__all__ = ["COLUMNS", "Block", "blocks", "pick", "sample", "state_posterior"]

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
        result: np.ndarray = self.padded[index].T
        return result

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
    result: np.ndarray = np.minimum(found, table.shape[1] - 1)  # u + row can round up to the next row's start
    return result


def _age() -> np.ndarray:
    """(states, ages): every year of the band is equally probable."""
    bands = np.array([AGE_BANDS[s.age_band] for s in STATES])
    inside = (AGE.values >= bands[:, :1]) & (AGE.values <= bands[:, 1:])
    result: np.ndarray = inside / inside.sum(axis=1, keepdims=True)
    return result


def _blood_pressure() -> np.ndarray:
    """(states, systolic, diastolic): a high systolic pressure goes with a high diastolic one."""
    systolic, diastolic = bedside.SYSTOLIC.values[:, None], bedside.DIASTOLIC.values[None, :]
    centre = bedside.DIASTOLIC.centres[:, None, None] + DIASTOLIC_SLOPE * (systolic - 130)
    given = np.exp(-0.5 * ((diastolic - centre) / bedside.DIASTOLIC.spread) ** 2)
    given = np.where(diastolic <= systolic - LEAST_PULSE_PRESSURE, given, 0.0)
    result: np.ndarray = bedside.SYSTOLIC.table()[:, :, None] * given / given.sum(axis=2, keepdims=True)
    return result


# In the order of the table.
_JOINT: tuple[tuple[tuple[Column, ...], Callable[[], np.ndarray]], ...] = (
    ((AGE,), _age),
    *(
        ((column,), column.table)
        for column in (
            questions.SEX,
            questions.ARRIVAL,
            questions.COMPLAINT,
            questions.HEART_DISEASE,
            bedside.PAIN,
            questions.CONSCIOUSNESS,
            questions.FACE_ARM_SPEECH,
            bedside.TEMPERATURE,
            bedside.HEART_RATE,
            bedside.OXYGEN_SATURATION,
        )
    ),
    ((bedside.SYSTOLIC, bedside.DIASTOLIC), _blood_pressure),
    *(
        ((column,), column.table)
        for column in (
            questions.ABDOMEN,
            bedside.ECG,
            bedside.ULTRASOUND,
            laboratory.LACTATE,
            laboratory.WHITE_CELLS,
            laboratory.HAEMOGLOBIN,
            laboratory.CREATININE,
            laboratory.TROPONIN,
        )
    ),
)
COLUMNS = tuple(column for columns, _ in _JOINT for column in columns)


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
    result: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
    return result


def sample(n: int, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The hidden state of n patients, and the codes of each column, none missing."""
    state = pick(prior()[None, :], np.zeros(n, dtype=np.int64), rng)
    codes: dict[str, np.ndarray] = {}
    for block in blocks():
        names = [column.name for column in block.columns]
        codes.update(zip(names, block.draw(state, rng), strict=True))
    return state, codes
