"""The data home: downloads into it, and its files, unpacked and checked.

Only checked content is written to the data home, and in one step.
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import io
import logging
import os
import sys
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.exceptions import AsklessError
from askless.files import write_atomic
from askless.version import __version__

if TYPE_CHECKING:
    import pandas as pd

TIMEOUT = 60  # seconds without a byte
BLOCK = 1 << 18  # bytes
AGENT = {"User-Agent": f"askless/{__version__}"}  # some servers refuse Python's default

log = logging.getLogger(__name__)

BROKEN = (OSError, EOFError, KeyError, ValueError, zlib.error, zipfile.BadZipFile)


class DatasetNotFound(AsklessError, FileNotFoundError):
    """A file of a data set is not in the data home. The message says where to get it and where to put it."""


class DatasetDamaged(AsklessError):
    """The content of a data set's file is not as expected."""


def data_home() -> Path:
    """The folder of data sets: the environment variable ASKLESS_DATA, else the platform's user data folder."""
    named = os.environ.get("ASKLESS_DATA")
    return Path(named).expanduser() if named else _user_data() / "askless"


def _user_data() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".local" / "share"  # XDG ignores relative paths


def first_present(*files: str) -> Path | None:
    """The path of the first of these files that exists; None if there is none. Names are below the data home."""
    paths = (data_home() / file for file in files)
    return next((path for path in paths if path.is_file()), None)


def absent(name: str, what: str, file: str) -> DatasetNotFound:
    """The error for a missing data set: `what` says what to get and ends before the place for the `file`."""
    path = data_home() / file
    return DatasetNotFound(
        "file_not_found",
        f"the data set {name!r} is not in the data home {data_home()}. {what} at {path}; the environment variable "
        "ASKLESS_DATA sets another data home",
        name=name,
        path=str(path),
    )


def located(name: str, what: str, *files: str) -> Path:
    """The path of the first of these files that exists, or the `absent` error, whose place is that of the last."""
    path = first_present(*files)
    if path is None:
        raise absent(name, what, files[-1])
    return path


def damaged(where: object, problem: str, code: str = "damaged_file", **fields: Any) -> DatasetDamaged:
    """The error for unexpected content of a file or a download; `problem` continues a sentence about `where`."""
    return DatasetDamaged(code, f"{where} {problem}; delete it and download it again", path=str(where), **fields)


def read_checked(path: Path, sha256: str) -> bytes:
    """The content of a file, checked by its SHA-256."""
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        problem = f"is damaged or another version: its SHA-256 is {found}, not {sha256}"
        raise damaged(path, problem, value=found, expected=sha256)
    return content


def read_csv(path: Path, sha256: str | None = None) -> pd.DataFrame:
    """The table in a CSV file, gzipped or not; checked by the SHA-256 of the file, if given."""
    import pandas as pd

    content = path.read_bytes() if sha256 is None else read_checked(path, sha256)
    return pd.read_csv(io.BytesIO(unpacked(content, path)))


class DownloadFailed(AsklessError):
    """The server did not respond, or its response is incomplete."""


def fetched(url: str) -> bytes:
    """The content at a URL."""
    with _progress(f"downloading {url}") as advance:
        try:
            with open_url(url) as answer:
                length = answer.headers.get("Content-Length")
                blocks = []
                while block := answer.read(BLOCK):
                    blocks.append(block)
                    advance(len(block), int(length) if length else None)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()  # it holds the connection
            raise DownloadFailed("download_failed", f"{url}: {error}", url=url) from error
    content = b"".join(blocks)
    if length and len(content) != int(length):
        message = f"{url}: the connection ended after {len(content)} of {length} bytes"
        raise DownloadFailed("download_failed", message, url=url, value=len(content), expected=int(length))
    return content


def openml_table(data_id: int) -> tuple[pd.DataFrame, pd.Series]:
    """The features and the target of a data set on OpenML. The client checks OpenML's checksum."""
    with _progress(f"downloading OpenML {data_id}"):
        try:
            bunch = open_openml(data_id)
        except (OSError, http.client.HTTPException, ValueError) as error:  # an OpenMLError is a ValueError
            raise DownloadFailed("download_failed", f"OpenML {data_id}: {error}", url=f"OpenML {data_id}") from error
    if bunch.target is None:
        message = f"OpenML {data_id}: OpenML does not name a target column"
        raise DownloadFailed("download_failed", message, url=f"OpenML {data_id}")
    return bunch.data, bunch.target


def open_url(url: str) -> Any:
    """The response of a server, as a file."""
    return urllib.request.urlopen(urllib.request.Request(url, headers=AGENT), timeout=TIMEOUT)


def open_openml(data_id: int) -> Any:
    """The data set as scikit-learn's client returns it, without the client's own cache."""
    from sklearn.datasets import fetch_openml

    return fetch_openml(data_id=data_id, as_frame=True, parser="pandas", cache=False)


def store(path: Path, content: bytes) -> None:
    """Write a file to the data home."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, content)


def store_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write arrays to the data home, as an .npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # the stubs expect the keyword allow_pickle
    store(path, buffer.getvalue())


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int | None], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    log.info(what)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def advance(size: int, total: int | None) -> None:
            bar.update(task, advance=size, total=total)

        yield advance


def unpacked(content: bytes, where: object, member: str = "") -> bytes:
    """The content of a gzip file, of the zip archive's file whose name ends with `member`, or of a plain file."""
    try:
        if content.startswith(b"\x1f\x8b"):
            return gzip.decompress(content)
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return archive.read(next(name for name in archive.namelist() if name.endswith(member)))
    except StopIteration:
        raise damaged(where, f"has no file {member}", "wrong_file", expected=member) from None
    except BROKEN as error:
        raise damaged(where, f"cannot be unpacked ({error})", "unreadable_file") from error
    return content


def unpacked_arrays(path: Any, *names: str) -> list[np.ndarray]:
    """The arrays of these names in an .npz file. No code in the file is run."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            return [file[name] for name in names]
    except BROKEN as error:
        raise damaged(path, f"cannot be read ({error})", "unreadable_file") from error


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
        raise damaged(where, f"is not a table of numbers ({error})", "unreadable_file") from error
    if values.shape != shape:
        raise damaged(where, f"has {values.shape} rows and columns, not {shape}", shape=values.shape, expected=shape)
    found = values_sha256(values, decimals)
    if found != sha256:
        raise damaged(where, f"has other values than {what}", value=found, expected=sha256)
    return table


def values_sha256(values: np.ndarray, decimals: int = 3) -> str:
    """The SHA-256 of the (n, columns) values, with sorted rows and rounded values.

    The order of the rows and the parser do not matter. A missing value is smaller than any other.
    """
    whole = np.rint(np.where(np.isnan(values), -1e9, values * 10**decimals)).astype("<i8")
    ordered = whole[np.lexsort(whole.T[::-1])]
    return hashlib.sha256(np.ascontiguousarray(ordered).tobytes()).hexdigest()
