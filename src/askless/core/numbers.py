"""Numbers that users give: what counts as one, and errors that say what it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from askless.exceptions import ParameterError

__all__ = ["checked_number", "is_whole"]


def is_whole(value: Any) -> bool:
    """Whether it is an integer, and not a boolean.

    >>> is_whole(3), is_whole(np.int64(3)), is_whole(3.0), is_whole(True)
    (True, True, False, False)
    """
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def checked_number(value: object, what: str, *, low: float, high: float = np.inf, whole: bool = False) -> float:
    """`value` as a number between two limits, or an error that says what it is."""
    number = is_whole(value) or (isinstance(value, (float, np.floating)) and not whole)
    if not number or not low <= value <= high or not np.isfinite(value):  # type: ignore[call-overload,operator]
        kind = "an integer" if whole else "a number"
        limits = f"of at least {low:g}" if high == np.inf else f"between {low:g} and {high:g}"
        raise ParameterError(f"{what} is {value!r}; it must be {kind} {limits}")
    return int(value) if whole else float(value)  # type: ignore[call-overload,arg-type]
