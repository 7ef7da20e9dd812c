"""What is asked and seen, measured at the bedside, and measured in the laboratory."""

from __future__ import annotations

from askless.datasets.sets.triage.columns import Category, Number


def _always(*weights: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The same weights in stable and in unstable patients."""
    return weights, weights


def _chance(stable: float, unstable: float | None = None) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The weights of (no, yes)."""
    late = stable if unstable is None else unstable
    return (1 - stable, stable), (1 - late, late)


# What the patient is asked and what the nurse sees: cheap, and available for everyone

SEX = Category(
    "sex",
    ("female", "male"),
    usual=_always(0.5, 0.5),
    given={
        "acute coronary syndrome": _always(0.36, 0.64),
        "minor injury": _always(0.42, 0.58),
        "internal bleeding": _always(0.35, 0.65),
        "migraine": _always(0.72, 0.28),
    },
)

_BY_AMBULANCE = ((0.60, 0.18, 0.22), (0.38, 0.12, 0.50))
ARRIVAL = Category(
    "arrival",
    ("walked in", "sent by a doctor", "ambulance"),
    usual=((0.76, 0.12, 0.12), (0.58, 0.12, 0.30)),
    given={
        "acute coronary syndrome": _BY_AMBULANCE,
        "pulmonary embolism": _BY_AMBULANCE,
        "heart failure": _BY_AMBULANCE,
        "pneumonia": ((0.62, 0.22, 0.16), (0.42, 0.18, 0.40)),
        "sepsis": _BY_AMBULANCE,
        "internal bleeding": ((0.45, 0.10, 0.45), (0.22, 0.03, 0.75)),
        "appendicitis": ((0.64, 0.24, 0.12), (0.50, 0.22, 0.28)),
        "stroke": ((0.48, 0.14, 0.38), (0.22, 0.08, 0.70)),
    },
    odds_by_age=(0.8, 1.0, 1.4),
)

COMPLAINT = Category(
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
    usual=_always(*[1] * 8),  # every condition is listed
    given={
        "chest wall pain": _always(0.86, 0.07, 0.01, 0.03, 0.01, 0.005, 0.005, 0.01),
        "acute coronary syndrome": _always(0.72, 0.13, 0.005, 0.005, 0.05, 0.005, 0.08, 0.005),
        "pulmonary embolism": _always(0.38, 0.50, 0.02, 0.005, 0.02, 0.005, 0.065, 0.005),
        "heart failure": _always(0.10, 0.78, 0.005, 0.005, 0.02, 0.005, 0.08, 0.005),
        "pneumonia": _always(0.09, 0.46, 0.37, 0.005, 0.02, 0.01, 0.035, 0.01),
        "viral infection": _always(0.02, 0.06, 0.70, 0.005, 0.04, 0.06, 0.015, 0.10),
        "sepsis": _always(0.02, 0.13, 0.52, 0.01, 0.11, 0.02, 0.185, 0.005),
        "minor injury": _always(0.02, 0.005, 0.005, 0.93, 0.01, 0.01, 0.005, 0.015),
        "internal bleeding": _always(0.04, 0.03, 0.005, 0.66, 0.18, 0.005, 0.075, 0.005),
        "gastroenteritis": _always(0.01, 0.005, 0.14, 0.005, 0.79, 0.005, 0.025, 0.02),
        "appendicitis": _always(0.005, 0.005, 0.09, 0.005, 0.88, 0.005, 0.005, 0.005),
        "faint": _always(0.02, 0.02, 0.005, 0.06, 0.005, 0.02, 0.86, 0.01),
        "migraine": _always(0.005, 0.005, 0.01, 0.005, 0.005, 0.93, 0.02, 0.02),
        "stroke": _always(0.005, 0.015, 0.005, 0.03, 0.005, 0.17, 0.765, 0.005),
        "minor illness": _always(0.01, 0.01, 0.05, 0.02, 0.02, 0.02, 0.01, 0.86),
    },
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

CONSCIOUSNESS = Category(
    "consciousness",
    ("alert", "confused", "drowsy", "unresponsive"),
    usual=((0.985, 0.010, 0.004, 0.001), (0.93, 0.05, 0.018, 0.002)),
    given={
        "acute coronary syndrome": ((0.98, 0.014, 0.005, 0.001), (0.90, 0.06, 0.03, 0.01)),
        "pulmonary embolism": ((0.98, 0.014, 0.005, 0.001), (0.90, 0.06, 0.03, 0.01)),
        "heart failure": ((0.965, 0.028, 0.006, 0.001), (0.86, 0.09, 0.04, 0.01)),
        "pneumonia": ((0.95, 0.042, 0.007, 0.001), (0.80, 0.14, 0.05, 0.01)),
        "sepsis": ((0.80, 0.14, 0.055, 0.005), (0.42, 0.33, 0.20, 0.05)),
        "internal bleeding": ((0.95, 0.03, 0.015, 0.005), (0.66, 0.18, 0.12, 0.04)),
        "migraine": ((0.95, 0.04, 0.0095, 0.0005), (0.88, 0.09, 0.029, 0.001)),
        "stroke": ((0.66, 0.24, 0.08, 0.02), (0.22, 0.26, 0.34, 0.18)),
    },
)

FACE_ARM_SPEECH = Category(
    "face, arm or speech sign",
    (False, True),
    usual=_chance(0.01),
    given={"sepsis": _chance(0.02, 0.04), "migraine": _chance(0.06), "stroke": _chance(0.82, 0.90)},
)

ABDOMEN = Category(
    "abdomen",
    ("soft", "tender", "rigid"),
    usual=_always(0.95, 0.045, 0.005),
    given={
        "sepsis": ((0.80, 0.17, 0.03), (0.70, 0.22, 0.08)),
        "internal bleeding": ((0.55, 0.35, 0.10), (0.35, 0.35, 0.30)),
        "gastroenteritis": _always(0.70, 0.29, 0.01),
        "appendicitis": ((0.06, 0.68, 0.26), (0.02, 0.32, 0.66)),
    },
)

# At the bedside

PAIN = Number(
    "pain",
    "of 10",
    low=0,
    high=10,
    step=1,
    usual=(4, 4.5),
    spread=2.2,
    given={
        "chest wall pain": (5, 5.5),
        "acute coronary syndrome": (6, 7),
        "heart failure": (1.5, 2),
        "pneumonia": (3, 3),
        "viral infection": (2.5, 3),
        "sepsis": (3.5, 3),
        "minor injury": (5, 6),
        "internal bleeding": (6.5, 6),
        "appendicitis": (7, 8),
        "faint": (1.5, 1.5),
        "migraine": (7.5, 8.5),
        "stroke": (2.5, 2),
        "minor illness": (2.5, 3),
    },
)

TEMPERATURE = Number(
    "temperature",
    "°C",
    low=34.0,
    high=41.5,
    step=0.1,
    usual=(36.8, 36.9),
    spread=0.5,
    given={
        "pulmonary embolism": (37.2, 37.3),
        "pneumonia": (38.2, 38.5),
        "viral infection": (38.4, 38.9),
        "sepsis": (38.6, 38.8),
        "internal bleeding": (36.6, 35.9),
        "gastroenteritis": (37.6, 38.0),
        "appendicitis": (37.7, 38.3),
    },
)

HEART_RATE = Number(
    "heart rate",
    "per minute",
    low=35,
    high=200,
    step=1,
    usual=(80, 88),
    spread=14,
    given={
        "acute coronary syndrome": (82, 94),
        "pulmonary embolism": (98, 116),
        "heart failure": (88, 102),
        "pneumonia": (94, 108),
        "viral infection": (96, 104),
        "sepsis": (104, 120),
        "minor injury": (86, 94),
        "internal bleeding": (96, 124),
        "gastroenteritis": (90, 104),
        "appendicitis": (90, 102),
        "faint": (72, 64),
    },
    by_age=(3, 0, -3),
)

SYSTOLIC = Number(
    "systolic",
    "mmHg",
    low=60,
    high=230,
    step=1,
    usual=(132, 128),
    spread=15,
    given={
        "acute coronary syndrome": (138, 118),
        "pulmonary embolism": (128, 110),
        "heart failure": (144, 122),
        "pneumonia": (128, 116),
        "viral infection": (126, 118),
        "sepsis": (118, 86),
        "internal bleeding": (112, 80),
        "gastroenteritis": (124, 110),
        "faint": (120, 102),
        "migraine": (136, 140),
        "stroke": (148, 164),
    },
    by_age=(-8, 0, 9),
)

DIASTOLIC = Number(  # the centre at a systolic pressure of 130; the pair is drawn together
    "diastolic",
    "mmHg",
    low=30,
    high=140,
    step=1,
    usual=(79, 79),
    spread=7,
    given={
        "heart failure": (83, 84),
        "sepsis": (70, 66),  # wide pulse pressure
        "internal bleeding": (83, 88),  # narrow pulse pressure
        "stroke": (83, 84),
    },
)

OXYGEN_SATURATION = Number(
    "oxygen saturation",
    "%",
    low=65,
    high=100,
    step=1,
    usual=(97.5, 97),
    spread=2.0,
    given={
        "acute coronary syndrome": (97, 95.5),
        "pulmonary embolism": (93, 87),
        "heart failure": (92.5, 86),
        "pneumonia": (93, 86),
        "sepsis": (96.5, 95),
        "internal bleeding": (97, 95.5),
        "stroke": (97, 96),
    },
)

_QUIET = (0.86, 0.125, 0.01, 0.005)
ECG = Category(
    "ECG",
    ("normal", "non-specific changes", "ischaemia", "right heart strain"),
    usual=(_QUIET, _QUIET),
    given={
        "acute coronary syndrome": ((0.28, 0.26, 0.45, 0.01), (0.06, 0.14, 0.78, 0.02)),
        "pulmonary embolism": ((0.45, 0.27, 0.02, 0.26), (0.15, 0.19, 0.04, 0.62)),
        "heart failure": ((0.45, 0.48, 0.04, 0.03), (0.35, 0.54, 0.07, 0.04)),
        "sepsis": ((0.80, 0.18, 0.01, 0.01), (0.72, 0.24, 0.02, 0.02)),
        "stroke": ((0.75, 0.22, 0.02, 0.01), (0.70, 0.26, 0.03, 0.01)),
    },
)

ULTRASOUND = Category(
    "ultrasound",
    ("no free fluid", "free fluid"),
    usual=((0.98, 0.02), (0.98, 0.02)),
    given={
        "heart failure": ((0.92, 0.08), (0.90, 0.10)),
        "internal bleeding": ((0.38, 0.62), (0.10, 0.90)),
        "gastroenteritis": ((0.94, 0.06), (0.92, 0.08)),
        "appendicitis": ((0.84, 0.16), (0.62, 0.38)),
    },
)

# In the laboratory

TROPONIN = Number(
    "troponin",
    "ng/L",
    low=2,
    high=5000,
    step=1,
    usual=(5, 5.5),
    spread=0.7,
    given={
        "acute coronary syndrome": (45, 900),
        "pulmonary embolism": (8, 16),
        "heart failure": (11, 18),
        "pneumonia": (6, 8),
        "sepsis": (7, 11),
        "stroke": (6, 8),
    },
    by_age=(0.8, 1.0, 1.4),
    log=True,
)

LACTATE = Number(
    "lactate",
    "mmol/L",
    low=0.3,
    high=20.0,
    step=0.1,
    usual=(1.2, 1.4),
    spread=0.30,
    given={
        "acute coronary syndrome": (1.2, 1.8),
        "pulmonary embolism": (1.3, 1.8),
        "heart failure": (1.3, 1.7),
        "pneumonia": (1.3, 1.7),
        "sepsis": (2.2, 5.2),
        "internal bleeding": (1.5, 2.8),
        "gastroenteritis": (1.4, 1.9),
        "appendicitis": (1.3, 1.7),
    },
    log=True,
)

WHITE_CELLS = Number(
    "white cells",
    "10⁹/L",
    low=0.5,
    high=60.0,
    step=0.1,
    usual=(7.6, 8.0),
    spread=0.34,
    given={
        "acute coronary syndrome": (8.2, 9.0),
        "pneumonia": (10.5, 12.5),
        "viral infection": (6.2, 5.8),
        "sepsis": (15.5, 18.0),
        "internal bleeding": (8.5, 9.5),
        "gastroenteritis": (8.6, 9.6),
        "appendicitis": (14.5, 17.5),
    },
    log=True,
)

HAEMOGLOBIN = Number(
    "haemoglobin",
    "g/L",
    low=40,
    high=200,
    step=1,
    usual=(138, 136),
    spread=13,
    given={"heart failure": (130, 128), "sepsis": (132, 128), "internal bleeding": (128, 106)},
    by_age=(2, 0, -8),
)

CREATININE = Number(
    "creatinine",
    "µmol/L",
    low=30,
    high=900,
    step=1,
    usual=(78, 84),
    spread=0.24,
    given={
        "heart failure": (98, 118),
        "pneumonia": (82, 92),
        "sepsis": (90, 125),
        "internal bleeding": (82, 95),
        "gastroenteritis": (86, 115),
    },
    by_age=(0.93, 1.0, 1.22),
    log=True,
)
