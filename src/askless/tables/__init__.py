"""Rows of frames, arrays and Parquet files, some at a time; rows held out; room for large arrays."""

from askless.tables.parquet import ParquetTable
from askless.tables.rows import (
    check_row_labels,
    column_names,
    is_frame,
    row_chunks,
    take_rows,
    without_stored_index,
)
from askless.tables.scratch import Scratch
from askless.tables.split import holdout

__all__ = [
    "ParquetTable",
    "Scratch",
    "check_row_labels",
    "column_names",
    "holdout",
    "is_frame",
    "row_chunks",
    "take_rows",
    "without_stored_index",
]
