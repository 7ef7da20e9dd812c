"""Checks of the files that a command is to write."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from askless.cli.parser import UsageError
from askless.files import is_device, named

__all__ = ["check_checkpoint", "check_new", "check_writable", "remove"]


def check_writable(path: str | Path, option: str = "-o", inputs: Iterable[str | None] = ()) -> Path:
    """The path, if a file can be written there and it is none of the inputs. Commands check this before they work."""
    target = Path(path)
    where = {"option": option, "path": str(target)}
    for given in inputs:
        if given is not None and target.exists() and os.path.exists(given) and target.samefile(given):
            raise UsageError(
                "conflicting_settings", f"{option}: this command reads {target}; write to another file", **where
            )
    if is_device(target):
        if not os.access(target, os.W_OK):
            raise UsageError("cannot_write", f"{option}: {target} is not writable", **where)
        return target
    if target.is_dir():
        raise UsageError("wrong_file", f"{option}: {target} is a folder; name a file", **where)
    folder = named(target).parent
    link = f", which {target} links to," if target.is_symlink() else ""
    if not folder.is_dir():
        raise UsageError("file_not_found", f"{option}: there is no folder {folder}{link.rstrip(',')}", **where)
    if not os.access(folder, os.W_OK):
        raise UsageError("cannot_write", f"{option}: the folder {folder}{link} is not writable", **where)
    return target


def check_new(path: Path, option: str = "-o") -> None:
    """Refuse a file that exists. Streams and devices are written to as they are."""
    if path.exists() and not is_device(path):
        raise UsageError(
            "file_exists",
            f"{option}: {path} exists; add --force to overwrite it, or name another file",
            option=option,
            path=str(path),
        )


def check_checkpoint(path: str | None, output: Path, inputs: Iterable[str | None] = ()) -> Path:
    """The file for the progress of a fit: the one that was named, or one beside the model.

    It must be neither the model nor one of the inputs, because it is deleted at the end.
    """
    if path is None and is_device(output):
        raise UsageError(
            "required",
            f"-o: {output} is not a regular file; name a file for the progress with --checkpoint",
            option="--checkpoint",
            path=str(output),
        )
    checkpoint = f"{output}.part" if path is None else path
    if is_device(checkpoint):  # it can be neither read again nor deleted
        raise UsageError(
            "wrong_file",
            f"--checkpoint: {checkpoint} is a device or a pipe; name a file",
            option="--checkpoint",
            path=checkpoint,
        )
    if named(checkpoint).resolve() == named(output).resolve():
        raise UsageError(
            "conflicting_settings",
            f"--checkpoint: {checkpoint} is the model file of -o; name another file for the progress",
            option="--checkpoint",
            path=checkpoint,
        )
    return check_writable(checkpoint, "--checkpoint", inputs)


def remove(path: Path) -> None:
    """Delete a file that a command wrote. A symbolic link to it stays."""
    named(path).unlink(missing_ok=True)
