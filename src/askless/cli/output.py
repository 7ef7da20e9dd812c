"""Where commands write."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from askless.files import is_device, named

__all__ = ["check_writable"]


def check_writable(path: str | Path, option: str = "-o", inputs: Iterable[str | None] = ()) -> Path:
    """The path, if a file can be written there and it is none of the inputs: to know before the work is done."""
    target = Path(path)
    for given in inputs:
        if given is not None and target.exists() and Path(given).exists() and target.samefile(given):
            raise ValueError(f"{option}: {target} is read by this command; name another file to write")
    if is_device(target):
        if not os.access(target, os.W_OK):
            raise ValueError(f"{option}: {target} cannot be written to")
        return target
    if target.is_dir():
        raise ValueError(f"{option}: {target} is a folder; name a file")
    folder = named(target).parent
    link = f", into which {target} links," if target.is_symlink() else ""
    if not folder.is_dir():
        raise ValueError(f"{option}: there is no folder {folder}{link.rstrip(',')}")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option}: the folder {folder}{link} cannot be written to")
    return target
