"""A piece of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Chunk"]


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file."""

    frame: pd.DataFrame
    start: int  # the number of the first row, from 0
    read: float  # the share of the file that has been read, 0 to 1
    written: pd.DataFrame  # the columns of `--keep`, as they are in the file
