"""What the core needs beyond the array API standard, written once for numpy, torch and every other namespace."""

from functools import lru_cache
from typing import Any

import array_api_compat
import numpy as np
from array_api_compat import device

__all__ = [
    "Array",
    "array_namespace",
    "cached_zeros",
    "constant_like",
    "device",
    "one_hot",
    "take_columns",
    "to_numpy",
]

Array = Any
"""An array of any library that follows the array API standard."""


STANDARD = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # this numpy follows the standard by itself


def array_namespace(*arrays: Array) -> Any:
    """The functions for these arrays, by the names of the standard.

    numpy's own where they will do: array-api-compat's take as long to load as numpy itself.
    """
    if STANDARD and all(isinstance(array, np.ndarray) for array in arrays):
        return np
    return array_api_compat.array_namespace(*arrays)


def constant_like(values: Any, like: Array, dtype: Any = None) -> Array:
    """`values` (a sequence or a numpy array) as an array of the library and on the device of `like`."""
    return array_namespace(like).asarray(values, dtype=dtype, device=device(like))


def one_hot(index: Array, width: int) -> Array:
    """(n,) indices to an (n, width) boolean array; a negative index gives a row of False."""
    xp = array_namespace(index)
    positions = xp.arange(width, dtype=index.dtype, device=device(index))
    return index[:, None] == positions[None, :]


def take_columns(array: Array, index: Array) -> Array:
    """Column `index[i]` of row i of an (n, m) array, as (n,)."""
    if isinstance(array, np.ndarray):
        return array[np.arange(len(index)), index]
    xp = array_namespace(array)
    return xp.take_along_axis(array, index[:, None], axis=1)[:, 0]


@lru_cache(maxsize=16)
def cached_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Zeros, read-only: numpy compares two arrays several times faster than an array with a number."""
    zeros = np.zeros(shape, dtype)
    zeros.flags.writeable = False
    return zeros


def to_numpy(array: Array) -> np.ndarray:
    """Any array as numpy, from whatever library and device."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "detach"):
        array = array.detach().cpu()
    result: np.ndarray[Any, Any] = np.from_dlpack(array)
    return result
