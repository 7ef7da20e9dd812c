"""Answers from outside, checked against the schema once. No message ever repeats the value that was wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from askless.encoding.cells import typed
from askless.hints import did_you_mean, listed
from askless.service.descriptions import limits_text, within
from askless.service.errors import invalid
from askless.service.models import AskedPart, ServedModel

__all__ = ["accepts", "checked_answer", "checked_answers", "notes", "respelled", "value_of_text"]

YES, NO = ("true", "yes", "y", "1"), ("false", "no", "n", "0")


def checked_answers(model: ServedModel, data: Any, where: str) -> dict[str, Any]:
    """A mapping from features to JSON values, all of them usable."""
    if not isinstance(data, dict):
        raise invalid(f"{where} must be an object of answers by feature", where)
    return {
        name: checked_answer(model, model.index(name, where), value, f"{where}.{name}")
        for name, value in data.items()
    }


def checked_answer(model: ServedModel, index: int, value: Any, where: str) -> Any:
    """One feature's answer; for a group the parts that are known."""
    feature, parts = model.schema.features[index], model.parts[index]
    if not feature.is_group:
        return _checked(parts[0], value, where)
    names = [part.name for part in parts]
    if not isinstance(value, Mapping):
        raise invalid(f"{feature.name!r} is answered by an object with {listed(names)}", where)
    for name in value:
        if name not in names:
            raise invalid(f"{feature.name!r} has no part {str(name)[:60]!r}{did_you_mean(name, names)}", where)
    if not value:
        raise invalid(f"{feature.name!r}: no part has a value; it is unknown", where)
    return {
        part.name: _checked(part, value[part.name], f"{where}.{part.name}") for part in parts if part.name in value
    }


def accepts(part: AskedPart) -> str:
    """What a part takes, for the end of a sentence."""
    if part.kind == "number":
        return limits_text(part.valid)
    return "true or false" if part.kind == "boolean" else f"one of {listed(part.part.choices or ())}"


def _checked(part: AskedPart, value: Any, where: str) -> Any:
    """A JSON value that the encoder will take; a choice as training has spelled it."""
    if part.kind == "category" and isinstance(value, str):
        value = _as_spelled(part, value)
    if not _FITS[part.kind](part, value):
        hint = "; what cannot be had is `unknown`, or left out" if value is None else _not_text(part, value)
        raise invalid(f"{part.name!r} takes {accepts(part)}{hint}", where)
    return value


def _as_spelled(part: AskedPart, word: str) -> str:
    """The choice that a word means, if that is text, too; what fits none is left for the check to refuse."""
    place = part.choices.find(word)
    choice = word if place is None else part.choices.all[place]
    return choice if isinstance(choice, str) else word


def _not_text(part: AskedPart, value: Any) -> str:
    """That text was sent where JSON has a type of its own; empty where this is not what is wrong."""
    if not isinstance(value, str):
        return ""
    sorts = {_sort(choice) for choice in part.part.choices or ()}  # a category's; all of them are of one
    if part.kind == "number" or sorts == {float}:
        return "; it must be a JSON number, not text"
    return "; it must be a JSON boolean, not text" if part.kind == "boolean" or sorts == {bool} else ""


def _is_number(part: AskedPart, value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and within(value, part.valid)


def _is_boolean(part: AskedPart, value: Any) -> bool:
    return isinstance(value, bool)


def _is_choice(part: AskedPart, value: Any) -> bool:
    return any(_sort(choice) == _sort(value) and choice == value for choice in part.part.choices or ())


def _sort(value: Any) -> type | None:
    """Text, number or boolean: in Python, but not in JSON, True equals 1."""
    return float if type(value) in (int, float) else type(value) if isinstance(value, (str, bool)) else None


_FITS: dict[str, Callable[[AskedPart, Any], bool]] = {
    "number": _is_number,
    "boolean": _is_boolean,
    "category": _is_choice,
}


def value_of_text(part: AskedPart, text: str, where: str) -> Any:
    """What a form's field for a number or a boolean means; a decimal comma is a point."""
    text = text.strip()
    value: Any
    if part.kind == "number":
        number = typed(text)
        whole = number is not None and math.isfinite(number) and number.is_integer() and abs(number) < 2**53
        value = int(number) if whole and number is not None else number
    else:
        value = {**dict.fromkeys(YES, True), **dict.fromkeys(NO, False)}.get(text.casefold())
    return _checked(part, value, where)


def notes(model: ServedModel, name: str, answer: Any) -> list[str]:
    """Remarks on a feature's values that are accepted, but beyond what training has seen."""
    return [
        f"{part.name!r} is beyond what training has seen ({part.part.low:g} to {part.part.high:g})"
        for part in model.parts[model.schema.index(name)]
        if part.kind == "number" and part.unusual(answer.get(part.name) if isinstance(answer, Mapping) else answer)
    ]


def respelled(given: Mapping[str, Any], checked: Mapping[str, Any]) -> list[str]:
    """Remarks on words that were read as a choice in other capitals; the word itself is not repeated."""
    remarks = []
    for name, answer in checked.items():
        if isinstance(answer, Mapping):
            remarks += respelled(given[name], answer)
        elif isinstance(answer, str) and given[name].strip() != answer.strip():
            remarks.append(f"{name!r} is read as the choice {answer!r}")
    return remarks
