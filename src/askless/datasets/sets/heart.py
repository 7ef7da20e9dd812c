"""Cleveland heart disease, with the prices of the Ontario Health Insurance Program that Turney (1995) used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from askless.datasets.base import Info, Recorded, Table
from askless.datasets.files import data_home, fetched, located, number_table, store

if TYPE_CHECKING:
    import pandas as pd

ROWS = 303
FILE = "heart/processed.cleveland.data"
URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/heart-disease/processed.cleveland.data"
VALUES_SHA256 = "d11fe6999218b172e49d93df7705c78b3f9a8ae1f54b053c3e715eade043698a"

COSTS = {  # Canadian dollars for a test on its own
    "age": 1.00,
    "sex": 1.00,
    "cp": 1.00,
    "trestbps": 1.00,
    "chol": 7.27,
    "fbs": 5.20,
    "restecg": 15.50,
    "thalach": 102.90,
    "exang": 87.30,
    "oldpeak": 87.30,
    "slope": 87.30,
    "ca": 100.90,
    "thal": 102.90,
}
PANELS = {"blood": ("chol", "fbs"), "thallium": ("thalach", "thal"), "exercise": ("exang", "oldpeak", "slope")}
CHEAPER = {"chol": 5.17, "fbs": 3.10, "thalach": 1.00, "thal": 1.00, "exang": 1.00, "oldpeak": 1.00, "slope": 1.00}
WORDS = {
    "sex": {0: "female", 1: "male"},
    "cp": {1: "typical angina", 2: "atypical angina", 3: "other pain", 4: "no pain"},
    "restecg": {0: "normal", 1: "ST-T abnormality", 2: "left ventricular hypertrophy"},
    "slope": {1: "up", 2: "flat", 3: "down"},
    "thal": {3: "normal", 6: "fixed defect", 7: "reversible defect"},
}
FLAGS = ("fbs", "exang")  # no value is missing


def _read() -> Table:
    path = located(
        "heart",
        "Download Heart Disease from UCI (https://archive.ics.uci.edu/dataset/45/heart+disease), and put the file "
        "processed.cleveland.data of its archive",
        FILE,
    )
    table = _parse(path.read_bytes(), path)
    table.columns = [*COSTS, "num"]
    label = (table.pop("num") > 0).map({False: "no disease", True: "disease"}).rename("diagnosis")
    for column, words in WORDS.items():
        table[column] = table[column].map(words)
    return table.astype(dict.fromkeys(FLAGS, bool)), label


def _parse(content: bytes, where: object) -> pd.DataFrame:
    if content.startswith(b"("):  # some copies have a header
        content = content.partition(b"\n")[2]
    table = number_table(content, where, "Cleveland's table", (ROWS, 14), VALUES_SHA256, na_values="?")
    return table.astype(np.float64)


def _fetch() -> None:
    content = fetched(URL)
    _parse(content, URL)
    store(data_home() / FILE, content)


heart = Recorded(
    Info(
        name="heart",
        description=(
            "Patients before a look at their coronary arteries: is one of them narrowed by half or more? Age "
            "(years), cp (kind of chest pain), trestbps (blood pressure at rest, mmHg), chol (cholesterol, mg/dL), "
            "fbs (fasting blood sugar above 120 mg/dL), restecg (ECG at rest), thalach (highest heart rate, per "
            "minute), exang (angina by exercise), oldpeak and slope (the ECG's ST segment in exercise), ca (vessels "
            "coloured by fluoroscopy), thal (thallium scan). Costs are in Canadian dollars; once one test of a panel "
            "was done, the others cost their discounted price."
        ),
        rows=ROWS,
        columns=13,
        classes=("disease", "no disease"),
        costs=COSTS,
        panels=PANELS,
        discounted_costs=CHEAPER,
        source="UCI 45, Heart Disease (Cleveland); costs from Turney (1995)",
        licence="CC BY 4.0",
        files=(FILE,),
        downloadable=True,
    ),
    _read,
    _fetch,
)
