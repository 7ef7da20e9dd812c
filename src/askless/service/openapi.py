"""The OpenAPI description: one entry for each route, with examples from the served models."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from askless.service.bodies import JsonResponse
from askless.service.models import AskedPart, Models, ServedModel
from askless.service.schemas import COMPONENTS, next_schema, of_models, record, records_schema, ref, terms_schema
from askless.version import __version__

__all__ = ["ERRORS", "Documentation", "describe"]

ABOUT = """\
askless chooses the next question for each case and predicts from the answers so far.

`POST /api/models/{model}/next` is stateless: send all answers, get the next question. The service stores the
interviews under `/api/interviews`. All errors have the form `{"error": {"status", "code", "message", "where"}}`.
Errors never contain an answer's value."""
ERRORS = {
    401: "The token is missing or wrong.",
    403: "The host or the origin is not allowed.",
    404: "There is no such model or interview.",
    409: "The request does not fit the present state; the code says why.",
    413: "The body has more than 1 MB.",
    415: "The type of the body is not supported.",
    422: "The request cannot be used; code, message and where say why.",
    429: "Too many requests.",
    503: "Interviews cannot be stored at the moment.",
}

INTERVIEW: dict[str, Any] = {
    "name": "interview",
    "in": "path",
    "required": True,
    "description": "The id that creating the interview returned.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{32}$"},
}


def example_value(part: AskedPart) -> Any:
    """A value that a part accepts."""
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


class Documentation:
    """The descriptions of all routes."""

    def __init__(self, models: Models) -> None:
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
        named = {
            "question": {
                "type": "string",
                "description": "The name of the question; 409 if it is not the current one.",
            }
        }
        value = {"description": "A value; for a group an object with the values of the known parts."}
        self._routes: dict[str, dict[str, Any]] = {
            "models": _route("list_models", "The models, their features and their training", "Models"),
            "model": _route("read_model", "One model", "Model", errors=(404,), path=model),
            "next": _route(
                "next_question", "The next question after some answers; stateless", "Standing", (404, 409),
                body=of_models(models, next_schema), example={"answers": answers}, path=model,
            ),
            "predict": _route(
                "predict", "Predictions of partial records", "Predictions", (404,),
                body=of_models(models, records_schema), example={"records": [answers, {}]}, path=model,
            ),
            "create": _route(
                "create_interview", "Begin a stored interview", "Interview", (404, 503), status=201,
                body=of_models(models, terms_schema), example=terms, path=model,
            ),
            "read": _route(
                "read_interview", "The state of an interview", "Interview", (404, 409, 503), path=INTERVIEW,
            ),
            "delete": _route("delete_interview", "Delete an interview", None, (404, 503), status=204, path=INTERVIEW),
            "answer": _route(
                "answer", "Answer the question", "Interview", (404, 409, 503),
                body=record({"value": value, **named}, optional=named),
                example={"value": answers[name], "question": name}, path=INTERVIEW,
            ),
            "tell": _route(
                "tell", "Add an answer that was not asked for, or correct one", "Interview", (404, 409, 503),
                body=record({"feature": {"type": "string"}, "value": value}),
                example={"feature": name, "value": answers[name]}, path=INTERVIEW,
            ),
            **{
                action: _route(
                    action, summary, "Interview", (404, 409, 503), body=record(named, optional=named), example={},
                    path=INTERVIEW,
                )
                for action, summary in (
                    ("unknown", "The answer is unknown; the question is not asked again"),
                    ("later", "Postpone the question until no other is left"),
                )
            },
            "undo": _route("undo", "Undo the last change", "Interview", (404, 409, 503), path=INTERVIEW),
            "healthz": _route("healthz", "Whether the process is running", "Status", checked=False),
            "readyz": _route("readyz", "Whether interviews can be stored", "Status", (503,), checked=False),
        }  # fmt: skip

    def of(self, route: str) -> dict[str, Any]:
        """The arguments of a route's decorator."""
        return self._routes[route]


def _route(
    operation: str,
    summary: str,
    result: str | None,
    errors: tuple[int, ...] = (),
    *,
    status: int = 200,
    body: dict[str, Any] | None = None,
    example: Any = None,
    path: dict[str, Any] | None = None,
    checked: bool = True,
) -> dict[str, Any]:
    every = {*errors, 403, 429, *((401,) if checked else ()), *((413, 422) if body is not None else ()), 422}
    responses: dict[int | str, dict[str, Any]] = {
        code: {"description": ERRORS[code], "content": {"application/json": {"schema": ref("Error")}}}
        for code in sorted(every)
    }
    content = {} if result is None else {"content": {"application/json": {"schema": ref(result)}}}
    responses[status] = {"description": "Done." if result is None else "Success.", **content}
    extra: dict[str, Any] = {} if path is None else {"parameters": [path]}
    if body is not None:
        media = {"schema": body, "example": example}
        extra["requestBody"] = {"required": True, "content": {"application/json": media}}
    return {
        "operation_id": operation,
        "summary": summary,
        "responses": responses,
        "openapi_extra": extra,
        "response_class": JsonResponse,
        "status_code": status,
        "response_model": None,
    }


def describe(app: FastAPI, components: dict[str, Any] | None = None, secured: bool = False) -> None:
    """Add our components to the app's description."""

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title="askless", version=__version__, description=ABOUT, routes=app.routes)
            schema["components"] = {"schemas": COMPONENTS | (components or {})}
            if secured:
                schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
                schema["security"] = [{"token": []}]
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]
