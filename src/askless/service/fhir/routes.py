"""The FHIR endpoints. Stateless: the server keeps nothing of a patient."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request

from askless.service.asking import Terms, begin
from askless.service.bodies import FhirResponse, json_body
from askless.service.errors import Problem, not_found
from askless.service.fhir.description import described
from askless.service.fhir.parsing import read_response
from askless.service.fhir.resources import (
    bundle,
    canonical,
    capability,
    next_response,
    outcome,
    questionnaire,
    versioned,
)
from askless.service.models import Models, ServedModel
from askless.service.settings import Settings

__all__ = ["fhir_problem", "fhir_routes"]

TYPES = ("", "application/fhir+json", "application/json")


def fhir_problem(problem: Problem) -> FhirResponse:
    """The response with an OperationOutcome."""
    return FhirResponse(outcome(problem), problem.status, problem.headers)


def fhir_routes(models: Models, settings: Settings) -> APIRouter:
    """The routes below `/fhir`."""
    router = APIRouter(prefix="/fhir", tags=["FHIR"])
    base = f"{settings.root}/fhir"
    documented = described(models, base)

    @router.get("/metadata", **documented["metadata"])
    async def metadata(request: Request) -> FhirResponse:
        return FhirResponse(capability(base))

    @router.get("/Questionnaire", **documented["search"])
    async def search(request: Request) -> FhirResponse:
        wanted = request.query_params
        found = [questionnaire(model, base) for model in models if _matches(model, base, wanted)]
        used = urlencode([(name, wanted[name]) for name in ("_id", "url", "title", "status") if name in wanted])
        return FhirResponse(bundle(found, base, used))

    @router.get("/Questionnaire/{model}", **documented["read"])
    async def read(request: Request) -> FhirResponse:
        return FhirResponse(questionnaire(models.find(request.path_params["model"]), base))

    @router.post("/Questionnaire/$next-question", **documented["next"])
    async def next_question(request: Request) -> FhirResponse:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
        if kind not in TYPES:
            raise Problem(415, "the content type must be application/fhir+json")
        given = read_response(models, json_body(request))
        interview = begin(given.model, Terms())
        names = given.model.schema.names
        interview.record({names[index]: given.answers.get(index) for index in given.asked})
        return FhirResponse(next_response(given, interview, base))

    @router.get("/{path:path}", include_in_schema=False)
    async def other(request: Request) -> FhirResponse:
        raise not_found("this server has only the resource Questionnaire; GET /fhir/metadata shows its capabilities")

    return router


def _matches(model: ServedModel, base: str, wanted: Any) -> bool:
    """Whether a model's questionnaire matches a search. Unknown parameters are ignored."""
    return (
        wanted.get("_id", model.name) == model.name
        and wanted.get("url") in (None, canonical(model, base), versioned(model, base))
        and model.title.casefold().startswith(wanted.get("title", "").casefold())
        and wanted.get("status", "active") == "active"
    )
