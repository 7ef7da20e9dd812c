"""Reads files that are packed in several ways, and checks their unpacked content."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.datasets.home import DatasetDamaged

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["number_table", "unpacked", "unpacked_arrays", "values_sha256"]

BROKEN = (OSError, EOFError, KeyError, ValueError, zlib.error, zipfile.BadZipFile)


def unpacked(content: bytes, where: object, member: str = "") -> bytes:
    """The content of a gzip file, of the zip archive's file whose name ends with `member`, or of a plain file."""
    try:
        if content.startswith(b"\x1f\x8b"):
            return gzip.decompress(content)
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return archive.read(next(name for name in archive.namelist() if name.endswith(member)))
    except StopIteration:
        message = f"{where} has no file {member}; delete it and download it again"
        raise DatasetDamaged("wrong_file", message, path=str(where), expected=member) from None
    except BROKEN as error:
        message = f"{where} cannot be unpacked ({error}); delete it and download it again"
        raise DatasetDamaged("unreadable_file", message, path=str(where)) from error
    return content


def unpacked_arrays(path: Any, *names: str) -> list[np.ndarray]:
    """The arrays of these names in an .npz file. No code in the file is run."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            return [file[name] for name in names]
    except BROKEN as error:
        message = f"{path} cannot be read ({error}); delete it and download it again"
        raise DatasetDamaged("unreadable_file", message, path=str(path)) from error


def number_table(
    content: bytes, where: object, what: str, shape: tuple[int, int], sha256: str, decimals: int = 3, **options: Any
) -> pd.DataFrame:
    """The numbers in a text file without a header, checked to be those of `what`. `options` go to pandas.

    Public archives differ in line ends and in the order of rows, so the check is of the values; see `values_sha256`.
    """
    import pandas as pd

    try:
        table: pd.DataFrame = pd.read_csv(io.BytesIO(content), header=None, **options)
        values = table.to_numpy(dtype=np.float64)
    except ValueError as error:  # also for bytes that are no text
        message = f"{where} is not a table of numbers: {error}"
        raise DatasetDamaged("unreadable_file", message, path=str(where)) from error
    if values.shape != shape:
        message = f"{where} has {values.shape} rows and columns, not {shape}"
        raise DatasetDamaged("damaged_file", message, path=str(where), shape=values.shape, expected=shape)
    found = values_sha256(values, decimals)
    if found != sha256:
        message = f"the values in {where} are not those of {what}; delete it and download it again"
        raise DatasetDamaged("damaged_file", message, path=str(where), value=found, expected=sha256)
    return table


def values_sha256(values: np.ndarray, decimals: int = 3) -> str:
    """The SHA-256 of the (n, columns) values, with sorted rows and rounded values.

    The order of the rows and the parser do not matter. A missing value is smaller than any other.
    """
    whole = np.rint(np.where(np.isnan(values), -1e9, values * 10**decimals)).astype("<i8")
    ordered = whole[np.lexsort(whole.T[::-1])]
    return hashlib.sha256(np.ascontiguousarray(ordered).tobytes()).hexdigest()
