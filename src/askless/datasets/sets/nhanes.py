"""NHANES 1999-2016, rebuilt after Kachuee et al. (2019): diabetes by serum glucose, with the cost of each question.

Neither the laboratory values that define the label (glucose, HbA1c, hours of fasting), nor the diagnosis that people
report, nor identifiers are features. The table is built from a hundred of CDC's files and cannot be downloaded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from askless.datasets.base import Dataset, Info, Recorded
from askless.datasets.files import DatasetDamaged, damaged, data_home, located, read_csv

if TYPE_CHECKING:
    import pandas as pd

FILE = "nhanes/nhanes_diabetes.csv.gz"
REBUILT = "nhanes/nhanes.csv.gz"  # the same columns, built by the user; it may have other rows
FILE_SHA256 = "da0969b6854cf74347fd9daecbd731406c75edfeb8d56ab4dafab59b8284e48b"

COSTS = {  # how much of an effort the answer is
    **dict.fromkeys(("gender", "age", "ethnicity"), 2.0),
    **dict.fromkeys(("hh_income_code", "fam_pir"), 4.0),
    "education": 2.0,
    **dict.fromkeys(("SBP1", "SBP2", "SBP3", "SBP4", "DBP1", "DBP2", "DBP3", "DBP4"), 5.0),
    **dict.fromkeys(("BMI", "waist", "height", "weight_kg", "pulse_60sec"), 5.0),
    **dict.fromkeys(("TC", "HDL", "TG", "LDL"), 9.0),
    **dict.fromkeys(("famhist_T2D", "ever_hypertension", "current_smoker", "active"), 4.0),
}
OUTCOMES = {0: "normal", 1: "pre-diabetes", 2: "diabetes"}
ETHNICITIES = ("Mexican American", "other Hispanic", "non-Hispanic white", "non-Hispanic black", "other")
WORDS = {
    "gender": {1: "male", 2: "female"},
    "ethnicity": dict(enumerate(ETHNICITIES, start=1)),
    "famhist_T2D": {1: "yes", 2: "no"},
    "ever_hypertension": {1: "yes", 2: "no"},
    "current_smoker": {1: "every day", 2: "some days", 3: "not at all"},
    "active": {1: "code 1", 2: "code 2", 3: "code 3"},  # the question changed over the years
}


INFO = Info(
    name="nhanes",
    description=(
        "People of the American health survey: is their serum glucose normal, that of pre-diabetes or of "
        "diabetes? Age is in years; hh_income_code and education are codes that grow with income and education, "
        "fam_pir is income by the poverty line; SBP and DBP are four readings of the blood pressure in mmHg, "
        "waist and height are in cm, blood fats (TC, HDL, TG, LDL) in mmol/L. Costs are relative "
        "efforts. Many values are missing."
    ),
    rows=58_070,
    columns=27,
    classes=("diabetes", "normal", "pre-diabetes"),
    costs=COSTS,
    source="CDC, NHANES 1999-2016, rebuilt after Kachuee et al. (2019)",
    licence="CDC public use",
    files=(FILE, REBUILT),
)


def _read() -> Dataset:
    path = located(
        "nhanes",
        "Build it from CDC's NHANES files of 1999 to 2016 (https://wwwn.cdc.gov/nchs/nhanes/) for people with a "
        f"measured serum glucose, and put a gzipped CSV file of the columns {', '.join(COSTS)} and Outcome",
        FILE,
        REBUILT,
    )
    table = read_csv(path, FILE_SHA256) if path == data_home() / FILE else _checked(read_csv(path), path)
    label = table["Outcome"].map(OUTCOMES).rename("diabetes")
    frame = table[list(COSTS)].copy()
    for column, words in WORDS.items():
        frame[column] = frame[column].map(words)
    return Dataset(frame, label, replace(INFO, rows=len(table)))


def _checked(table: pd.DataFrame, where: object) -> pd.DataFrame:
    for name in (*COSTS, "Outcome"):
        if name not in table.columns:
            raise damaged(where, f"has no column {name!r}", "missing_column", column=name)
    known = table["Outcome"].isin(OUTCOMES).to_numpy()
    if not known.all():
        row = int(np.argmin(known))
        message = f"{where}, row {row} (0-based): Outcome must be 0 (normal), 1 (pre-diabetes) or 2 (diabetes)"
        raise DatasetDamaged("unknown_label", message, path=str(where), column="Outcome", row=row)
    return table


nhanes = Recorded(INFO, _read)
