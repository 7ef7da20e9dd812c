"""PhysioNet/CinC Challenge 2012: who dies in hospital after the first two days in intensive care?

The first value of each variable of a stay is a feature. Scores (SAPS-I, SOFA) and outcomes (length of
stay, survival) are not features.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING

from askless.datasets.base import Info, Recorded, Table
from askless.datasets.files import BROKEN, damaged, data_home, fetched, located, read_csv, store

if TYPE_CHECKING:
    import pandas as pd

ROWS, DEATHS = 12_000, 1_707
FILE = "physionet2012/physionet2012_first.csv.gz"
FILE_SHA256 = "706a832db97063ce879d4a818c73559334587adc1b0a1da62050bf01467d964c"
BUILT = "physionet2012/physionet2012.csv.gz"  # the same columns, built from PhysioNet's files
URL = "https://physionet.org/files/challenge-2012/1.0.0"
PARTS = "abc"
NAMES = (
    "Age Gender ICUType GCS HR NIDiasABP NIMAP NISysABP RespRate Temp Urine HCT BUN Creatinine Glucose HCO3 Mg "
    "Platelets K Na WBC MechVent Height Weight pH PaCO2 PaO2 DiasABP FiO2 MAP SysABP SaO2 Albumin ALP ALT AST "
    "Bilirubin Lactate Cholesterol TroponinI TroponinT"
)
FEATURES = NAMES.split()
LABEL = "In-hospital_death"
WORDS = {
    "Gender": {0: "female", 1: "male"},
    "ICUType": {1: "coronary care", 2: "cardiac surgery recovery", 3: "medical", 4: "surgical"},
}


def _read() -> Table:
    path = located(
        "physionet2012",
        f"Build it from set-a.tar.gz, set-b.tar.gz, set-c.tar.gz and Outcomes-a.txt, -b.txt, -c.txt of {URL}, and "
        f"put a gzipped CSV file of the columns {', '.join(FEATURES)} and {LABEL}, one row per stay,",
        FILE,
        BUILT,
    )
    packed = path == data_home() / FILE
    table = read_csv(path, FILE_SHA256) if packed else _checked(read_csv(path), path)
    label = table[LABEL].map({0: "survived", 1: "died"}).rename("outcome")
    frame = table[FEATURES].astype({"MechVent": bool})
    for column, words in WORDS.items():
        frame[column] = frame[column].map(words)
    return frame, label


def _checked(table: pd.DataFrame, where: object) -> pd.DataFrame:
    """There is no published checksum of the table, but its size and the number of deaths are known."""
    lacking = [name for name in (*FEATURES, LABEL) if name not in table.columns]
    if lacking or len(table) != ROWS or int(table[LABEL].sum()) != DEATHS or table["MechVent"].isna().any():
        lacks = f" and no column {lacking[0]!r}" if lacking else ""
        problem = f"has {len(table)} rows{lacks}; the challenge has {ROWS} stays with {DEATHS} deaths"
        raise damaged(where, problem, rows=len(table), expected=ROWS, column=lacking[0] if lacking else None)
    return table


def _fetch() -> None:
    import pandas as pd

    parts = []
    for part in PARTS:
        stays = first_values(fetched(f"{URL}/set-{part}.tar.gz"), f"{URL}/set-{part}.tar.gz")
        outcomes = pd.read_csv(io.BytesIO(fetched(f"{URL}/Outcomes-{part}.txt")), index_col="RecordID")
        parts.append(stays.join(outcomes[LABEL], how="inner"))
    table = _checked(pd.concat(parts), URL)
    store(data_home() / BUILT, gzip.compress(table.to_csv(index_label="RecordID").encode(), mtime=0))


def first_values(archive: bytes, where: object) -> pd.DataFrame:
    """The first known value of each variable, a row for each stay of an archive of text files; by RecordID.

    A line is "time,variable,value", in the order of time; a negative value stands for an unknown one. A stay without
    an entry of mechanical ventilation had none.
    """
    import pandas as pd

    stays: dict[int, dict[str, float]] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                file = tar.extractfile(member) if member.name.endswith(".txt") else None
                if file is not None:
                    stay = _first_of_stay(file.read().decode())
                    stays[int(stay.pop("RecordID"))] = stay
    except (*BROKEN, tarfile.TarError) as error:
        raise damaged(where, f"is not an archive of stays ({error!r})", "unreadable_file") from error
    table = pd.DataFrame.from_dict(stays, orient="index").reindex(columns=FEATURES).sort_index()
    return table.fillna({"MechVent": 0.0})


def _first_of_stay(text: str) -> dict[str, float]:
    first: dict[str, float] = {}
    for line in text.splitlines()[1:]:
        _, variable, value = line.split(",")
        if variable and variable not in first and float(value) >= 0:
            first[variable] = float(value)
    return first


physionet2012 = Recorded(
    Info(
        name="physionet2012",
        description=(
            "Stays in intensive care: does the patient die in hospital? The first value of each variable in the "
            "first 48 hours. Age is in years, Height in cm, Weight in kg, Temp in °C, pressures in mmHg, Urine in "
            "mL, blood values in the units of the challenge. Many values are missing, and some are wrong, as "
            "recorded."
        ),
        rows=ROWS,
        columns=41,
        classes=("died", "survived"),
        source="PhysioNet/CinC Challenge 2012, sets a, b and c; Silva et al. (2012)",
        licence="ODC-By 1.0",
        files=(FILE, BUILT),
        downloadable=True,
    ),
    _read,
    _fetch,
)
