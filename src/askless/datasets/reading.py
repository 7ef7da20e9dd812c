"""Reading files that come packed in several ways, and checking what they hold rather than how it was packed."""

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
    """What is in a gzip file, in the file of a zip archive whose name ends with `member`, or the plain content."""
    try:
        if content.startswith(b"\x1f\x8b"):
            return gzip.decompress(content)
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return archive.read(next(name for name in archive.namelist() if name.endswith(member)))
    except StopIteration:
        raise DatasetDamaged(f"{where} holds no {member}; delete it and fetch it again") from None
    except BROKEN as error:
        raise DatasetDamaged(f"{where} cannot be unpacked ({error}); delete it and fetch it again") from error
    return content


def unpacked_arrays(path: Any, *names: str) -> list[np.ndarray]:
    """The arrays of these names in an .npz file; nothing in it is run."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            return [file[name] for name in names]
    except BROKEN as error:
        raise DatasetDamaged(f"{path} cannot be read ({error}); delete it and fetch it again") from error


def number_table(
    content: bytes, where: object, what: str, shape: tuple[int, int], sha256: str, decimals: int = 3, **options: Any
) -> pd.DataFrame:
    """The numbers in a text file without a header, once they are those of `what`; `options` are pandas's.

    Public archives differ in line ends and in the order of rows, so what is checked are the values: see
    `values_sha256`.
    """
    import pandas as pd

    try:
        table: pd.DataFrame = pd.read_csv(io.BytesIO(content), header=None, **options)
        values = table.to_numpy(dtype=np.float64)
    except ValueError as error:  # also what is not text
        raise DatasetDamaged(f"{where} is not a table of numbers: {error}") from error
    if values.shape != shape:
        raise DatasetDamaged(f"{where} holds {values.shape} rows and columns, not {shape}")
    if values_sha256(values, decimals) != sha256:
        raise DatasetDamaged(f"{where} does not hold the values of {what}; delete it and fetch it again")
    return table


def values_sha256(values: np.ndarray, decimals: int = 3) -> str:
    """The SHA-256 of the (n, columns) values, rows sorted: neither their order nor parsing matters.

    Values count to so many decimals; a missing one is smaller than any other.
    """
    whole = np.rint(np.where(np.isnan(values), -1e9, values * 10**decimals)).astype("<i8")
    ordered = whole[np.lexsort(whole.T[::-1])]
    return hashlib.sha256(np.ascontiguousarray(ordered).tobytes()).hexdigest()
