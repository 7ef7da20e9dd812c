"""The data home, which is the folder of downloaded data sets, and errors about its files."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from askless.exceptions import AsklessError

__all__ = ["DatasetDamaged", "DatasetNotFound", "absent", "data_home", "first_present", "read_checked"]


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


def read_checked(path: Path, sha256: str) -> bytes:
    """The content of a file, checked by its SHA-256."""
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise DatasetDamaged(
            "damaged_file",
            f"{path} is damaged or another version: its SHA-256 is {found}, not {sha256}; "
            "delete it and download it again",
            path=str(path),
            value=found,
            expected=sha256,
        )
    return content
