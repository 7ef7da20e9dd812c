"""Downloads from public sources. Only checked content is written to the data home, and in one step."""

from __future__ import annotations

import http.client
import io
import logging
import urllib.error
import urllib.request
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

__all__ = ["DownloadFailed", "fetched", "openml_table", "store", "store_arrays"]

TIMEOUT = 60  # seconds without a byte
BLOCK = 1 << 18  # bytes
AGENT = {"User-Agent": f"askless/{__version__}"}  # some servers refuse Python's default

log = logging.getLogger(__name__)


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
    """Show progress on standard error if it is a terminal, and write a line to the log."""
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
