"""Where commands write."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["check_writable"]


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
