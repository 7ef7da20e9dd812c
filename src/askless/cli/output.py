"""Where commands write."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from askless.files import is_device, named

__all__ = ["check_checkpoint", "check_writable", "remove"]


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


def check_checkpoint(path: str | None, output: Path) -> Path:
    """Where a fit keeps its progress: in the file that was named, or beside the model."""
    if path is None and is_device(output):
        raise ValueError(f"-o: {output} is no file that progress could be kept beside; name one with --checkpoint")
    checkpoint = f"{output}.part" if path is None else path
    if is_device(checkpoint):  # it could not be read again, nor deleted
        raise ValueError(f"--checkpoint: {checkpoint} is a device or a pipe; name a file")
    return check_writable(checkpoint, "--checkpoint")


def remove(path: Path) -> None:
    """Delete a file that a command wrote; a link to it stays, as it was before."""
    named(path).unlink(missing_ok=True)
