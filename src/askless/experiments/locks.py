"""One runner at a time for each task, also when several work on the same folder.

The operating system holds the lock while the process lives, so a killed process leaves no stale lock. The file
names the lock and its owner.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path

__all__ = ["Lock", "take_lock"]


class Lock:
    """A lock that is held until `release`, or until the process ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def release(self) -> None:
        """Release the lock. The file is removed first, so that waiting processes notice that it was replaced."""
        with suppress(OSError):  # Windows cannot remove an open file; it stays for the next lock
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def take_lock(path: Path) -> Lock | None:
    """The lock of that name, or None while another process has it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        if not _locked(descriptor):
            os.close(descriptor)
            return None
        if _is(path, descriptor):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            return Lock(path, descriptor)
        os.close(descriptor)  # the owner has removed the file meanwhile


def _locked(descriptor: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _is(path: Path, descriptor: int) -> bool:
    """Whether the path still names the open file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
