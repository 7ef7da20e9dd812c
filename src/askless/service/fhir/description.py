"""The OpenAPI description of the FHIR endpoints."""

from __future__ import annotations

from typing import Any

from askless.service.bodies import FhirResponse
from askless.service.fhir.items import feature_link, part_link
from askless.service.fhir.parsing import STATUSES
from askless.service.fhir.resources import canonical, versioned
from askless.service.models import AskedPart, Models, ServedModel
from askless.service.openapi import ERRORS
from askless.service.schemas import TEXT, array, of_models, record, value_schema

__all__ = ["described"]

FHIR = "application/fhir+json"


def _resource(name: str) -> dict[str, Any]:
    return {"type": "object", "required": ["resourceType"], "properties": {"resourceType": {"const": name}}}


def described(models: Models, base: str) -> dict[str, dict[str, Any]]:
    """The arguments of each route's decorator."""
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
        "questionnaire": canonical(first, base),
    }
    schema = of_models(models, lambda each: _body(each, base))
    body = {"required": True, "content": {FHIR: {"schema": schema, "example": example}}}
    return {
        "metadata": _route("fhir_metadata", "The capabilities of the server", "CapabilityStatement"),
        "search": _route("fhir_search", "Search for questionnaires", "Bundle", {"parameters": query}),
        "read": _route("fhir_read", "A questionnaire, without items", "Questionnaire", {"parameters": [model]}),
        "next": _route("fhir_next_question", "The next question of an adaptive questionnaire",
                       "QuestionnaireResponse", {"requestBody": body}),
    }  # fmt: skip


def _route(operation: str, summary: str, resource: str, extra: dict[str, Any] | None = None) -> dict[str, Any]:
    responses: dict[int | str, dict[str, Any]] = {
        code: {"description": ERRORS[code], "content": {FHIR: {"schema": _resource("OperationOutcome")}}}
        for code in (401, 403, 404, 409, 413, 415, 422, 429)
    }
    responses[200] = {"description": "The resource.", "content": {FHIR: {"schema": _resource(resource)}}}
    return {
        "operation_id": operation,
        "summary": summary,
        "responses": responses,
        "openapi_extra": extra or {},
        "response_class": FhirResponse,
        "response_model": None,
    }


def _body(model: ServedModel, base: str) -> dict[str, Any]:
    """A QuestionnaireResponse with valid answers, with or without Parameters around it."""
    start: dict[str, dict[str, Any]] = {
        "resourceType": {"const": "QuestionnaireResponse"},
        "status": {"enum": list(STATUSES)},
        "questionnaire": {"enum": [canonical(model, base), versioned(model, base)]},
    }
    items = _items([_item(model, index) for index in range(len(model.schema))])
    going_on = {**start, "questionnaire": {"const": versioned(model, base)}, "item": items}
    response = {"anyOf": [record(start, optional=("status",)), record(going_on, optional=("status",))]}
    parameter = record({"name": {"const": "questionnaire-response"}, "resource": response})
    one = array(parameter, minItems=1, maxItems=1)
    return {"anyOf": [response, record({"resourceType": {"const": "Parameters"}, "parameter": one})]}


def _item(model: ServedModel, index: int) -> dict[str, Any]:
    parts = model.parts[index]
    name = model.schema.names[index]
    link: dict[str, Any] = {"const": feature_link(name)}
    if len(parts) == 1:
        return record({"linkId": link, "answer": _answer(parts[0])}, optional=("answer",))
    nested = [
        record({"linkId": {"const": part_link(name, part.name)}, "answer": _answer(part)}, optional=("answer",))
        for part in parts
    ]
    return record({"linkId": link, "item": _items(nested)}, optional=("item",))


def _items(each: list[dict[str, Any]]) -> dict[str, Any]:
    """A list of these items, each at most once, and of headings."""
    once = [
        {"contains": {"properties": {"linkId": item["properties"]["linkId"]}}, "minContains": 0, "maxContains": 1}
        for item in each
    ]
    return array({"anyOf": [*each, record({"linkId": TEXT})]}, allOf=once)


def _answer(part: AskedPart) -> dict[str, Any]:
    name = {"number": "valueDecimal", "boolean": "valueBoolean", "category": "valueString"}[part.kind]
    schema = value_schema(part)
    if part.kind == "category":
        schema = {"enum": [str(choice) for choice in part.part.choices or ()]}
    return array(record({name: schema}, optional=(name,)), maxItems=1)  # without a value it is unknown
