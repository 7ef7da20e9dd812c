"""The bodies of requests and responses."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import JSONResponse

from askless.hints import did_you_mean, listed, nearest
from askless.service.errors import Problem, invalid

__all__ = ["BODY", "FhirResponse", "JsonResponse", "body_of", "checked_fields", "json_body", "problem_json"]

BODY = "askless.body"  # the key of the scope under which the guard stores the body


class JsonResponse(JSONResponse):
    """JSON, rendered by orjson."""

    def render(self, content: Any) -> bytes:
        """The content as bytes."""
        return orjson.dumps(content)


class FhirResponse(JsonResponse):
    """A FHIR resource."""

    media_type = "application/fhir+json"


def body_of(request: Request) -> bytes:
    """The request's body, read by the guard."""
    body: bytes = request.scope[BODY]
    return body


def json_body(request: Request, empty: bytes = b"") -> Any:
    """The parsed body. `empty` replaces a body without any bytes."""
    try:
        return orjson.loads(body_of(request) or empty)
    except orjson.JSONDecodeError:
        raise invalid("the body is not JSON (NaN and Infinity are not JSON either)", code="bad_json") from None


def checked_fields(data: Any, known: Collection[str], required: Collection[str] = ()) -> dict[str, Any]:
    """The object, if all its fields are known and no required one is missing."""
    if not isinstance(data, dict):
        raise invalid(f"the body must be a JSON object with {listed(known)}", code="wrong_type")
    for name in data:
        if name not in known:
            raise invalid(
                f"unknown field {name[:60]!r}{did_you_mean(name, known)}; the fields are {listed(known)}",
                code="unknown_field",
                name=name[:60],
                nearest=nearest(name, known),
                choices=list(known),
            )
    for name in required:
        if name not in data:
            raise invalid(f"the field {name!r} is missing", name, code="required", name=name)
    return data


def problem_json(problem: Problem) -> JsonResponse:
    """An error as a JSON response."""
    return JsonResponse(problem.to_json(), problem.status, problem.headers)
