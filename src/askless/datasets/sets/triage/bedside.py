"""What is measured at the bedside."""

from __future__ import annotations

from askless.datasets.sets.triage.columns import Category, Number

__all__ = ["DIASTOLIC", "ECG", "HEART_RATE", "OXYGEN_SATURATION", "PAIN", "SYSTOLIC", "TEMPERATURE", "ULTRASOUND"]

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
