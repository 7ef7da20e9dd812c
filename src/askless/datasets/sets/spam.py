"""UCI Spambase: word and character frequencies of e-mails."""

from __future__ import annotations

import gzip
import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from askless.datasets.base import Info, Recorded
from askless.datasets.home import DatasetDamaged, DatasetNotFound, data_home, read_checked

if TYPE_CHECKING:
    import pandas as pd

    from askless.datasets.base import Table

__all__ = ["spam"]

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
UCI_FILE = "spam/spambase.data"  # as it lies in UCI's archive: no header, another order of the same rows
VALUES_SHA256 = "b2ea5ff329ebf8561dfa17dd39c46deabfc6ae65ad2904f686f2c16f1fa9458c"


def _read() -> Table:
    import pandas as pd

    packed, plain = data_home() / FILE, data_home() / UCI_FILE
    if packed.is_file():
        table = pd.read_csv(io.BytesIO(gzip.decompress(read_checked(packed, FILE_SHA256))))
    elif plain.is_file():
        table = _read_plain(plain)
    else:
        raise DatasetNotFound(
            f"the data set 'spam' is not in the data home {data_home()}. Fetch Spambase from UCI "
            "(https://archive.ics.uci.edu/dataset/94/spambase; also OpenML 44), and put the file spambase.data of "
            f"its archive at {plain}; another data home can be named by the environment variable ASKLESS_DATA"
        )
    table.columns = [*NAMES, "label"]
    label = table.pop("label").map({0: "not spam", 1: "spam"})
    return table, label


def _read_plain(path: Path) -> pd.DataFrame:
    """UCI's own file. Its bytes may differ in line ends, so what is checked are the values, in any order of rows."""
    import pandas as pd

    try:
        table = pd.read_csv(path, header=None)
        values = table.to_numpy(dtype=np.float64)
    except (ValueError, UnicodeDecodeError) as error:
        raise DatasetDamaged(f"{path} is not a table of numbers: {error}") from error
    if values.shape != (ROWS, COLUMNS + 1):
        raise DatasetDamaged(f"{path} holds {values.shape} rows and columns, not {ROWS, COLUMNS + 1}")
    if values_sha256(values) != VALUES_SHA256:
        raise DatasetDamaged(f"{path} does not hold the values of Spambase; delete it and fetch it again")
    return table


def values_sha256(values: np.ndarray) -> str:
    """The SHA-256 of the (n, columns) values in thousandths, rows sorted: neither their order nor parsing matters."""
    thousandths = np.rint(values * 1000).astype("<i8")
    ordered = thousandths[np.lexsort(thousandths.T[::-1])]
    return hashlib.sha256(np.ascontiguousarray(ordered).tobytes()).hexdigest()


spam = Recorded(
    Info(
        name="spam",
        description=(
            "E-mails that are spam or not: per cent of words and of characters that match each name, and the "
            "average, longest and total length of runs of capital letters."
        ),
        task="classification",
        rows=ROWS,
        columns=COLUMNS,
        classes=("not spam", "spam"),
        source="UCI 94, Spambase (also OpenML 44)",
        licence="CC BY 4.0",
        files=(FILE, UCI_FILE),
    ),
    _read,
)
