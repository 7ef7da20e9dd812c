"""What the patient is asked and what the nurse sees: cheap, and available for everyone."""

from __future__ import annotations

from askless.datasets.sets.triage.columns import Category

__all__ = ["ABDOMEN", "ARRIVAL", "COMPLAINT", "CONSCIOUSNESS", "FACE_ARM_SPEECH", "HEART_DISEASE", "SEX"]


def _always(*weights: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The same weights in stable and in unstable patients."""
    return weights, weights


def _chance(stable: float, unstable: float | None = None) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The weights of (no, yes)."""
    late = stable if unstable is None else unstable
    return (1 - stable, stable), (1 - late, late)


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
    given={
        "sepsis": _chance(0.02, 0.04),
        "migraine": _chance(0.06),
        "stroke": _chance(0.82, 0.90),
    },
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
