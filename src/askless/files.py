"""Writing files so that a reader sees the old content or the new, never a half."""

import errno
import glob
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["atomic_file", "is_device", "named", "remove_leftovers", "write_atomic"]

OPEN_FILES = re.compile(r"/dev/fd|/proc/[^/]+(/task/[^/]+)?/fd")  # folders of what a process has open, by number
MOST_LINKS = 40  # in a chain, as the kernel counts


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place under `path` in one step when the block ends well.

    A temporary file beside it, fsync, rename, fsync of the folder; if anything fails, the old file stays as it was.
    A link stays one: what it names is replaced. A device, a pipe or an open file such as /dev/stdout, which has no
    place to take, is written to, after what it holds.
    """
    if is_device(path):
        with _open_device(path) as device:
            yield device
        return
    target = named(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    binary = getattr(os, "O_BINARY", 0)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.parent))
    with _errors_name(target):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | binary, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if target.exists():  # who may read it stays as it was
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _errors_name(target):
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # elsewhere a folder cannot be opened, nor needs it
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def is_device(path: str | os.PathLike[str]) -> bool:
    """Whether there is something that is neither a file nor a folder, or that a process has open: /dev/stdout.

    Behind /dev/stdout may be a file, as in `>> log`: it is not ours to replace, but to go on with.
    """
    if _open_file(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _open_device(path: str | os.PathLike[str]) -> IO[bytes]:
    """The device, to write to; of what this process has open its own place in the file, which others share."""
    opened = _open_file(path)
    if opened is None:
        return open(path, "wb")
    if opened.parent in (Path("/dev/fd"), Path(f"/proc/{os.getpid()}/fd")):
        with _errors_name(Path(path)):
            return os.fdopen(os.dup(int(opened.name)), "wb")
    return open(path, "ab")


def _open_file(path: str | os.PathLike[str]) -> Path | None:
    """The first of a chain of links that is a process's open file, by its number; None where none is."""
    step = os.fspath(path)
    for _ in range(MOST_LINKS):
        folder = os.path.realpath(os.path.dirname(step))
        name = os.path.basename(step)
        if name.isdecimal() and OPEN_FILES.fullmatch(folder):
            return Path(folder, name)
        if not os.path.islink(step):
            return None
        step = os.path.join(folder, os.readlink(step))
    return None


def named(path: str | os.PathLike[str]) -> Path:
    """The file itself, if `path` is a link to it."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Delete what writers of `path` left that were killed; only for a file that nobody else is writing."""
    target = named(path)
    for leftover in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        leftover.unlink(missing_ok=True)


@contextmanager
def _errors_name(target: Path) -> Iterator[None]:
    """The temporary file's name was made up here, and tells a caller nothing."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None


def write_atomic(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace `path` by `content` in one step."""
    with atomic_file(path) as file:
        file.write(content)
