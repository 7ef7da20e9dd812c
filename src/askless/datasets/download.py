"""Fetching from public sources. Nothing enters the data home before it was checked, and then in one step."""

from __future__ import annotations

import http.client
import io
import logging
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
AGENT = {"User-Agent": f"askless/{__version__}"}  # some servers turn Python's own away

log = logging.getLogger(__name__)


class DownloadFailed(AsklessError):
    """The source did not answer, or not with what was asked for."""


def fetched(url: str) -> bytes:
    """What lies at a web address."""
    with _telling(f"downloading {url}") as advance:
        try:
            with open_url(url) as answer:
                length = answer.headers.get("Content-Length")
                blocks = []
                while block := answer.read(BLOCK):
                    blocks.append(block)
                    advance(len(block), int(length) if length else None)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise DownloadFailed(f"{url}: {error}") from error
    content = b"".join(blocks)
    if length and len(content) != int(length):
        raise DownloadFailed(f"{url}: the connection ended after {len(content)} of {length} bytes")
    return content


def openml_table(data_id: int) -> tuple[pd.DataFrame, pd.Series]:
    """The features and the target of a data set on OpenML; its client checks the sum that OpenML gives."""
    with _telling(f"downloading OpenML {data_id}"):
        try:
            bunch = open_openml(data_id)
        except (OSError, http.client.HTTPException, ValueError) as error:  # an OpenMLError is a ValueError
            raise DownloadFailed(f"OpenML {data_id}: {error}") from error
    if bunch.target is None:
        raise DownloadFailed(f"OpenML {data_id}: it no longer says which column is the target")
    return bunch.data, bunch.target


def open_url(url: str) -> Any:
    """The answer of a server, as a file."""
    return urllib.request.urlopen(urllib.request.Request(url, headers=AGENT), timeout=TIMEOUT)


def open_openml(data_id: int) -> Any:
    """What scikit-learn's client makes of it; it keeps no copy, since the data home will."""
    from sklearn.datasets import fetch_openml

    return fetch_openml(data_id=data_id, as_frame=True, parser="pandas", cache=False)


def store(path: Path, content: bytes) -> None:
    """Put a file into the data home."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, content)


def store_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Put arrays into the data home, as an .npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # its stubs think of a keyword of its own
    store(path, buffer.getvalue())


@contextmanager
def _telling(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A line on standard error that counts bytes, in a terminal; else an entry of the log."""
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
