"""MiniBooNE: which events of a particle detector are electron neutrinos?

Two tables go by this name: the complete one, and a subset of it with standardised values whose sentinel rows were
removed. They are not comparable, so `subset` can ask for one, and what was loaded says which it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from askless.datasets.base import Dataset, Info, Recorded, make_table
from askless.datasets.files import (
    absent,
    damaged,
    data_home,
    first_present,
    openml_table,
    read_csv,
    store_arrays,
    unpacked_arrays,
)
from askless.exceptions import bad_value

COLUMNS = 50
NAMES = [f"ParticleID_{i}" for i in range(COLUMNS)]
COMPLETE, COMPLETE_ROWS, COMPLETE_SIGNALS = "miniboone/miniboone.npz", 130_064, 36_499
SUBSET, SUBSET_ROWS = "miniboone/miniboone_subset.csv.gz", 11_219
SUBSET_SHA256 = "bb0ba654e66d8b00d5211763e0bd49e413e5a9018965ec77557aa049d21e8a8f"

INFO = Info(
    name="miniboone",
    description=(
        "Events of a particle detector: electron neutrinos (signal) or muon neutrinos (background)? Fifty numbers "
        "that identify particles. The complete table, in which -999 stands for a failed reconstruction; subset=True "
        "is a subset of it, subset=False the complete one, None what lies in the data home."
    ),
    rows=COMPLETE_ROWS,
    columns=COLUMNS,
    classes=("background", "signal"),
    options=("subset",),
    source="UCI 199, MiniBooNE particle identification (OpenML 41150)",
    licence="CC BY 4.0",
    files=(COMPLETE, SUBSET),
    downloadable=True,
)
SUBSET_INFO = replace(
    INFO,
    description=(
        "Events of a particle detector: electron neutrinos (signal) or muon neutrinos (background)? Fifty numbers "
        "that identify particles. A subset of the complete table: values are standardised, failed "
        "reconstructions removed."
    ),
    rows=SUBSET_ROWS,
    source=f"{INFO.source}, a subset",
)


def _read(subset: bool | None = None) -> Dataset:
    if subset not in (True, False, None):
        raise bad_value("invalid_choice", "subset", subset, "True, False or None", choices=[True, False, None])
    complete = first_present(COMPLETE) if subset is not True else None
    part = first_present(SUBSET) if subset is not False else None
    if complete is not None:
        values, signal = unpacked_arrays(complete, "values", "signal")
        _check(values, signal, complete)
        return _dataset(values, signal, INFO)
    if part is not None:
        table = read_csv(part, SUBSET_SHA256)
        return _dataset(table[NAMES].to_numpy(), table["signal"].to_numpy(), SUBSET_INFO)
    if subset:
        raise absent("miniboone", "The subset has no public source; put its file", SUBSET)
    raise absent(
        "miniboone",
        "Download MiniBooNE (https://www.openml.org/d/41150; also UCI 199), and put an .npz file of the arrays "
        "values (130064 x 50) and signal (0 or 1)",
        COMPLETE,
    )


def _dataset(values: np.ndarray, signal: np.ndarray, info: Info) -> Dataset:
    label = np.where(signal == 1, "signal", "background").tolist()
    return Dataset(*make_table(values, NAMES, label, "event"), info)


def _check(values: np.ndarray, signal: np.ndarray, where: object) -> None:
    """There is no published checksum of the complete table, but its size and its classes are known."""
    found = (values.shape, int(signal.sum()))
    if found != ((COMPLETE_ROWS, COLUMNS), COMPLETE_SIGNALS) or not np.isfinite(values).all():
        problem = (
            f"has {values.shape} rows and columns and {found[1]} signals; MiniBooNE has {(COMPLETE_ROWS, COLUMNS)} "
            f"and {COMPLETE_SIGNALS}"
        )
        raise damaged(where, problem, shape=values.shape, value=found[1], expected=COMPLETE_SIGNALS)


def _fetch() -> None:
    frame, label = openml_table(41150)
    values = frame.to_numpy(dtype=np.float64)
    # OpenML calls signals True, UCI puts them first.
    signal = label.astype(str).str.lower().isin(["true", "1"]).to_numpy().astype(np.uint8)
    _check(values, signal, "OpenML 41150")
    store_arrays(data_home() / COMPLETE, values=values, signal=signal)


miniboone = Recorded(INFO, _read, _fetch)
