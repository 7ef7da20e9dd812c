"""Data sets by name: `load_dataset("triage")`. Data sets are downloaded on first use into the data home."""

from askless.datasets.base import Dataset, Info
from askless.datasets.home import DatasetDamaged, DatasetNotFound, data_home
from askless.datasets.lookup import describe, list_datasets, load_dataset
from askless.datasets.sets.triage import triage_posterior

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
