"""UCI Spambase: word and character frequencies of e-mails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from askless.datasets.base import Info, Recorded, Table
from askless.datasets.files import data_home, located, number_table, openml_table, read_csv, store

if TYPE_CHECKING:
    import pandas as pd

ROWS, COLUMNS = 4601, 57
WORDS = (
    "make address all 3d our over remove internet order mail receive will people report addresses free business "
    "email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data 415 85 technology 1999 parts "
    "pm direct cs meeting original project re edu table conference"
)
NAMES = (
    *(f"word_freq_{word}" for word in WORDS.split()),
    *(f"char_freq_{sign}" for sign in ";([!$#"),
    *(f"capital_run_length_{of}" for of in ("average", "longest", "total")),
)
FILE = "spam/spam.csv.gz"  # with a header, rows in the order of the paper's authors
FILE_SHA256 = "3fd63313caea3e7e1ca23dd0f576d88b083bdab608ac858d82ca1a081cc96290"
UCI_FILE = "spam/spambase.data"  # from UCI's archive: without a header, the same rows in another order
VALUES_SHA256 = "b2ea5ff329ebf8561dfa17dd39c46deabfc6ae65ad2904f686f2c16f1fa9458c"


def _read() -> Table:
    path = located(
        "spam",
        "Download Spambase from UCI (https://archive.ics.uci.edu/dataset/94/spambase; also OpenML 44), and put the "
        "file spambase.data of its archive",
        FILE,
        UCI_FILE,
    )
    packed = path == data_home() / FILE
    table = read_csv(path, FILE_SHA256) if packed else _parse(path.read_bytes(), path)
    table.columns = [*NAMES, "label"]
    label = table.pop("label").map({0: "not spam", 1: "spam"})
    return table, label


def _parse(content: bytes, where: object) -> pd.DataFrame:
    """Read UCI's file. The order of its rows and its line ends do not matter."""
    return number_table(content, where, "Spambase", (ROWS, COLUMNS + 1), VALUES_SHA256)


def _fetch() -> None:
    frame, label = openml_table(44)
    table = frame.assign(label=label.astype(int))
    content = table.to_csv(header=False, index=False).encode()
    _parse(content, "OpenML 44")
    store(data_home() / UCI_FILE, content)


spam = Recorded(
    Info(
        name="spam",
        description=(
            "E-mails that are spam or not: per cent of words and of characters that match each name, and the "
            "average, longest and total length of runs of capital letters."
        ),
        rows=ROWS,
        columns=COLUMNS,
        classes=("not spam", "spam"),
        source="UCI 94, Spambase (also OpenML 44)",
        licence="CC BY 4.0",
        files=(FILE, UCI_FILE),
        downloadable=True,
    ),
    _read,
    _fetch,
)
