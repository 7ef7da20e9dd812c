"""What cannot be seen: a condition, whether the patient is unstable, and an age band; and where each leads.

A patient's hidden state is one of 15 x 2 x 3 = 90. Everything that can be asked, and the destination, depends on the
hidden state alone.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

__all__ = ["AGE_BANDS", "CLASSES", "CONDITIONS", "STATES", "State", "destination", "prior"]

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
