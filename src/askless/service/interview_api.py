"""The API of stored interviews."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from askless.service.asking import TERMS, read_terms
from askless.service.bodies import JsonResponse, checked_fields, json_body
from askless.service.errors import invalid
from askless.service.interviews import Interviews
from askless.service.models import Models
from askless.service.openapi import Documentation
from askless.service.store import Event

__all__ = ["interview_routes"]


def interview_routes(models: Models, interviews: Interviews, documentation: Documentation) -> APIRouter:
    """The routes that create, read, change and delete interviews."""
    router = APIRouter(prefix="/api", tags=["interviews"])

    @router.post("/models/{model}/interviews", **documentation.of("create"))
    async def create(request: Request) -> JsonResponse:
        served = models.find(request.path_params["model"])
        data = checked_fields(json_body(request, empty=b"{}"), TERMS)
        live = await interviews.create(served, read_terms(served, data))
        return JsonResponse(live.to_json(), 201)

    @router.get("/interviews/{interview}", **documentation.of("read"))
    async def read(request: Request) -> JsonResponse:
        return JsonResponse((await interviews.find(_id(request))).to_json())

    @router.delete("/interviews/{interview}", **documentation.of("delete"))
    async def delete(request: Request) -> Response:
        await interviews.delete(_id(request))
        return Response(status_code=204)

    @router.post("/interviews/{interview}/answer", **documentation.of("answer"))
    async def answer(request: Request) -> JsonResponse:
        data = checked_fields(json_body(request), ("value", "question"), required=("value",))
        live = await interviews.change(_id(request), Event("answer", _named(data), data["value"]))
        return JsonResponse(live.to_json())

    @router.post("/interviews/{interview}/tell", **documentation.of("tell"))
    async def tell(request: Request) -> JsonResponse:
        data = checked_fields(json_body(request), ("feature", "value"), required=("feature", "value"))
        live = await interviews.change(_id(request), Event("tell", _named(data, "feature"), data["value"]))
        return JsonResponse(live.to_json())

    async def without_value(action: str, request: Request) -> JsonResponse:
        data = checked_fields(json_body(request, empty=b"{}"), ("question",))
        return JsonResponse((await interviews.change(_id(request), Event(action, _named(data)))).to_json())

    @router.post("/interviews/{interview}/unknown", **documentation.of("unknown"))
    async def unknown(request: Request) -> JsonResponse:
        return await without_value("unknown", request)

    @router.post("/interviews/{interview}/later", **documentation.of("later"))
    async def later(request: Request) -> JsonResponse:
        return await without_value("later", request)

    @router.post("/interviews/{interview}/undo", **documentation.of("undo"))
    async def undo(request: Request) -> JsonResponse:
        return JsonResponse((await interviews.change(_id(request), Event("undo"))).to_json())

    return router


def _id(request: Request) -> str:
    return str(request.path_params["interview"])


def _named(data: dict[str, Any], field: str = "question") -> str | None:
    name = data.get(field)
    if field in data and not isinstance(name, str):
        raise invalid(f"{field} must be text", field, code="wrong_type", name=field)
    return name
