"""The API's description (OpenAPI 3.1): one entry for each operation, with examples from the served models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from askless.service.fhir.description import fhir_operations
from askless.service.fhir.routes import fhir_base
from askless.service.models import AskedPart, Models, ServedModel
from askless.service.routing import Route
from askless.service.schemas import (
    COMPONENTS,
    ERRORS,
    next_schema,
    of_models,
    record,
    records_schema,
    ref,
    terms_schema,
)
from askless.service.settings import Settings
from askless.version import __version__

__all__ = ["document"]

Operation = dict[str, Any]

ABOUT = """\
Ask less, know enough: the next best question for each case, and a prediction from the answers so far.

`POST /api/models/{model}/next` is stateless: send all answers, get the next question. Interviews under
`/api/interviews` are kept by the service. Errors have one shape, `{"error": {"status", "code", "message", "where"}}`,
and never repeat an answer."""

INTERVIEW: dict[str, Any] = {
    "name": "interview",
    "in": "path",
    "required": True,
    "description": "What the interview's creation returned.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{32}$"},
}


def example_value(part: AskedPart) -> Any:
    """A value that a part takes."""
    if part.kind == "boolean":
        return True
    if part.kind == "category":
        return (part.part.choices or (None,))[0]
    low, high = part.part.low or 0.0, part.part.high or 0.0
    middle = round((low + high) / 2, 1)
    return int(middle) if middle.is_integer() else middle


def example_answers(model: ServedModel, most: int = 2) -> dict[str, Any]:
    """Answers to the first features."""
    answers = {}
    for feature, parts in list(zip(model.schema.features, model.parts, strict=True))[:most]:
        values = {part.name: example_value(part) for part in parts}
        answers[feature.name] = values if feature.is_group else values[parts[0].name]
    return answers


def document(models: Models, settings: Settings, routes: Iterable[Route]) -> dict[str, Any]:
    """The description of the routes that have one."""
    known = operations(models) | fhir_operations(models, fhir_base(settings))
    paths: dict[str, dict[str, Operation]] = {}
    for route in routes:
        if route.operation is not None:
            said = {"tags": [route.tag], "operationId": route.operation, **known[route.operation]}
            paths.setdefault(route.path, {})[route.method.lower()] = said
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "askless", "version": __version__, "description": ABOUT},
        "paths": paths,
        "components": {"schemas": COMPONENTS},
    }
    if settings.token is not None:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


def operations(models: Models) -> dict[str, Operation]:
    """What the description says of each operation, by its name."""
    model: dict[str, Any] = {
        "name": "model",
        "in": "path",
        "required": True,
        "description": "The name of the model's file.",
        "schema": {"enum": [each.name for each in models]},
    }
    first = next(iter(models))
    answers = example_answers(first)
    name = first.schema.features[0].name
    terms = {"known": answers, "stopping": {"max_features": 3}}
    named = {"question": {"type": "string", "description": "The question that is meant; 409 if it is another."}}
    value = {"description": "A value; for a group an object with a value for each part that is known."}
    return {
        "list_models": _operation("The models, their features and how they were made", "Models"),
        "read_model": _operation("One model", "Model", errors=(404,), path=model),
        "next_question": _operation(
            "The next question after some answers; nothing is kept", "Standing", (404,),
            body=of_models(models, next_schema), example={"answers": answers}, path=model,
        ),
        "predict": _operation(
            "Predictions of partial records", "Predictions", (404,),
            body=of_models(models, records_schema), example={"records": [answers, {}]}, path=model,
        ),
        "create_interview": _operation(
            "Begin an interview that is kept", "Interview", (404,), status=201,
            body=of_models(models, terms_schema), example=terms, path=model,
        ),
        "read_interview": _operation("Where an interview stands", "Interview", (404, 409), path=INTERVIEW),
        "delete_interview": _operation("Delete an interview", None, (404,), status=204, path=INTERVIEW),
        "answer": _operation(
            "Answer the question", "Interview", (404, 409),
            body=record({"value": value, **named}, optional=named),
            example={"value": answers[name], "question": name}, path=INTERVIEW,
        ),
        "tell": _operation(
            "Say something that was not asked, or correct an answer", "Interview", (404, 409),
            body=record({"feature": {"type": "string"}, "value": value}),
            example={"feature": name, "value": answers[name]}, path=INTERVIEW,
        ),
        **{
            action: _operation(
                summary, "Interview", (404, 409), body=record(named, optional=named), example={}, path=INTERVIEW
            )
            for action, summary in (
                ("unknown", "The answer cannot be had: it is not asked again"),
                ("later", "Postpone the question until nothing else is left"),
            )
        },
        "undo": _operation("Take the last change back", "Interview", (404, 409), path=INTERVIEW),
        "healthz": _operation("Whether the process runs", "Status", checked=False),
        "readyz": _operation("Whether it can answer", "Status", (503,), checked=False),
    }  # fmt: skip


def _operation(
    summary: str,
    result: str | None,
    errors: tuple[int, ...] = (),
    *,
    status: int = 200,
    body: dict[str, Any] | None = None,
    example: Any = None,
    path: dict[str, Any] | None = None,
    checked: bool = True,
) -> Operation:
    every = {*errors, 403, 422, 429, *((401,) if checked else ()), *((413,) if body is not None else ())}
    failed = {"application/json": {"schema": ref("Error")}}
    content = {} if result is None else {"content": {"application/json": {"schema": ref(result)}}}
    said: Operation = {
        "summary": summary,
        "responses": {
            str(status): {"description": "Done." if result is None else "As asked for.", **content},
            **{str(code): {"description": ERRORS[code], "content": failed} for code in sorted(every)},
        },
    }
    if path is not None:
        said["parameters"] = [path]
    if body is not None:
        media = {"schema": body, "example": example}
        said["requestBody"] = {"required": True, "content": {"application/json": media}}
    return said
