"""Diabetes 130-US hospitals: will the patient be back within thirty days?

Prepared as by Strack et al. (2014): each patient's first stay only, none that ended with death or in a hospice, and
the hundreds of diagnosis codes in their nine groups.
"""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

from askless.datasets.base import Info, Recorded, Table
from askless.datasets.files import damaged, data_home, fetched, located, store, unpacked

if TYPE_CHECKING:
    import pandas as pd

ROWS, COLUMNS = 69_973, 47
MEMBER = "diabetic_data.csv"
FILES = ("diabetes130/diabetic_data.csv.zip", "diabetes130/diabetic_data.csv")
URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/00296/dataset_diabetes.zip"
CSV_SHA256 = "da21942c25a10a51a8842907ab01a8530b06232616b17d317441d592a20c4359"  # with plain line ends

DEATH_OR_HOSPICE = (11, 13, 14, 19, 20, 21)  # of discharge_disposition_id
CODES = ("admission_type_id", "discharge_disposition_id", "admission_source_id")
TESTS = ("max_glu_serum", "A1Cresult")  # "None" is the answer of a test that was not done
DIAGNOSES = ("diag_1", "diag_2", "diag_3")
ICD9_GROUPS = {
    "circulatory": ((390, 460), (785, 786)),
    "respiratory": ((460, 520), (786, 787)),
    "digestive": ((520, 580), (787, 788)),
    "diabetes": ((250, 251),),
    "injury": ((800, 1000),),
    "musculoskeletal": ((710, 740),),
    "genitourinary": ((580, 630), (788, 789)),
    "neoplasms": ((140, 240),),
}


def icd9_group(code: str) -> str:
    """The group of a diagnosis code, after table 2 of Strack et al.

    >>> [icd9_group(code) for code in ("250.83", "428", "V45", "780")]
    ['diabetes', 'circulatory', 'other', 'other']
    """
    if code[0] in "EV":  # causes from outside, and visits without an illness
        return "other"
    number = float(code)
    found = (name for name, ranges in ICD9_GROUPS.items() if any(low <= number < high for low, high in ranges))
    return next(found, "other")


def _read() -> Table:
    path = located(
        "diabetes130",
        "Download Diabetes 130-US hospitals from UCI (https://archive.ics.uci.edu/dataset/296), and put the file "
        "diabetic_data.csv of its archive",
        *FILES,
    )
    return _prepared(_parse(path.read_bytes(), path))


def _parse(content: bytes, where: object) -> pd.DataFrame:
    import pandas as pd

    text = unpacked(content, where, MEMBER).replace(b"\r\n", b"\n")
    found = hashlib.sha256(text).hexdigest()
    if found != CSV_SHA256:
        raise damaged(where, f"is damaged or another version of {MEMBER}", value=found, expected=CSV_SHA256)
    return pd.read_csv(io.BytesIO(text), na_values="?", keep_default_na=False, low_memory=False)


def _prepared(table: pd.DataFrame) -> Table:
    table = table.sort_values("encounter_id").drop_duplicates("patient_nbr")  # encounters are numbered in time
    table = table[~table["discharge_disposition_id"].isin(DEATH_OR_HOSPICE)].reset_index(drop=True)
    back = table["readmitted"] == "<30"
    label = back.map({True: "within 30 days", False: "later or never"}).rename("readmitted")
    frame = table.drop(columns=["encounter_id", "patient_nbr", "readmitted"])
    for name in CODES:
        frame[name] = "code " + frame[name].astype(str)  # a category, also once it was written to a file
    for name in TESTS:
        frame[name] = frame[name].replace("None", "not measured")
    for name in DIAGNOSES:
        known = {code: icd9_group(code) for code in frame[name].dropna().unique()}
        frame[name] = frame[name].map(known)
    return frame, label


def _fetch() -> None:
    content = fetched(URL)
    _parse(content, URL)
    store(data_home() / FILES[0], content)


diabetes130 = Recorded(
    Info(
        name="diabetes130",
        description=(
            "Stays of diabetes patients in American hospitals, the first of each patient: will they be readmitted "
            "within 30 days? Ages are decades; admission and discharge codes are explained by IDS_mapping.csv in "
            "UCI's archive; diagnoses are groups of ICD-9 codes; a test that was not done says so. Many values "
            "are missing."
        ),
        rows=ROWS,
        columns=COLUMNS,
        classes=("later or never", "within 30 days"),
        source="UCI 296, Diabetes 130-US hospitals for years 1999-2008; Strack et al. (2014)",
        licence="CC BY 4.0",
        files=FILES,
        downloadable=True,
    ),
    _read,
    _fetch,
)
