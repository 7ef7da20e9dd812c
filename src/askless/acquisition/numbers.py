"""Numbers that users give: what counts as one, and errors that say what it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from askless.exceptions import ParameterError

Limits = tuple[float | None, float | None]
"""The lowest and the highest number that is accepted; None for no limit."""


def is_whole(value: Any) -> bool:
    """Whether it is an integer, and not a boolean.

    >>> is_whole(3), is_whole(np.int64(3)), is_whole(3.0), is_whole(True)
    (True, True, False, False)
    """
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def checked_number(
    value: object, what: str, *, low: float, high: float = np.inf, whole: bool = False, **fields: Any
) -> float:
    """`value` as a number between two limits, or an error that says `what` it is, with these `fields`."""
    number = is_whole(value) or (isinstance(value, (float, np.floating)) and not whole)
    if not number or not low <= value <= high or not np.isfinite(value):  # type: ignore[call-overload,operator]
        kind = "an integer" if whole else "a number"
        limits = f"of at least {low:g}" if high == np.inf else f"between {low:g} and {high:g}"
        fields = {"name": what, "value": value, "low": low, "high": None if high == np.inf else high} | fields
        raise ParameterError("out_of_range", f"{what} is {value!r}; it must be {kind} {limits}", **fields)
    return int(value) if whole else float(value)  # type: ignore[call-overload,arg-type]


def within(number: float, limits: Limits) -> bool:
    """Whether a number is accepted.

    >>> within(3.0, (0.0, None)), within(3.0, (None, 2.0))
    (True, False)
    """
    low, high = limits
    return (low is None or number >= low) and (high is None or number <= high)


def plausible_limits(low: float, high: float) -> tuple[float, float]:
    """Limits for numbers of which training has seen `low` to `high`: that range and its width on either side.

    Where training has seen no negative number, none is plausible.

    >>> plausible_limits(20.0, 90.0)
    (0.0, 160.0)
    """
    width = (high - low) or max(abs(low), 1.0)
    return max(low - width, 0.0) if low >= 0.0 else low - width, high + width


def limits_text(limits: Limits) -> str:
    """What is accepted, for the end of a sentence.

    >>> limits_text((0.0, 120.0))
    'a number from 0 to 120'
    """
    low, high = limits
    return "a number" + ("" if low is None else f" from {low:g}") + ("" if high is None else f" to {high:g}")
