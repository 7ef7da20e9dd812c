"""What is measured in the laboratory."""

from __future__ import annotations

from askless.datasets.sets.triage.columns import Number

__all__ = ["CREATININE", "HAEMOGLOBIN", "LACTATE", "TROPONIN", "WHITE_CELLS"]

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
    given={
        "heart failure": (130, 128),
        "sepsis": (132, 128),
        "internal bleeding": (128, 106),
    },
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
