"""Features as items of a Questionnaire, and answers as items of a QuestionnaireResponse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from askless.service.fhir.codes import FHIR_CODE, LOINC, UCUM
from askless.service.models import AskedPart, ServedModel

__all__ = ["RESULT", "answer_item", "code_of", "feature_link", "part_link", "question_item", "result_items"]

RESULT = "result"  # the linkId of the group of results
UNIT = "http://hl7.org/fhir/StructureDefinition/questionnaire-unit"
LOWEST = "http://hl7.org/fhir/StructureDefinition/minValue"
HIGHEST = "http://hl7.org/fhir/StructureDefinition/maxValue"

Item = dict[str, Any]


def feature_link(index: int) -> str:
    """The linkId of a feature: its place, from 1 on."""
    return str(index + 1)


def part_link(index: int, place: int) -> str:
    """The linkId of a group's part."""
    return f"{index + 1}.{place + 1}"


def code_of(place: int, choice: Any) -> str:
    """The code of a choice: its text where FHIR allows it as a code, else its place."""
    text = str(choice)
    return text if FHIR_CODE.fullmatch(text) else f"choice-{place + 1}"


def question_item(model: ServedModel, index: int, system: str) -> Item:
    """A feature as an item that asks for it; `system` is that of the choices' codes."""
    feature, parts = model.schema.features[index], model.parts[index]
    code = _coded(model.descriptions[index].loinc)
    if not feature.is_group:
        return {**_part_item(parts[0], feature_link(index), system), "text": model.text(index), **code}
    items = [_part_item(part, part_link(index, place), system) for place, part in enumerate(parts)]
    return {"linkId": feature_link(index), **code, "text": model.text(index), "type": "group", "item": items}


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
    """A feature as an item with its answer; None is no answer."""
    feature, parts = model.schema.features[index], model.parts[index]
    item: Item = {"linkId": feature_link(index), "text": model.text(index)}
    if not feature.is_group:
        return item if answer is None else {**item, "answer": [_value(parts[0], answer, system)]}
    given: Mapping[str, Any] = answer or {}
    nested = []
    for place, part in enumerate(parts):
        each: Item = {"linkId": part_link(index, place), "text": part.text}
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
    """Read-only items that tell the result: the questionnaire's, and the response's with the values."""
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
    rows.append(("reason", "why it ended", "string", {"valueString": reason}))
    rows.append(("cost", "what the questions cost", "decimal", {"valueDecimal": cost}))
    asked = [
        {"linkId": f"{RESULT}.{name}", "text": text, "type": kind, "readOnly": True} for name, text, kind, _ in rows
    ]
    told = [{"linkId": f"{RESULT}.{name}", "text": text, "answer": [value]} for name, text, _, value in rows]
    return (
        [{"linkId": RESULT, "text": "Result", "type": "group", "readOnly": True, "item": asked}],
        [{"linkId": RESULT, "text": "Result", "item": told}],
    )


def _coding(place: int, choice: Any, system: str) -> dict[str, Any]:
    text = "yes" if choice is True else "no" if choice is False else str(choice).strip()
    return {"system": system, "code": code_of(place, choice), "display": text or code_of(place, choice)}


def _coded(loinc: str | None) -> dict[str, Any]:
    return {} if loinc is None else {"code": [{"system": LOINC, "code": loinc}]}
