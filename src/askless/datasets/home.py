"""Where data sets that do not come with askless lie, and what is wrong when they do not."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from askless.exceptions import AsklessError

__all__ = ["DatasetDamaged", "DatasetNotFound", "absent", "data_home", "first_present", "read_checked"]


class DatasetNotFound(AsklessError, FileNotFoundError):
    """A data set's file is not in the data home; the message says where to get it and where to put it."""


class DatasetDamaged(AsklessError):
    """A data set's file does not hold what it should."""


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
    return named if named.is_absolute() else Path.home() / ".local" / "share"  # the XDG rule: ignore relative paths


def first_present(*files: str) -> Path | None:
    """The first of these files, named below the data home, that is there."""
    paths = (data_home() / file for file in files)
    return next((path for path in paths if path.is_file()), None)


def absent(name: str, what: str, file: str) -> DatasetNotFound:
    """The error for a data set that is not there: `what` to fetch from where, and the `file` to put it at."""
    return DatasetNotFound(
        f"the data set {name!r} is not in the data home {data_home()}. {what} at {data_home() / file}; another data "
        "home can be named by the environment variable ASKLESS_DATA"
    )


def read_checked(path: Path, sha256: str) -> bytes:
    """The file's bytes, once their SHA-256 is the expected one."""
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise DatasetDamaged(
            f"{path} is damaged or another version: its SHA-256 is {found}, not {sha256}; "
            "delete it and fetch it again"
        )
    return content
