"""Files that commands write: all of it or nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["atomic_file", "check_writable"]


def check_writable(path: str | Path, option: str = "-o") -> Path:
    """The path, if a file can be written there: to know before the work is done."""
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"{option}: {target} is a folder; name a file")
    if not target.parent.is_dir():
        raise ValueError(f"{option}: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"{option}: the folder {target.parent} cannot be written to")
    return target


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place under `path` when the block ends well."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
