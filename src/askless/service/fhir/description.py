"""The FHIR endpoints in the API's description."""

from __future__ import annotations

from typing import Any

from askless.service.fhir.items import feature_link, part_link
from askless.service.fhir.parsing import STATUSES
from askless.service.models import AskedPart, Models, ServedModel
from askless.service.schemas import ERRORS, array, of_models, record, value_schema

__all__ = ["fhir_operations"]

FHIR = "application/fhir+json"


def _resource(name: str) -> dict[str, Any]:
    return {"type": "object", "required": ["resourceType"], "properties": {"resourceType": {"const": name}}}


def fhir_operations(models: Models, base: str) -> dict[str, dict[str, Any]]:
    """What the description says of each operation, by its name."""
    model: dict[str, Any] = {
        "name": "model", "in": "path", "required": True, "schema": {"enum": [each.name for each in models]},
    }  # fmt: skip
    query = [
        {"name": name, "in": "query", "schema": {"type": "string"}} for name in ("_id", "url", "title", "status")
    ]
    first = next(iter(models))
    example = {
        "resourceType": "QuestionnaireResponse",
        "status": "in-progress",
        "questionnaire": f"{base}/Questionnaire/{first.name}",
    }
    schema = of_models(models, lambda each: _body(each, base))
    body = {"required": True, "content": {FHIR: {"schema": schema, "example": example}}}
    return {
        "fhir_metadata": _operation("What the server can do", "CapabilityStatement"),
        "fhir_search": _operation("Search for questionnaires", "Bundle", parameters=query),
        "fhir_read": _operation("A questionnaire, without items", "Questionnaire", parameters=[model]),
        "fhir_next_question": _operation(
            "The next question of an adaptive questionnaire", "QuestionnaireResponse", requestBody=body
        ),
    }


def _operation(summary: str, resource: str, **more: Any) -> dict[str, Any]:
    failed = {FHIR: {"schema": _resource("OperationOutcome")}}
    responses = {
        "200": {"description": "As asked for.", "content": {FHIR: {"schema": _resource(resource)}}},
        **{
            str(code): {"description": ERRORS[code], "content": failed}
            for code in (401, 403, 404, 413, 415, 422, 429)
        },
    }
    return {"summary": summary, **more, "responses": responses}


def _body(model: ServedModel, base: str) -> dict[str, Any]:
    """A QuestionnaireResponse, by itself or in Parameters, with answers that the model takes."""
    response = record(
        {
            "resourceType": {"const": "QuestionnaireResponse"},
            "status": {"enum": list(STATUSES)},
            "questionnaire": {"const": f"{base}/Questionnaire/{model.name}"},
            "item": array({"anyOf": [_item(model, index) for index in range(len(model.schema))]}),
        },
        optional=("item", "status"),
    )
    parameter = record({"name": {"const": "questionnaire-response"}, "resource": response})
    parameters = record({"resourceType": {"const": "Parameters"}, "parameter": array(parameter, minItems=1)})
    return {"anyOf": [response, parameters]}


def _item(model: ServedModel, index: int) -> dict[str, Any]:
    parts = model.parts[index]
    link: dict[str, Any] = {"const": feature_link(index)}
    if len(parts) == 1:
        return record({"linkId": link, "answer": _answer(parts[0])}, optional=("answer",))
    nested = [
        record({"linkId": {"const": part_link(index, place)}, "answer": _answer(part)}, optional=("answer",))
        for place, part in enumerate(parts)
    ]
    return record({"linkId": link, "item": array({"anyOf": nested})}, optional=("item",))


def _answer(part: AskedPart) -> dict[str, Any]:
    name = {"number": "valueDecimal", "boolean": "valueBoolean", "category": "valueString"}[part.kind]
    schema = value_schema(part)
    if part.kind == "category":
        schema = {"enum": [str(choice) for choice in part.part.choices or ()]}
    return array(record({name: schema}), maxItems=1)
