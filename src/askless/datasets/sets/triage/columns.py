"""The hidden state of a patient, and the columns: how each is distributed given the state.

What cannot be seen is a condition, whether the patient is unstable, and an age band: one of 15 x 2 x 3 = 90 states.
Everything that can be asked, and the destination, depends on the hidden state alone.

Numbers live on the grid on which they are shown: they are drawn from it, with weights that follow a normal or
log-normal density. So there is no rounding and no clipping that a posterior would have to undo.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
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


Pair = tuple[float, float]  # in stable and in unstable patients
ByAge = tuple[float, float, float]  # by age band
Weights = tuple[tuple[float, ...], tuple[float, ...]]  # of the choices, in stable and in unstable patients


class Condition(NamedTuple):
    """How often it is seen in each age band, how often it is unstable, and where patients go."""

    weight: ByAge
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
    return towards / towards.sum(axis=1, keepdims=True)


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
    usual: Pair  # the centre for conditions that `given` does not list
    spread: float
    given: Mapping[str, Pair] = field(default_factory=dict)
    by_age: ByAge | None = None
    log: bool = False

    @property
    def values(self) -> np.ndarray:
        count = round((self.high - self.low) / self.step) + 1
        grid: np.ndarray = np.round(self.low + self.step * np.arange(count), 3)
        return grid.astype(np.int64) if float(self.step).is_integer() else grid

    @property
    def centres(self) -> np.ndarray:
        centre = np.array([self.given.get(s.condition, self.usual)[s.unstable] for s in STATES])
        if self.by_age is None:
            return centre
        age: np.ndarray = np.array([self.by_age[s.age_band] for s in STATES])
        return centre * age if self.log else centre + age

    def table(self) -> np.ndarray:
        grid, centre = self.values.astype(np.float64), self.centres[:, None]
        z = np.log(grid / centre) if self.log else grid - centre
        weights = np.exp(-0.5 * (z / self.spread) ** 2) / (grid if self.log else 1.0)
        return weights / weights.sum(axis=1, keepdims=True)

    def codes(self, series: pd.Series) -> np.ndarray:
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
    usual: Weights
    given: Mapping[str, Weights] = field(default_factory=dict)
    odds_by_age: ByAge = (1.0, 1.0, 1.0)  # of the last choice

    @property
    def values(self) -> np.ndarray:
        return np.array(self.choices, dtype=bool if self.choices == (False, True) else object)

    def table(self) -> np.ndarray:
        weights = np.array([self.given.get(s.condition, self.usual)[s.unstable] for s in STATES])
        weights[:, -1] *= [self.odds_by_age[s.age_band] for s in STATES]
        return weights / weights.sum(axis=1, keepdims=True)

    def codes(self, series: pd.Series) -> np.ndarray:
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


def _cells(row: str) -> list[str]:
    """The cells of a table's row: two or more blanks separate them."""
    return re.split(r"  +", row)


def _pair(cell: str) -> Pair:
    """The numbers of "stable/unstable" patients; one number is that of both."""
    stable, _, unstable = cell.partition("/")
    return float(stable), float(unstable or stable)


def _category(name: str, choices: tuple[str, ...], weights: str, odds_by_age: ByAge = (1.0, 1.0, 1.0)) -> Category:
    """A choice from a table of weights: a row for each condition, a column for each choice."""
    given: dict[str, Weights] = {}
    for row in weights.strip().splitlines():
        condition, *cells = _cells(row)
        stable, unstable = zip(*map(_pair, cells), strict=True)
        given[condition] = (stable, unstable)
    return Category(name, choices, given.pop("usual"), given, odds_by_age)


def _chance(stable: float, unstable: float | None = None) -> Weights:
    late = stable if unstable is None else unstable
    return (1 - stable, stable), (1 - late, late)


# What the patient is asked and what the nurse sees: cheap, and available for everyone.
# The tables hold the weights in stable/unstable patients; "usual" are those of the conditions that are not listed.

SEX = _category(
    "sex",
    ("female", "male"),
    """
usual                    0.5   0.5
acute coronary syndrome  0.36  0.64
minor injury             0.42  0.58
internal bleeding        0.35  0.65
migraine                 0.72  0.28
""",
)

ARRIVAL = _category(
    "arrival",
    ("walked in", "sent by a doctor", "ambulance"),
    """
usual                    0.76/0.58  0.12       0.12/0.3
acute coronary syndrome  0.6/0.38   0.18/0.12  0.22/0.5
pulmonary embolism       0.6/0.38   0.18/0.12  0.22/0.5
heart failure            0.6/0.38   0.18/0.12  0.22/0.5
pneumonia                0.62/0.42  0.22/0.18  0.16/0.4
sepsis                   0.6/0.38   0.18/0.12  0.22/0.5
internal bleeding        0.45/0.22  0.1/0.03   0.45/0.75
appendicitis             0.64/0.5   0.24/0.22  0.12/0.28
stroke                   0.48/0.22  0.14/0.08  0.38/0.7
""",
    odds_by_age=(0.8, 1.0, 1.4),
)

COMPLAINT = _category(
    "complaint",
    (
        "chest pain",
        "short of breath",
        "fever",
        "injury",
        "abdominal pain",
        "headache",
        "weakness or collapse",
        "minor complaint",
    ),
    """
usual                    1           1      1      1      1     1      1      1
chest wall pain          0.86   0.07   0.01   0.03   0.01   0.005  0.005  0.01
acute coronary syndrome  0.72   0.13   0.005  0.005  0.05   0.005  0.08   0.005
pulmonary embolism       0.38   0.5    0.02   0.005  0.02   0.005  0.065  0.005
heart failure            0.1    0.78   0.005  0.005  0.02   0.005  0.08   0.005
pneumonia                0.09   0.46   0.37   0.005  0.02   0.01   0.035  0.01
viral infection          0.02   0.06   0.7    0.005  0.04   0.06   0.015  0.1
sepsis                   0.02   0.13   0.52   0.01   0.11   0.02   0.185  0.005
minor injury             0.02   0.005  0.005  0.93   0.01   0.01   0.005  0.015
internal bleeding        0.04   0.03   0.005  0.66   0.18   0.005  0.075  0.005
gastroenteritis          0.01   0.005  0.14   0.005  0.79   0.005  0.025  0.02
appendicitis             0.005  0.005  0.09   0.005  0.88   0.005  0.005  0.005
faint                    0.02   0.02   0.005  0.06   0.005  0.02   0.86   0.01
migraine                 0.005  0.005  0.01   0.005  0.005  0.93   0.02   0.02
stroke                   0.005  0.015  0.005  0.03   0.005  0.17   0.765  0.005
minor illness            0.01   0.01   0.05   0.02   0.02   0.02   0.01   0.86
""",
)

HEART_DISEASE = Category(
    "heart disease",
    (False, True),
    usual=_chance(0.06),
    given={
        "acute coronary syndrome": _chance(0.35, 0.40),
        "pulmonary embolism": _chance(0.10),
        "heart failure": _chance(0.55, 0.62),
        "stroke": _chance(0.20),
    },
    odds_by_age=(0.3, 1.0, 3.0),
)

CONSCIOUSNESS = _category(
    "consciousness",
    ("alert", "confused", "drowsy", "unresponsive"),
    """
usual                    0.985/0.93  0.01/0.05   0.004/0.018   0.001/0.002
acute coronary syndrome  0.98/0.9    0.014/0.06  0.005/0.03    0.001/0.01
pulmonary embolism       0.98/0.9    0.014/0.06  0.005/0.03    0.001/0.01
heart failure            0.965/0.86  0.028/0.09  0.006/0.04    0.001/0.01
pneumonia                0.95/0.8    0.042/0.14  0.007/0.05    0.001/0.01
sepsis                   0.8/0.42    0.14/0.33   0.055/0.2     0.005/0.05
internal bleeding        0.95/0.66   0.03/0.18   0.015/0.12    0.005/0.04
migraine                 0.95/0.88   0.04/0.09   0.0095/0.029  0.0005/0.001
stroke                   0.66/0.22   0.24/0.26   0.08/0.34     0.02/0.18
""",
)

FACE_ARM_SPEECH = Category(
    "face, arm or speech sign",
    (False, True),
    usual=_chance(0.01),
    given={"sepsis": _chance(0.02, 0.04), "migraine": _chance(0.06), "stroke": _chance(0.82, 0.90)},
)

ABDOMEN = _category(
    "abdomen",
    ("soft", "tender", "rigid"),
    """
usual              0.95       0.045      0.005
sepsis             0.8/0.7    0.17/0.22  0.03/0.08
internal bleeding  0.55/0.35  0.35       0.1/0.3
gastroenteritis    0.7        0.29       0.01
appendicitis       0.06/0.02  0.68/0.32  0.26/0.66
""",
)

ECG = _category(
    "ECG",
    ("normal", "non-specific changes", "ischaemia", "right heart strain"),
    """
usual                    0.86       0.125      0.01       0.005
acute coronary syndrome  0.28/0.06  0.26/0.14  0.45/0.78  0.01/0.02
pulmonary embolism       0.45/0.15  0.27/0.19  0.02/0.04  0.26/0.62
heart failure            0.45/0.35  0.48/0.54  0.04/0.07  0.03/0.04
sepsis                   0.8/0.72   0.18/0.24  0.01/0.02  0.01/0.02
stroke                   0.75/0.7   0.22/0.26  0.02/0.03  0.01
""",
)

ULTRASOUND = _category(
    "ultrasound",
    ("no free fluid", "free fluid"),
    """
usual              0.98       0.02
heart failure      0.92/0.9   0.08/0.1
internal bleeding  0.38/0.1   0.62/0.9
gastroenteritis    0.94/0.92  0.06/0.08
appendicitis       0.84/0.62  0.16/0.38
""",
)

# What is measured: the centres in stable/unstable patients; "." is the usual one, as for conditions not listed.

AT_THE_BEDSIDE = """
condition                pain     temperature  heart rate  systolic  diastolic  oxygen saturation
usual                    4/4.5    36.8/36.9    80/88       132/128   79         97.5/97
chest wall pain          5/5.5    .            .           .         .          .
acute coronary syndrome  6/7      .            82/94       138/118   .          97/95.5
pulmonary embolism       .        37.2/37.3    98/116      128/110   .          93/87
heart failure            1.5/2    .            88/102      144/122   83/84      92.5/86
pneumonia                3        38.2/38.5    94/108      128/116   .          93/86
viral infection          2.5/3    38.4/38.9    96/104      126/118   .          .
sepsis                   3.5/3    38.6/38.8    104/120     118/86    70/66      96.5/95
minor injury             5/6      .            86/94       .         .          .
internal bleeding        6.5/6    36.6/35.9    96/124      112/80    83/88      97/95.5
gastroenteritis          .        37.6/38      90/104      124/110   .          .
appendicitis             7/8      37.7/38.3    90/102      .         .          .
faint                    1.5      .            72/64       120/102   .          .
migraine                 7.5/8.5  .            .           136/140   .          .
stroke                   2.5/2    .            .           148/164   83/84      97/96
minor illness            2.5/3    .            .           .         .          .
"""
IN_THE_LABORATORY = """
condition                lactate  white cells  haemoglobin  creatinine  troponin
usual                    1.2/1.4  7.6/8        138/136      78/84       5/5.5
acute coronary syndrome  1.2/1.8  8.2/9        .            .           45/900
pulmonary embolism       1.3/1.8  .            .            .           8/16
heart failure            1.3/1.7  .            130/128      98/118      11/18
pneumonia                1.3/1.7  10.5/12.5    .            82/92       6/8
viral infection          .        6.2/5.8      .            .           .
sepsis                   2.2/5.2  15.5/18      132/128      90/125      7/11
internal bleeding        1.5/2.8  8.5/9.5      128/106      82/95       .
gastroenteritis          1.4/1.9  8.6/9.6      .            86/115      .
appendicitis             1.3/1.7  14.5/17.5    .            .           .
stroke                   .        .            .            .           6/8
"""


def _number(
    table: str, name: str, unit: str, *, low: float, high: float, step: float, spread: float, **how: Any
) -> Number:
    """A measured number whose centres stand in a column of the table."""
    header, *rows = map(_cells, table.strip().splitlines())
    place = header.index(name)
    given = {row[0]: _pair(row[place]) for row in rows if row[place] != "."}
    return Number(
        name, unit, low=low, high=high, step=step, usual=given.pop("usual"), spread=spread, given=given, **how
    )


_bedside, _laboratory = partial(_number, AT_THE_BEDSIDE), partial(_number, IN_THE_LABORATORY)

PAIN = _bedside("pain", "of 10", low=0, high=10, step=1, spread=2.2)
TEMPERATURE = _bedside("temperature", "°C", low=34.0, high=41.5, step=0.1, spread=0.5)
HEART_RATE = _bedside("heart rate", "per minute", low=35, high=200, step=1, spread=14, by_age=(3, 0, -3))
SYSTOLIC = _bedside("systolic", "mmHg", low=60, high=230, step=1, spread=15, by_age=(-8, 0, 9))
# The centre is that at a systolic pressure of 130; the pair is drawn together.
DIASTOLIC = _bedside("diastolic", "mmHg", low=30, high=140, step=1, spread=7)
OXYGEN_SATURATION = _bedside("oxygen saturation", "%", low=65, high=100, step=1, spread=2.0)

LACTATE = _laboratory("lactate", "mmol/L", low=0.3, high=20.0, step=0.1, spread=0.30, log=True)
WHITE_CELLS = _laboratory("white cells", "10⁹/L", low=0.5, high=60.0, step=0.1, spread=0.34, log=True)
HAEMOGLOBIN = _laboratory("haemoglobin", "g/L", low=40, high=200, step=1, spread=13, by_age=(2, 0, -8))
CREATININE = _laboratory(
    "creatinine", "µmol/L", low=30, high=900, step=1, spread=0.24, by_age=(0.93, 1.0, 1.22), log=True
)
TROPONIN = _laboratory("troponin", "ng/L", low=2, high=5000, step=1, spread=0.7, by_age=(0.8, 1.0, 1.4), log=True)

# In the order of the triage table, around the two blood pressures
BEFORE_PRESSURE: tuple[Column, ...] = (
    *(SEX, ARRIVAL, COMPLAINT, HEART_DISEASE, PAIN, CONSCIOUSNESS, FACE_ARM_SPEECH),
    *(TEMPERATURE, HEART_RATE, OXYGEN_SATURATION),
)
AFTER_PRESSURE: tuple[Column, ...] = (
    *(ABDOMEN, ECG, ULTRASOUND),
    *(LACTATE, WHITE_CELLS, HAEMOGLOBIN, CREATININE, TROPONIN),
)
