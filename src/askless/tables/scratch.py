"""Room for arrays that may be larger than memory."""

from __future__ import annotations

import errno
import math
import os
import tempfile
from typing import Any

import numpy as np

from askless.exceptions import ParameterError

__all__ = ["Scratch"]


class Scratch:
    """Makes large arrays: in memory, or in temporary files of a folder.

    A file has no name (or, on Windows, is deleted by the system), so that it is gone with its array, whatever happens
    to the process.

    >>> import tempfile
    >>> room = Scratch(tempfile.gettempdir())
    >>> array = room.empty((2, 3), np.float32)
    >>> array.shape, room.on_disk, Scratch().on_disk
    ((2, 3), True, False)
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        if folder is not None and not os.path.isdir(folder):
            path = os.fspath(folder)
            raise ParameterError(
                "file_not_found", f"scratch: {path!r} is not an existing folder", name="scratch", path=path
            )
        self.folder = folder

    @property
    def on_disk(self) -> bool:
        """Whether the arrays are files: consecutive rows are then much faster to reach than scattered ones."""
        return self.folder is not None

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """An array whose content is yet to be written."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if self.folder is None or size == 0:
            return np.empty(shape, dtype)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            self._reserve(file.fileno(), size)
            return np.memmap(file, dtype, mode="w+", shape=shape)  # keeps the file after it is closed

    def _reserve(self, descriptor: int, size: int) -> None:
        """Let a disk that is too small be an error now; a write to the mapped file would kill the process."""
        if not hasattr(os, "posix_fallocate"):
            return
        try:
            os.posix_fallocate(descriptor, 0, size)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
                raise OSError(
                    error.errno, f"{error.strerror}: {size:,} bytes", os.fspath(self.folder or "")
                ) from None
