"""Reads what a form sends: a QuestionnaireResponse, reduced to the model that it is for, and the answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from askless.encoding.cells import is_unknown, read_boolean
from askless.hints import did_you_mean
from askless.service.answers import checked_answer
from askless.service.errors import Problem, invalid, not_found
from askless.service.fhir.codes import UCUM, is_ucum
from askless.service.fhir.items import code_of, feature_link, is_result, part_link
from askless.service.models import AskedPart, Models, ServedModel

__all__ = ["STATUSES", "Given", "read_response"]

DEEPEST = 20  # levels of nested items
STATUSES = ("in-progress", "completed", "amended", "entered-in-error", "stopped")
ELEMENT = ("id", "extension", "modifierExtension")
RESOURCE = ("resourceType", "id", "meta", "implicitRules", "language", "text", "contained", *ELEMENT)
RESPONSE = (*RESOURCE, "identifier", "basedOn", "partOf", "questionnaire", "status", "subject", "encounter",
            "authored", "author", "source", "item")  # fmt: skip
ITEM = (*ELEMENT, "linkId", "definition", "text", "answer", "item")
VALUES = ("valueDecimal", "valueInteger", "valueBoolean", "valueString", "valueQuantity", "valueCoding")
CANONICAL = re.compile(r"(?:^|/)Questionnaire/([A-Za-z0-9\-.]{1,64})(?:\|(.*))?$")
DIGIT_OR_NOTE = re.compile(r"[\d{]")  # in a unit
ELEMENTS = {  # for the answers to a part, by its kind
    "number": "valueDecimal, valueInteger or valueQuantity",
    "boolean": "valueBoolean, or with yes or no as valueCoding or valueString",
}
WRONG_BODY = "the body must be a Parameters or a QuestionnaireResponse resource"


@dataclass
class Given:
    """The content of a QuestionnaireResponse."""

    model: ServedModel
    response: dict[str, Any]
    asked: list[int] = field(default_factory=list)  # features, in the order of the questionnaire's items
    answers: dict[int, Any] = field(default_factory=dict)  # by feature; asked features without an answer are unknown


def read_response(models: Models, body: Any) -> Given:
    """Read a QuestionnaireResponse, with or without a Parameters resource around it."""
    response = _response_in(body)
    _check_names(response, RESPONSE, "QuestionnaireResponse")
    if response.get("status", STATUSES[0]) not in STATUSES:
        raise invalid(
            f"the status must be one of {', '.join(STATUSES)}", "QuestionnaireResponse.status", code="invalid_choice"
        )
    contained = [each for each in _list(response, "contained") if isinstance(each, dict)]
    forms = [each for each in contained if each.get("resourceType") == "Questionnaire"]
    model = _model(models, response, forms)
    given = Given(model, response)
    found: dict[str, Any] = {}
    for link, answer in _answers(response):
        if link in found:
            raise invalid("two items with answers have the same linkId", _at(link), code="duplicate_name")
        found[link] = answer
    places = _places(model)
    _check_links(model, places, found)
    for index, parts in enumerate(model.parts):
        value = _feature_answer(model, index, parts, found)
        if value is not None:
            given.answers[index] = value
    links = [*(link for form in forms for link in _links(_list(form, "item"))), *found]
    given.asked = list(dict.fromkeys(places[link] for link in links if link in places))
    return given


def _at(link: str) -> str:
    """The place of an item in the request."""
    return f"QuestionnaireResponse.item({_short(link)})"


def _response_in(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise invalid(WRONG_BODY, code="wrong_type")
    if body.get("resourceType") == "QuestionnaireResponse":
        return body
    if body.get("resourceType") != "Parameters":
        raise invalid(WRONG_BODY, "resourceType", code="wrong_type")
    _check_names(body, (*RESOURCE, "parameter"), "Parameters")
    for parameter in _list(body, "parameter"):
        if isinstance(parameter, dict) and parameter.get("name") in ("questionnaire-response", "in"):
            _check_names(parameter, (*ELEMENT, "name", "resource"), "Parameters.parameter")
            resource = parameter.get("resource")
            if isinstance(resource, dict) and resource.get("resourceType") == "QuestionnaireResponse":
                return resource
    raise invalid(
        "the Parameters resource needs a parameter questionnaire-response with a QuestionnaireResponse",
        "Parameters.parameter",
        code="required",
    )


# The model and its version


def _model(models: Models, response: Mapping[str, Any], forms: list[dict[str, Any]]) -> ServedModel:
    """The model whose questionnaire this is a response to, in the version that the response names."""
    names = {model.name for model in models}
    named = list(_named(response, forms))
    model = next((models.find(name) for name, _ in named if name in names), None)
    if model is None:
        if named:
            raise not_found("this server has no such questionnaire; GET /fhir/Questionnaire lists all")
        raise invalid(
            "the response does not name its questionnaire; set derivedFrom in the contained Questionnaire",
            "QuestionnaireResponse.questionnaire",
            code="required",
        )
    versions = {version for name, version in named if name == model.name and version is not None}
    where = "QuestionnaireResponse.contained.derivedFrom"
    if versions - {model.fingerprint}:
        message = "this questionnaire was begun with another version of the model; begin again"
        raise Problem(409, message, where, code="model_changed", expected=model.fingerprint)
    if not versions and any(_list(each, "item") for each in (response, *forms)):
        raise invalid(
            "a response with items must name the version of the questionnaire that it was begun with; "
            "send derivedFrom as the server returned it, or begin again",
            where,
            code="required",
        )
    return model


def _named(response: Mapping[str, Any], forms: list[dict[str, Any]]) -> Iterator[tuple[str, str | None]]:
    """The names of the questionnaires that a response refers to, and their versions if given."""
    urls = [(url, None) for form in forms for url in _as_list(form, "derivedFrom")]
    urls += [(form.get("url"), form.get("version")) for form in forms]
    urls.append((response.get("questionnaire"), None))
    for url, version in urls:
        found = CANONICAL.search(url) if isinstance(url, str) else None
        if found is not None:
            yield found.group(1), found.group(2) or (version if isinstance(version, str) else None)


# Items


def _places(model: ServedModel) -> dict[str, int]:
    """The position of the feature of each linkId."""
    places = {}
    for index, feature in enumerate(model.schema.features):
        places[feature_link(feature.name)] = index
        if feature.is_group:
            places |= {part_link(feature.name, part.name): index for part in feature.parts}
    return places


def _check_links(model: ServedModel, places: Mapping[str, int], found: Iterable[str]) -> None:
    """Refuse answers with other linkIds. If they were ignored, a question would count as unknown."""
    groups = {feature_link(feature.name) for feature in model.schema.features if feature.is_group}
    for link in found:
        if (link not in places or link in groups) and not is_result(link):
            message = "the linkId of an answer does not belong to a question of this questionnaire"
            raise invalid(message, _at(link), code="unknown_name")


def _answers(response: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All linkIds that have an answer, at any level, with the answer."""
    stack = [(item, 0) for item in reversed(_list(response, "item"))]
    while stack:
        item, depth = stack.pop()
        if not isinstance(item, dict):
            raise invalid("an item must be an object", "QuestionnaireResponse.item", code="wrong_type")
        _check_names(item, ITEM, "QuestionnaireResponse.item")
        answers = _list(item, "answer")
        link = item.get("linkId")
        if not isinstance(link, str):
            raise invalid("an item has no linkId", "QuestionnaireResponse.item.linkId", code="required")
        if len(answers) > 1:
            raise invalid("an item has more than one answer", _at(link), code="bad_answer")
        nested = list(_list(item, "item"))
        if answers:
            if not isinstance(answers[0], dict):
                raise invalid("an answer must be an object", _at(link), code="wrong_type")
            nested += _list(answers[0], "item")
            yield link, answers[0]
        if depth >= DEEPEST and nested:
            raise invalid(
                f"items are nested more than {DEEPEST} levels deep", "QuestionnaireResponse.item", code="out_of_range"
            )
        stack += [(each, depth + 1) for each in reversed(nested)]


def _links(items: list[Any], depth: int = 0) -> Iterator[str]:
    """The linkIds of a questionnaire's items."""
    for item in items:
        if isinstance(item, dict):
            link = item.get("linkId")
            if isinstance(link, str):
                yield link
            if depth < DEEPEST:
                yield from _links(_list(item, "item"), depth + 1)


# Values


def _feature_answer(
    model: ServedModel, index: int, parts: tuple[AskedPart, ...], found: Mapping[str, Mapping[str, Any]]
) -> Any:
    """A feature's checked answer; None if it has none."""
    name = model.schema.names[index]
    where = _at(feature_link(name))
    if len(parts) == 1:
        answer = found.get(feature_link(name))
        value = None if answer is None else _value(parts[0], answer, where)
    else:
        links = {part.name: part_link(name, part.name) for part in parts}
        values = {
            part.name: _value(part, found[links[part.name]], where) for part in parts if links[part.name] in found
        }
        value = {part: each for part, each in values.items() if each is not None} or None
    if value is None:
        return None
    try:
        return checked_answer(model, index, value, "")
    except Problem as problem:
        problem.where = where
        raise


def _value(part: AskedPart, answer: Mapping[str, Any], item: str) -> Any:
    """The JSON value of a FHIR answer; None if it has none."""
    where = f"{item}.answer"
    _check_names(answer, (*ELEMENT, "item", *VALUES), where)
    names = [name for name in VALUES if name in answer]
    if len(names) > 1:
        raise invalid("an answer has more than one value", where, code="bad_answer")
    if not names:
        return None
    name = names[0]
    value = answer[name]
    if value is None:
        raise invalid("a value is null; FHIR has no null values", where, code="bad_answer")
    if name == "valueQuantity":
        return _quantity(part, value)
    if name == "valueCoding" and isinstance(value, dict):
        value = _first_given(value, "code", "display")
    return _meant(part, value, name) if name in ("valueCoding", "valueString") else value


def _quantity(part: AskedPart, quantity: Any) -> Any:
    """The number of a quantity, checked to have no unit or the expected one.

    The unit is the quantity's `code`, or else its `unit`. A part without a unit accepts UCUM's 1.
    """
    if not isinstance(quantity, dict):
        return quantity
    if quantity.get("comparator") is not None:
        message = f"{part.name!r} must be a number without a comparator"
        raise invalid(message, "valueQuantity.comparator", code="bad_answer", feature=part.name)
    ours, unit = part.description.unit, _first_given(quantity, "code", "unit")
    if unit is not None and (unit != (ours or "1") or quantity.get("system") not in (None, UCUM)):
        expected = "a number without a unit" if ours is None else f"in {ours}"
        message = f"{part.name!r} must be {expected}{_other_unit(unit)}"
        raise invalid(message, "valueQuantity", code="bad_answer", feature=part.name, expected=ours)
    return quantity.get("value")


def _first_given(element: Mapping[str, Any], *names: str) -> Any:
    """The first of these fields that is present and not null."""
    return next((element[name] for name in names if element.get(name) is not None), None)


def _other_unit(unit: Any) -> str:
    """The given unit, for the end of a message. Text that is no plain unit may be an answer, so it is left out."""
    return f", not in {unit}" if isinstance(unit, str) and is_ucum(unit) and not DIGIT_OR_NOTE.search(unit) else ""


def _meant(part: AskedPart, text: Any, where: str) -> Any:
    """The answer that a code or a text means; None for unknown. `checked_answer` refuses other choices."""
    if not isinstance(text, str):
        return text
    if part.kind == "category":
        return _choice(part, text)
    if is_unknown(text):
        return None
    answer = read_boolean(text) if part.kind == "boolean" else None
    if answer is None:
        expected = ELEMENTS[part.kind]
        message = f"{part.name!r} must be answered with {expected}"
        raise invalid(message, where, code="bad_answer", feature=part.name, expected=expected)
    return answer


def _choice(part: AskedPart, text: str) -> Any:
    """The choice of a code or a text; None for unknown, unless a choice is called so."""
    by_code = {code_of(place, choice): choice for place, choice in enumerate(part.choices.all)}
    place = part.choices.find(text)
    if text not in by_code and place is None:
        return None if is_unknown(text) else text
    return by_code[text] if place is None else by_code.get(text, part.choices.all[place])


# JSON


def _check_names(element: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Refuse elements that FHIR does not define. `_name` holds the extensions of the primitive element `name`."""
    for name in element:
        if name.removeprefix("_") not in known:
            message = f"unknown element {_short(name)!r}{did_you_mean(name, known)}"
            raise invalid(message, where, code="unknown_field", name=_short(name))


def _list(element: Mapping[str, Any], name: str) -> list[Any]:
    """A repeating element."""
    value = element.get(name, [])
    if not isinstance(value, list):
        raise invalid(f"{name} must be a list", name, code="wrong_type", name=name)
    return value


def _as_list(element: Mapping[str, Any], name: str) -> list[Any]:
    """A repeating element; a single value counts as a list of one."""
    value = element.get(name, [])
    return value if isinstance(value, list) else [value]


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
