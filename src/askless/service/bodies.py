"""Requests' bodies and answers' bodies."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import JSONResponse

from askless.hints import did_you_mean, listed
from askless.service.errors import Problem, invalid

__all__ = ["BODY", "FhirResponse", "JsonResponse", "body_of", "checked_fields", "json_body", "problem_json"]

BODY = "askless.body"  # where the guard leaves a request's body in its scope


class JsonResponse(JSONResponse):
    """JSON, written quickly; never kept by anybody on the way."""

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return orjson.dumps(content)


class FhirResponse(JsonResponse):
    """A FHIR resource."""

    media_type = "application/fhir+json"


def body_of(request: Request) -> bytes:
    """The request's body, which the guard has read."""
    body: bytes = request.scope[BODY]
    return body


def json_body(request: Request, empty: bytes = b"") -> Any:
    """What a body says; NaN and infinities are no JSON. `empty` stands for a body of no bytes."""
    try:
        return orjson.loads(body_of(request) or empty)
    except orjson.JSONDecodeError:
        raise invalid("the body is not JSON; NaN and infinities are none") from None


def checked_fields(data: Any, known: Collection[str], required: Collection[str] = ()) -> dict[str, Any]:
    """An object that has no fields but the known ones, and the required ones."""
    if not isinstance(data, dict):
        raise invalid(f"the body must be a JSON object with {listed(known)}")
    for name in data:
        if name not in known:
            raise invalid(f"there is no field {name[:60]!r}{did_you_mean(name, known)}; it takes {listed(known)}")
    for name in required:
        if name not in data:
            raise invalid(f"the field {name!r} is missing", name)
    return data


def problem_json(problem: Problem) -> JsonResponse:
    """The canonical error, as an answer."""
    return JsonResponse(problem.to_json(), problem.status, problem.headers)
