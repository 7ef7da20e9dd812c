"""Data sets by name: `load_dataset("triage")`. Data sets are downloaded on first use into the data home."""

from __future__ import annotations

from typing import Any

from askless.datasets.base import Dataset, Entry, Info, Recorded
from askless.datasets.files import DatasetDamaged, DatasetNotFound, data_home
from askless.datasets.sets import SETS
from askless.datasets.sets.triage import triage_posterior
from askless.exceptions import ParameterError, unknown_name
from askless.hints import nearest

__all__ = [
    "Dataset",
    "DatasetDamaged",
    "DatasetNotFound",
    "Info",
    "data_home",
    "describe",
    "list_datasets",
    "load_dataset",
    "triage_posterior",
]


def list_datasets() -> list[str]:
    """The names of all data sets, sorted.

    >>> "triage" in list_datasets()
    True
    """
    return sorted(SETS)


def load_dataset(name: str, *, download: bool = True, **options: Any) -> Dataset:
    """Load a data set by name. Generators take `n`, the number of rows, and `random_state`.

    If its files are not in the data home (`askless.datasets.data_home()`), they are downloaded from their public
    source, unless `download=False`. If that is not possible, `DatasetNotFound` says what to download by hand.

    >>> data = load_dataset("triage", n=500, random_state=1)
    >>> data
    <Dataset triage: 500 rows, 18 features, classification>
    >>> data.groups["blood pressure"]
    ['systolic', 'diastolic']
    """
    entry = _entry(name)
    unknown = [option for option in options if option not in entry.info.options]
    if unknown:
        takes = " and ".join(entry.info.options) or "no options"
        raise ParameterError(
            "unknown_name",
            f"the data set {name!r} has no option {unknown[0]!r}; it takes {takes}",
            name=unknown[0],
            choices=list(entry.info.options),
            nearest=nearest(unknown[0], entry.info.options),
        )
    return entry.load(download=download, **options) if isinstance(entry, Recorded) else entry.load(**options)


def describe(name: str) -> Info:
    """The metadata of a data set, without loading it.

    >>> info = describe("wine")
    >>> info.rows, info.features, info.task, info.without_download
    (178, 13, 'classification', True)
    """
    return _entry(name).info


def _entry(name: str) -> Entry:
    if name not in SETS:
        raise unknown_name("data set", name, list_datasets())
    return SETS[name]
