"""Descriptions of features: wording, unit, code and valid range, from a JSON file.

    {"age": {"text": "How old is the patient?", "unit": "a", "loinc": "30525-0", "low": 0, "high": 120}}

The names are those of features or of their parts. `askless fit --features` stores descriptions in the model file;
`askless serve --features` replaces them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from askless.acquisition.numbers import Limits, limits_text, plausible_limits, within
from askless.acquisition.schema import Part
from askless.exceptions import ParameterError
from askless.hints import did_you_mean, nearest
from askless.service.fhir.codes import is_loinc, is_ucum

__all__ = ["Description", "Limits", "Plain", "described", "limits_text", "read_descriptions", "valid_range", "within"]

Plain = Mapping[str, Mapping[str, Any]]
"""Descriptions by name, as JSON holds them."""
LIMITS = ("low", "high")  # the numeric fields of a description


@dataclass(frozen=True)
class Description:
    """The description of a feature or of a part. All fields are optional."""

    text: str | None = None  # the question
    help: str | None = None  # a line below it
    unit: str | None = None  # UCUM
    loinc: str | None = None
    low: float | None = None  # lower numbers are refused
    high: float | None = None  # higher numbers are refused

    @classmethod
    def of(cls, name: str, data: Any) -> Description:
        """The description of the feature `name` from JSON."""
        if not isinstance(data, Mapping):
            raise ParameterError("wrong_type", f"{name!r}: a description must be an object", name=name)
        known = [field.name for field in fields(cls)]
        for key, value in data.items():
            if key not in known:
                raise ParameterError(
                    "unknown_name",
                    f"{name!r}: unknown field {key!r}{did_you_mean(key, known)}",
                    name=key,
                    feature=name,
                    nearest=nearest(key, known),
                    choices=known,
                )
            if not (_is_limit(value) if key in LIMITS else isinstance(value, str) and value.strip()):
                expected = "a finite number" if key in LIMITS else "text"
                raise ParameterError(
                    "wrong_type",
                    f"{name!r}: {key} must be {expected}, not {value!r}",
                    name=key,
                    feature=name,
                    expected=expected,
                )
        values: dict[str, Any] = {key: _plain(value) if key in LIMITS else value for key, value in data.items()}
        made = cls(**values)
        if made.loinc is not None and not is_loinc(made.loinc):
            raise _bad_code(name, "loinc", made.loinc, "is not a LOINC code (the check digit is part of it)")
        if made.unit is not None and not is_ucum(made.unit):
            raise _bad_code(name, "unit", made.unit, "is not a UCUM unit, such as mm[Hg], Cel or /min")
        if made.low is not None and made.high is not None and not made.low < made.high:
            raise ParameterError(
                "out_of_range",
                f"{name!r}: low must be below high, but low is {made.low} and high is {made.high}",
                name="low",
                feature=name,
                low=made.low,
                high=made.high,
            )
        return made


def _bad_code(feature: str, name: str, value: str, words: str) -> ParameterError:
    return ParameterError(
        "invalid_choice", f"{feature!r}: {value!r} {words}", name=name, feature=feature, value=value
    )


def _is_limit(value: Any) -> bool:
    """Whether a value is a number that fits into a float."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer of more than 308 digits
        return False


def _plain(limit: float) -> float:
    """A limit for JSON: very large integers become floats."""
    return limit if abs(limit) < 2**53 else float(limit)


def read_descriptions(path: str, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The checked descriptions in a file. All of them must be of `names`."""
    try:
        with open(path, "rb") as file:
            data = json.load(file)
    except ValueError as error:
        raise ParameterError("unreadable_file", f"{path} is not JSON ({error})", path=path) from None
    if not isinstance(data, dict):
        raise ParameterError(
            "wrong_type", f'{path} must contain an object such as {{"age": {{"unit": "a"}}}}', path=path
        )
    known = set(names)
    for name, each in data.items():
        if name not in known:
            raise ParameterError(
                "unknown_name",
                f"{path}: unknown feature {name!r}{did_you_mean(name, known)}",
                name=name,
                nearest=nearest(name, known),
                path=path,
            )
        try:
            Description.of(name, each)
        except ParameterError as error:
            raise ParameterError(error.code, f"{path}: {error}", **error.fields | {"path": path}) from None
    return data


def described(kept: Plain, given: Plain) -> dict[str, Description]:
    """The descriptions by name. Fields in `given` replace those in `kept`."""
    names = [*kept, *(name for name in given if name not in kept)]
    return {name: Description.of(name, {**kept.get(name, {}), **given.get(name, {})}) for name in names}


def valid_range(part: Part, description: Description) -> Limits:
    """The accepted numbers: the described limits, or else the training range plus its width on both sides.

    Negative numbers are refused if the training data has none. A computed limit is dropped if it contradicts the
    described one or is infinite.
    """
    if part.low is None or part.high is None:
        return description.low, description.high
    bottom = -math.inf if description.low is None else description.low
    top = math.inf if description.high is None else description.high
    low, high = plausible_limits(part.low, part.high)
    if part.low >= 0.0 and low >= top:
        low = 0.0
    return (
        (low if -math.inf < low < top else None) if description.low is None else description.low,
        (high if bottom < high < math.inf else None) if description.high is None else description.high,
    )
