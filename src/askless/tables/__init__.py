"""Rows of frames, arrays and Parquet files, some at a time; rows held out; random samples."""

from askless.tables.parquet import ParquetTable
from askless.tables.rows import (
    check_row_labels,
    column_names,
    is_frame,
    row_chunks,
    take_rows,
    without_stored_index,
)
from askless.tables.sample import from_dask, sample_rows
from askless.tables.split import holdout

__all__ = [
    "ParquetTable",
    "check_row_labels",
    "column_names",
    "from_dask",
    "holdout",
    "is_frame",
    "row_chunks",
    "sample_rows",
    "take_rows",
    "without_stored_index",
]
