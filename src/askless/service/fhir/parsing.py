"""What a form sends: a QuestionnaireResponse, read leniently, and reduced to the answers we understand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from askless.hints import did_you_mean
from askless.service.answers import checked_answer
from askless.service.errors import Problem, invalid, not_found
from askless.service.fhir.codes import UCUM, is_ucum
from askless.service.fhir.items import RESULT, code_of, feature_link, part_link
from askless.service.models import AskedPart, Models, ServedModel

__all__ = ["Given", "read_response"]

DEEPEST = 20  # items within items
STATUSES = ("in-progress", "completed", "amended", "entered-in-error", "stopped")
ELEMENT = ("id", "extension", "modifierExtension")
RESOURCE = ("resourceType", "id", "meta", "implicitRules", "language", "text", "contained", *ELEMENT)
RESPONSE = (*RESOURCE, "identifier", "basedOn", "partOf", "questionnaire", "status", "subject", "encounter",
            "authored", "author", "source", "item")  # fmt: skip
ITEM = (*ELEMENT, "linkId", "definition", "text", "answer", "item")
VALUES = ("valueDecimal", "valueInteger", "valueBoolean", "valueString", "valueQuantity", "valueCoding")
CANONICAL = re.compile(r"(?:^|/)Questionnaire/([A-Za-z0-9\-.]{1,64})(?:\|.*)?$")
DIGIT_OR_NOTE = re.compile(r"[\d{]")  # in a unit


@dataclass
class Given:
    """What a QuestionnaireResponse says."""

    model: ServedModel
    response: dict[str, Any]
    asked: list[int] = field(default_factory=list)  # features, in the order of the questionnaire's items
    answers: dict[int, Any] = field(default_factory=dict)  # by feature; what was asked and is not here is unknown


def read_response(models: Models, body: Any) -> Given:
    """The response in a Parameters resource or by itself, and the model it is for."""
    response = _response_in(body)
    _check_names(response, RESPONSE, "QuestionnaireResponse")
    if response.get("status", STATUSES[0]) not in STATUSES:
        raise invalid("the status is none that a response can have", "QuestionnaireResponse.status")
    contained = [each for each in _list(response, "contained") if isinstance(each, dict)]
    forms = [each for each in contained if each.get("resourceType") == "Questionnaire"]
    model = _model(models, response, forms)
    given = Given(model, response)
    found: dict[str, Any] = {}
    for link, answer in _answers(response):
        if link in found:
            where = f"QuestionnaireResponse.item({_short(link)})"
            raise invalid("two items with answers have the same linkId", where)
        found[link] = answer
    _check_links(model, found)
    for index, parts in enumerate(model.parts):
        value = _feature_answer(model, index, parts, found)
        if value is not None:
            given.answers[index] = value
    links = [*(link for form in forms for link in _links(_list(form, "item"))), *found]
    place = {link.partition(".")[0]: i for i, link in reversed(list(enumerate(links)))}
    every = range(len(model.schema))
    answered = [index for index in every if feature_link(index) in place or index in given.answers]
    given.asked = sorted(answered, key=lambda index: place.get(feature_link(index), len(links)))
    return given


def _check_links(model: ServedModel, found: Iterable[str]) -> None:
    """Refuse an answer to what is no question of the model: leaving it out would make it an unknown one."""
    ours = {feature_link(index) for index, parts in enumerate(model.parts) if len(parts) == 1}
    for index, parts in enumerate(model.parts):  # a group is answered part by part
        ours |= {part_link(index, place) for place in range(len(parts)) if len(parts) > 1}
    for link in found:
        if link not in ours and link.partition(".")[0] != RESULT:
            where = f"QuestionnaireResponse.item({_short(link)})"
            raise invalid("an answer has a linkId that is none of this questionnaire's", where)


def _response_in(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise invalid("the body must be a Parameters or a QuestionnaireResponse resource")
    if body.get("resourceType") == "QuestionnaireResponse":
        return body
    if body.get("resourceType") != "Parameters":
        raise invalid("the body must be a Parameters or a QuestionnaireResponse resource", "resourceType")
    _check_names(body, (*RESOURCE, "parameter"), "Parameters")
    for parameter in _list(body, "parameter"):
        if isinstance(parameter, dict) and parameter.get("name") in ("questionnaire-response", "in"):
            _check_names(parameter, (*ELEMENT, "name", "resource"), "Parameters.parameter")
            resource = parameter.get("resource")
            if isinstance(resource, dict) and resource.get("resourceType") == "QuestionnaireResponse":
                return resource
    raise invalid("there is no parameter questionnaire-response with a QuestionnaireResponse", "Parameters.parameter")


def _model(models: Models, response: Mapping[str, Any], forms: list[dict[str, Any]]) -> ServedModel:
    """The model whose questionnaire this is a response to: derivedFrom, or a url, or the response's own reference."""
    places = [url for form in forms for url in _leniently(form, "derivedFrom")]
    places += [form.get("url") for form in forms]
    places.append(response.get("questionnaire"))
    known = {model.name for model in models}
    mentioned = False
    for url in places:
        found = CANONICAL.search(url) if isinstance(url, str) else None
        if found is not None:
            mentioned = True
            if found.group(1) in known:
                return models.find(found.group(1))
    if mentioned:
        raise not_found("the questionnaire is none of this server's; GET /fhir/Questionnaire lists them")
    where = "QuestionnaireResponse.questionnaire"
    raise invalid("neither derivedFrom of the contained Questionnaire nor questionnaire says which one it is", where)


def _answers(response: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every linkId with its first answer, at any depth."""
    stack = [(item, 0) for item in reversed(_list(response, "item"))]
    while stack:
        item, depth = stack.pop()
        if not isinstance(item, dict):
            raise invalid("an item is not an object", "QuestionnaireResponse.item")
        _check_names(item, ITEM, "QuestionnaireResponse.item")
        answers = _list(item, "answer")
        link = item.get("linkId")
        if not isinstance(link, str):
            raise invalid("an item has no linkId", "QuestionnaireResponse.item.linkId")
        if len(answers) > 1:
            raise invalid("an item has more than one answer", f"QuestionnaireResponse.item({_short(link)})")
        nested = list(_list(item, "item"))
        if answers:
            if not isinstance(answers[0], dict):
                raise invalid("an answer is not an object", f"QuestionnaireResponse.item({_short(link)})")
            nested += _list(answers[0], "item")
            yield link, answers[0]
        if depth >= DEEPEST and nested:
            raise invalid("items are nested too deeply", "QuestionnaireResponse.item")
        stack += [(each, depth + 1) for each in reversed(nested)]


def _links(items: list[Any], depth: int = 0) -> Iterator[str]:
    for item in items:
        if isinstance(item, dict):
            link = item.get("linkId")
            if isinstance(link, str) and link != RESULT:
                yield link
            if depth < DEEPEST:
                yield from _links(_list(item, "item"), depth + 1)


def _feature_answer(
    model: ServedModel, index: int, parts: tuple[AskedPart, ...], found: Mapping[str, Mapping[str, Any]]
) -> Any:
    if len(parts) == 1:
        answer = found.get(feature_link(index))
        value = None if answer is None else _value(model, index, 0, answer)
    else:
        links = [(place, part, part_link(index, place)) for place, part in enumerate(parts)]
        values = {part.name: _value(model, index, place, found[link]) for place, part, link in links if link in found}
        value = {name: each for name, each in values.items() if each is not None} or None
    if value is None:
        return None
    try:
        return checked_answer(model, index, value, "")
    except Problem as problem:
        problem.where = f"QuestionnaireResponse.item({feature_link(index)})"
        raise


def _value(model: ServedModel, index: int, place: int, answer: Mapping[str, Any]) -> Any:
    """The JSON value that a FHIR answer means; None where it has none."""
    part = model.parts[index][place]
    where = f"QuestionnaireResponse.item({feature_link(index)}).answer"
    _check_names(answer, (*ELEMENT, "item", *VALUES), where)
    names = [name for name in VALUES if name in answer]
    if len(names) > 1:
        raise invalid("an answer has more than one value", where)
    if not names:
        return None
    name = names[0]
    value = answer[name]
    if value is None:
        raise invalid("a value is null, which FHIR does not know", where)
    if name == "valueQuantity":
        return _quantity(part, value)
    if name == "valueCoding":
        return _choice(part, _first_given(value, "code", "display") if isinstance(value, dict) else None)
    if name == "valueString" and part.kind == "category":
        return _choice(part, value)
    return value


def _quantity(part: AskedPart, quantity: Any) -> Any:
    """A quantity's number, if its unit is ours or none; by its code, or where it has none by how it is written.

    Where the model describes no unit, the only one that fits is UCUM's 1.
    """
    if not isinstance(quantity, dict):
        return quantity
    if quantity.get("comparator") is not None:
        raise invalid(f"{part.name!r} takes a number, not a bound", "valueQuantity.comparator")
    ours, unit = part.description.unit, _first_given(quantity, "code", "unit")
    if unit is not None and (unit != (ours or "1") or quantity.get("system") not in (None, UCUM)):
        expected = "as a number without a unit" if ours is None else f"in {ours}"
        raise invalid(f"{part.name!r} is expected {expected}{_other_unit(unit)}", "valueQuantity")
    return quantity.get("value")


def _first_given(element: Mapping[str, Any], *names: str) -> Any:
    """The first of some elements that has a value: null is none, as if it were left out."""
    return next((element[name] for name in names if element.get(name) is not None), None)


def _other_unit(unit: Any) -> str:
    """The unit that was given, for the end of a sentence; other text may be an answer, which is never repeated."""
    return f", not in {unit}" if isinstance(unit, str) and is_ucum(unit) and not DIGIT_OR_NOTE.search(unit) else ""


def _choice(part: AskedPart, code: Any) -> Any:
    """The choice that a code or a text means; what fits none is left for the check to refuse."""
    if part.kind == "boolean":
        return {"true": True, "false": False, "Y": True, "N": False}.get(code) if isinstance(code, str) else code
    if not isinstance(code, str):
        return code
    by_code = {code_of(place, choice): choice for place, choice in enumerate(part.choices.all)}
    place = part.choices.find(code)
    return by_code.get(code, code if place is None else part.choices.all[place])


def _check_names(element: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Only what FHIR defines; a name with an underscore carries extensions of a plain value."""
    for name in element:
        if name.removeprefix("_") not in known:
            raise invalid(f"there is no element {_short(name)!r}{did_you_mean(name, known)}", where)


def _list(element: Mapping[str, Any], name: str) -> list[Any]:
    """An element that repeats."""
    value = element.get(name, [])
    if not isinstance(value, list):
        raise invalid(f"{name} must be a list", name)
    return value


def _leniently(element: Mapping[str, Any], name: str) -> list[Any]:
    """An element that repeats, where a single value is taken for a list of one."""
    value = element.get(name, [])
    return value if isinstance(value, list) else [value]


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
