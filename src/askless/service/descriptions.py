"""What a person should read beside a feature's name: wording, unit, code and valid range, from a JSON file.

    {"age": {"text": "How old is the patient?", "unit": "a", "loinc": "30525-0", "low": 0, "high": 120}}

Names are those of features or of their parts. A fit may keep them in the model's file, and the service may be given
others, which win.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from askless.core.schema import Part
from askless.hints import did_you_mean
from askless.service.fhir.codes import is_loinc, is_ucum

__all__ = ["Description", "Limits", "Plain", "described", "limits_text", "read_descriptions", "valid_range", "within"]

Plain = Mapping[str, Mapping[str, Any]]
"""Descriptions by name, as JSON holds them."""
Limits = tuple[float | None, float | None]
"""The lowest and the highest number that is accepted; None for no limit."""
LIMITS = ("low", "high")  # the fields of a description that are numbers


@dataclass(frozen=True)
class Description:
    """All of it is optional."""

    text: str | None = None  # the question
    help: str | None = None  # a line below it
    unit: str | None = None  # UCUM
    loinc: str | None = None
    low: float | None = None  # a number below or above is refused
    high: float | None = None

    @classmethod
    def of(cls, name: str, data: Any) -> Description:
        """The description that JSON holds; the error names the feature."""
        if not isinstance(data, Mapping):
            raise ValueError(f"{name!r}: a description is an object")
        known = [field.name for field in fields(cls)]
        for key, value in data.items():
            if key not in known:
                raise ValueError(f"{name!r}: there is no {key!r}{did_you_mean(key, known)}")
            if not (_is_limit(value) if key in LIMITS else isinstance(value, str) and value.strip()):
                raise ValueError(f"{name!r}: {key} is {value!r}")
        values: dict[str, Any] = {key: _plain(value) if key in LIMITS else value for key, value in data.items()}
        made = cls(**values)
        if made.loinc is not None and not is_loinc(made.loinc):
            raise ValueError(f"{name!r}: {made.loinc!r} is no LOINC code (its check digit is part of it)")
        if made.unit is not None and not is_ucum(made.unit):
            raise ValueError(f"{name!r}: {made.unit!r} is no UCUM unit, such as mm[Hg], Cel or /min")
        if made.low is not None and made.high is not None and not made.low < made.high:
            raise ValueError(f"{name!r}: low is {made.low}, which is not below high, {made.high}")
        return made


def _is_limit(value: Any) -> bool:
    """Whether a value is a number that a float can hold."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer of more than 308 digits
        return False


def _plain(limit: float) -> float:
    """A limit that JSON can carry: a larger whole number than 64 bits hold is a float."""
    return limit if abs(limit) < 2**53 else float(limit)


def read_descriptions(path: str, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The descriptions in a file, checked; all must be of known `names`."""
    try:
        with open(path, "rb") as file:
            data = json.load(file)
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error})") from None
    if not isinstance(data, dict):
        raise ValueError(f'{path} must hold an object such as {{"age": {{"unit": "a"}}}}')
    known = set(names)
    for name, each in data.items():
        if name not in known:
            raise ValueError(f"{path}: there is no feature {name!r}{did_you_mean(name, known)}")
        try:
            Description.of(name, each)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    return data


def described(kept: Plain, given: Plain) -> dict[str, Description]:
    """What is said of each feature: of what a model keeps, and what is given beside it, the latter wins."""
    names = [*kept, *(name for name in given if name not in kept)]
    return {name: Description.of(name, {**kept.get(name, {}), **given.get(name, {})}) for name in names}


def within(number: float, limits: Limits) -> bool:
    """Whether a number is accepted."""
    low, high = limits
    return (low is None or number >= low) and (high is None or number <= high)


def limits_text(limits: Limits) -> str:
    """What is accepted, for the end of a sentence."""
    low, high = limits
    return "a number" + ("" if low is None else f" from {low:g}") + ("" if high is None else f" to {high:g}")


def valid_range(part: Part, description: Description) -> Limits:
    """The numbers that are accepted: as described, else the training range and its width once more on either side.

    Where training has seen no negative number, none is accepted. A limit that would leave nothing beside the one that
    is described, or that no number can pass, is none.
    """
    if part.low is None or part.high is None:
        return description.low, description.high
    bottom = -math.inf if description.low is None else description.low
    top = math.inf if description.high is None else description.high
    width = (part.high - part.low) or max(abs(part.low), 1.0)
    low, high = part.low - width, part.high + width
    if part.low >= 0.0:
        low = max(low, 0.0) if low < top else 0.0
    return (
        (low if -math.inf < low < top else None) if description.low is None else description.low,
        (high if bottom < high < math.inf else None) if description.high is None else description.high,
    )
