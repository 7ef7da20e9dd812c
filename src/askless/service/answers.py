"""Checks of answers from outside against the schema. No message ever contains the value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from askless.encoding.cells import read_boolean, typed
from askless.hints import did_you_mean, listed, nearest
from askless.service.descriptions import limits_text, within
from askless.service.errors import Problem, invalid
from askless.service.models import AskedPart, ServedModel

__all__ = ["accepts", "checked_answer", "checked_answers", "notes", "respelled", "unusual_parts", "value_of_text"]

LONGEST_NAME = 60  # characters of a wrong name that a message shows


def checked_answers(model: ServedModel, data: Any, where: str) -> dict[str, Any]:
    """A mapping from features to JSON values, checked."""
    if not isinstance(data, dict):
        raise invalid(f"{where} must be an object of answers by feature", where, code="wrong_type", name=where)
    return {
        name: checked_answer(model, model.index(name, where), value, f"{where}.{name}")
        for name, value in data.items()
    }


def checked_answer(model: ServedModel, index: int, value: Any, where: str) -> Any:
    """The checked answer of one feature. A group has a mapping with its known parts."""
    feature, parts = model.schema.features[index], model.parts[index]
    if not feature.is_group:
        return _checked(parts[0], value, where)
    names = [part.name for part in parts]
    if not isinstance(value, Mapping):
        raise _bad_answer(feature.name, f"takes an object with {listed(names)}", where)
    for name in value:
        if name not in names:
            raise invalid(
                f"{feature.name!r} has no part {str(name)[:LONGEST_NAME]!r}{did_you_mean(name, names)}",
                where,
                code="unknown_name",
                name=str(name)[:LONGEST_NAME],
                nearest=nearest(name, names),
                choices=names,
            )
    if not value:
        raise _bad_answer(feature.name, "needs a value for at least one part; send it as `unknown` otherwise", where)
    return {
        part.name: _checked(part, value[part.name], f"{where}.{part.name}") for part in parts if part.name in value
    }


def _bad_answer(name: str, expected: str, where: str) -> Problem:
    return invalid(f"{name!r} {expected}", where, code="bad_answer", name=name, expected=expected)


def accepts(part: AskedPart) -> str:
    """The accepted values of a part, for the end of a sentence."""
    if part.kind == "number":
        return limits_text(part.valid)
    return "true or false" if part.kind == "boolean" else f"one of {listed(part.part.choices or ())}"


def _checked(part: AskedPart, value: Any, where: str) -> Any:
    """A JSON value that the encoder accepts; choices are spelled as in training."""
    if part.kind == "category" and isinstance(value, str):
        value = _as_spelled(part, value)
    if not _FITS[part.kind](part, value):
        hint = "; send an unknown answer as `unknown`, or leave it out" if value is None else _not_text(part, value)
        raise _bad_answer(part.name, f"takes {accepts(part)}{hint}", where)
    return value


def _as_spelled(part: AskedPart, word: str) -> str:
    """The choice that a word means, if the choices are text; otherwise the word itself."""
    place = part.choices.find(word)
    choice = word if place is None else part.choices.all[place]
    return choice if isinstance(choice, str) else word


def _not_text(part: AskedPart, value: Any) -> str:
    """A hint for a string sent instead of a JSON number or boolean; empty for other values."""
    if not isinstance(value, str):
        return ""
    types = {_json_type(choice) for choice in part.part.choices or ()}  # one type for all choices of a category
    if part.kind == "number" or types == {float}:
        return "; it must be a JSON number, not text"
    return "; it must be a JSON boolean, not text" if part.kind == "boolean" or types == {bool} else ""


def _is_number(part: AskedPart, value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and within(value, part.valid)


def _is_boolean(part: AskedPart, value: Any) -> bool:
    return isinstance(value, bool)


def _is_choice(part: AskedPart, value: Any) -> bool:
    return any(_json_type(choice) == _json_type(value) and choice == value for choice in part.part.choices or ())


def _json_type(value: Any) -> type | None:
    """Text, number or boolean. True equals 1 in Python but not in JSON."""
    return float if type(value) in (int, float) else type(value) if isinstance(value, (str, bool)) else None


_FITS: dict[str, Callable[[AskedPart, Any], bool]] = {
    "number": _is_number,
    "boolean": _is_boolean,
    "category": _is_choice,
}


def value_of_text(part: AskedPart, text: str, where: str) -> Any:
    """The number or boolean that a form field means. A decimal comma is allowed."""
    if part.kind != "number":
        return _checked(part, read_boolean(text), where)
    number = typed(text.strip())
    if number is not None and math.isfinite(number) and number.is_integer() and abs(number) < 2**53:
        return _checked(part, int(number), where)
    return _checked(part, number, where)


def unusual_parts(model: ServedModel, name: str, answer: Any) -> list[AskedPart]:
    """The parts of a feature whose accepted numbers are outside the range of the training data."""
    return [
        part
        for part in model.parts[model.schema.index(name)]
        if part.kind == "number" and part.unusual(answer.get(part.name) if isinstance(answer, Mapping) else answer)
    ]


def notes(model: ServedModel, answers: Mapping[str, Any]) -> list[str]:
    """Remarks on accepted numbers that are outside the range of the training data."""
    return [
        f"{part.name!r} is outside the range of the training data ({part.part.low:g} to {part.part.high:g})"
        for name, answer in answers.items()
        for part in unusual_parts(model, name, answer)
    ]


def respelled(given: Mapping[str, Any], checked: Mapping[str, Any]) -> list[str]:
    """Remarks on words that were read as a choice in other capitals. They show the choice, not the word."""
    remarks = []
    for name, answer in checked.items():
        if isinstance(answer, Mapping):
            remarks += respelled(given[name], answer)
        elif isinstance(answer, str) and given[name].strip() != answer.strip():
            remarks.append(f"{name!r} is read as the choice {answer!r}")
    return remarks
