"""Features as items of a Questionnaire, and answers as items of a QuestionnaireResponse.

A linkId is made from names, never from positions, so it means the same in every version of a model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from askless.service.fhir.codes import FHIR_CODE, LOINC, UCUM
from askless.service.models import AskedPart, ServedModel

__all__ = [
    "RESULT",
    "answer_item",
    "code_of",
    "feature_link",
    "is_result",
    "part_link",
    "question_item",
    "result_items",
]

RESULT = "result"  # the linkId of the group of results
UNIT = "http://hl7.org/fhir/StructureDefinition/questionnaire-unit"
LOWEST = "http://hl7.org/fhir/StructureDefinition/minValue"
HIGHEST = "http://hl7.org/fhir/StructureDefinition/maxValue"

ENCODED = re.compile(r"[%/\x00-\x1f\x7f-\x9f]|[^\S ]|^ +| +$")

Item = dict[str, Any]


def feature_link(feature: str) -> str:
    """The linkId of a feature: its name. Some characters are percent-encoded.

    >>> feature_link("blood pressure"), feature_link("kg/m2"), feature_link("result")
    ('blood pressure', 'kg%2Fm2', '%72esult')
    """
    link = _encoded(feature)
    return f"%72{link[1:]}" if is_result(link) else link


def part_link(feature: str, part: str) -> str:
    """The linkId of a part of a group.

    >>> part_link("blood pressure", "systolic")
    'blood pressure/systolic'
    """
    return f"{feature_link(feature)}/{_encoded(part)}"


def is_result(link: str) -> bool:
    """Whether a linkId is that of the group of results, or of an item in it."""
    return link.partition(".")[0] == RESULT


def _encoded(name: str) -> str:
    """A name without the separator of linkIds, and without what software may trim or change."""
    return ENCODED.sub(lambda found: quote(found.group(), safe=""), name)


def code_of(place: int, choice: Any) -> str:
    """The code of a choice: its text if FHIR allows it as a code, otherwise its position."""
    text = str(choice)
    return text if FHIR_CODE.fullmatch(text) else f"choice-{place + 1}"


def question_item(model: ServedModel, index: int, system: str) -> Item:
    """The item that asks for a feature. `system` is the code system of the choices."""
    feature, parts = model.schema.features[index], model.parts[index]
    code = _coded(model.descriptions[index].loinc)
    if not feature.is_group:
        return {**_part_item(parts[0], feature_link(feature.name), system), "text": model.text(index), **code}
    items = [_part_item(part, part_link(feature.name, part.name), system) for part in parts]
    return {"linkId": feature_link(feature.name), **code, "text": model.text(index), "type": "group", "item": items}


def _part_item(part: AskedPart, link: str, system: str) -> Item:
    item: Item = {"linkId": link, **_coded(part.description.loinc), "text": part.text}
    if part.kind == "boolean":
        return {**item, "type": "boolean"}
    if part.kind == "category":
        options = [
            {"valueCoding": _coding(place, choice, system)} for place, choice in enumerate(part.part.choices or ())
        ]
        return {**item, "type": "choice", "answerOption": options}
    extensions: list[dict[str, Any]] = []
    unit = part.description.unit
    if unit is not None:
        extensions.append({"url": UNIT, "valueCoding": {"system": UCUM, "code": unit, "display": unit}})
    low, high = part.valid
    extensions += [
        {"url": url, "valueDecimal": limit} for url, limit in ((LOWEST, low), (HIGHEST, high)) if limit is not None
    ]
    return {**({"extension": extensions} if extensions else {}), **item, "type": "decimal"}


def answer_item(model: ServedModel, index: int, answer: Any, system: str) -> Item:
    """The item with a feature's answer; None stands for no answer."""
    feature, parts = model.schema.features[index], model.parts[index]
    item: Item = {"linkId": feature_link(feature.name), "text": model.text(index)}
    if not feature.is_group:
        return item if answer is None else {**item, "answer": [_value(parts[0], answer, system)]}
    given: Mapping[str, Any] = answer or {}
    nested = []
    for part in parts:
        each: Item = {"linkId": part_link(feature.name, part.name), "text": part.text}
        if part.name in given:
            each["answer"] = [_value(part, given[part.name], system)]
        nested.append(each)
    return {**item, "item": nested}


def _value(part: AskedPart, value: Any, system: str) -> dict[str, Any]:
    if part.kind == "boolean":
        return {"valueBoolean": value}
    if part.kind == "category":
        choices = list(part.part.choices or ())
        return {"valueCoding": _coding(choices.index(value), value, system)}
    return {"valueDecimal": value}


def result_items(
    model: ServedModel, prediction: Mapping[str, float], reason: str, cost: float
) -> tuple[list[Item], list[Item]]:
    """The read-only items of the result: those of the questionnaire, and those of the response with the values."""
    rows: list[tuple[str, str, str, dict[str, Any]]] = []
    if model.fitted.classes:
        best = max(prediction, key=lambda label: prediction[label])
        rows.append(("prediction", model.target or "prediction", "string", {"valueString": best}))
        rows += [
            (f"probability.{place + 1}", f"probability of {label}", "decimal", {"valueDecimal": round(value, 6)})
            for place, (label, value) in enumerate(prediction.items())
        ]
    else:
        target = model.target or "prediction"
        rows.append(("mean", target, "decimal", {"valueDecimal": prediction["mean"]}))
        if "sd" in prediction:
            rows.append(("sd", f"standard deviation of {target}", "decimal", {"valueDecimal": prediction["sd"]}))
    rows.append(("reason", "reason for stopping", "string", {"valueString": reason}))
    rows.append(("cost", "total cost of the questions", "decimal", {"valueDecimal": cost}))
    asked = [
        {"linkId": f"{RESULT}.{name}", "text": text, "type": kind, "readOnly": True} for name, text, kind, _ in rows
    ]
    answered = [{"linkId": f"{RESULT}.{name}", "text": text, "answer": [value]} for name, text, _, value in rows]
    return (
        [{"linkId": RESULT, "text": "Result", "type": "group", "readOnly": True, "item": asked}],
        [{"linkId": RESULT, "text": "Result", "item": answered}],
    )


def _coding(place: int, choice: Any, system: str) -> dict[str, Any]:
    text = "yes" if choice is True else "no" if choice is False else str(choice).strip()
    return {"system": system, "code": code_of(place, choice), "display": text or code_of(place, choice)}


def _coded(loinc: str | None) -> dict[str, Any]:
    return {} if loinc is None else {"code": [{"system": LOINC, "code": loinc}]}
