"""UCI's ann-thyroid, with Turney's test costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from askless.datasets.base import Info, Recorded, Table
from askless.datasets.files import absent, data_home, fetched, first_present, number_table, store, unpacked

if TYPE_CHECKING:
    import pandas as pd

URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/thyroid-disease"
PARTS = {  # by part: rows, and the sum of their values
    "train": (3772, "38399695eaaa548d00880257864b9bd2cd787520a21d9f09f9b61fad0253fd34"),
    "test": (3428, "798acfff441fb8e5aa153b5923210ecc4e46c50f5aacb60a7b5e832bd138bc86"),
}
HISTORY = (
    "on_thyroxine query_on_thyroxine on_antithyroid_medication sick pregnant thyroid_surgery I131_treatment "
    "query_hypothyroid query_hyperthyroid lithium goitre tumor hypopituitary psych"
)
FLAGS = HISTORY.split()
TESTS = {"TSH": 22.78, "T3": 11.41, "TT4": 14.51, "T4U": 11.41}  # dollars
NAMES = ["age", "sex", *FLAGS, *TESTS, "FTI", "class"]
COSTS = dict.fromkeys(["age", "sex", *FLAGS], 1.0) | TESTS


def _read() -> Table:
    import pandas as pd

    paths = {part: first_present(f"thyroid/ann-{part}.data.gz", _file(part)) for part in PARTS}
    for part, path in paths.items():
        if path is None:
            raise absent(
                "thyroid",
                "Download Thyroid Disease from UCI (https://archive.ics.uci.edu/dataset/102/thyroid+disease), and "
                f"put the files ann-train.data and ann-test.data of its archive into one folder, this one ({part})",
                _file(part),
            )
    read = ((unpacked(path.read_bytes(), path), part, path) for part, path in paths.items() if path is not None)
    tables = [_parse(*each) for each in read]
    table = pd.concat(tables, ignore_index=True).drop(columns="FTI")  # computed from TT4 and T4U: not a test
    label = table.pop("class")
    return table.astype(dict.fromkeys(FLAGS, bool)), label


def _parse(content: bytes, part: str, where: object) -> pd.DataFrame:
    rows, sha256 = PARTS[part]
    table = number_table(content, where, f"ann-{part}.data", (rows, 22), sha256, decimals=6, sep=r"\s+")
    table.columns = NAMES
    return table


def _file(part: str) -> str:
    return f"thyroid/ann-{part}.data"


def _fetch() -> None:
    contents = {part: fetched(f"{URL}/ann-{part}.data") for part in PARTS}
    for part, content in contents.items():
        _parse(content, part, f"{URL}/ann-{part}.data")
    for part, content in contents.items():
        store(data_home() / _file(part), content)


thyroid = Recorded(
    Info(
        name="thyroid",
        description=(
            "Patients of a clinic: is their thyroid normal (class 3), or is its function disturbed in one of two "
            "ways (classes 1 and 2)? Age and the blood values TSH, T3, TT4 and T4U are scaled; sex is coded 0 and 1 "
            "without a key, as in the original. Costs are in dollars. The free thyroxine index FTI is left out, "
            "because it is computed from TT4 and T4U. The first 3,772 rows are the original's training part."
        ),
        rows=7200,
        columns=20,
        classes=(1, 2, 3),
        costs=COSTS,
        source="UCI 102, Thyroid Disease (ann-thyroid); costs from Turney (1995)",
        licence="CC BY 4.0",
        files=("thyroid/ann-train.data.gz", _file("train")),
        downloadable=True,
    ),
    _read,
    _fetch,
)
