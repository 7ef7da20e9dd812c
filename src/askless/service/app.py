"""The ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askless.exceptions import AsklessError
from askless.service.api import stateless_routes
from askless.service.bodies import JsonResponse, problem_json
from askless.service.errors import Problem, invalid, problem_of, problem_of_status
from askless.service.fhir.routes import fhir_problem, fhir_routes
from askless.service.interview_api import interview_routes
from askless.service.interviews import Interviews
from askless.service.lane import Lane
from askless.service.logs import Log
from askless.service.metrics import Metrics
from askless.service.models import Models
from askless.service.openapi import Documentation, describe
from askless.service.pages import error_page, page_routes
from askless.service.security import Guard, with_headers
from askless.service.settings import Settings
from askless.service.store import Store

__all__ = ["build_app"]

MACHINES = ("/api/", "/healthz", "/readyz", "/metrics")  # paths for programs; the others are pages
PURGE_EVERY = 3600.0  # seconds


def build_app(models: Models, settings: Settings, log: Log | None = None) -> ASGIApp:
    """An ASGI application that serves the models."""
    log = log or Log()
    metrics = Metrics()
    metrics.models.set(len(models))
    store = Store(settings.keep)
    interviews = Interviews(models, store, metrics, settings.retention_days)

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(_purge(interviews, log))
        try:
            yield
        finally:
            task.cancel()
            store.close()

    app = FastAPI(
        openapi_url="/api/openapi.json", docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=life
    )
    documentation = Documentation(models)
    routers = [
        stateless_routes(models, documentation),
        interview_routes(models, interviews, documentation),
        fhir_routes(models, settings),
        page_routes(models, interviews, settings),
    ]
    for router in routers:
        app.include_router(router)
    _add_status(app, interviews, metrics, documentation)
    describe(app, secured=settings.token is not None)
    _add_handlers(app)
    return Watch(Guard(Lane(app, routers, render), settings, render), metrics, log)


def render(path: str, problem: Problem) -> Response:
    """A problem as FHIR, JSON or a page."""
    if path.startswith("/fhir/"):
        return fhir_problem(problem)
    return problem_json(problem) if path.startswith(MACHINES) else error_page(problem)


def _add_status(app: FastAPI, interviews: Interviews, metrics: Metrics, documentation: Documentation) -> None:
    @app.get("/healthz", tags=["status"], **documentation.of("healthz"))
    async def healthz() -> JsonResponse:
        return JsonResponse({"status": "ok"})

    @app.get("/readyz", tags=["status"], **documentation.of("readyz"))
    async def readyz() -> JsonResponse:
        if not await interviews.works():
            raise Problem(503, "interviews cannot be stored")
        return JsonResponse({"status": "ready"})

    @app.get("/metrics", include_in_schema=False)
    async def read_metrics() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")


def _add_handlers(app: FastAPI) -> None:
    """Render every error in one of the forms of `render`."""

    @app.exception_handler(AsklessError)
    async def on_problem(request: Request, error: AsklessError) -> Response:
        return render(request.url.path, problem_of(error))

    @app.exception_handler(RequestValidationError)
    async def on_validation(request: Request, error: RequestValidationError) -> Response:
        return render(request.url.path, invalid("the address of the request cannot be used", code="bad_request"))

    @app.exception_handler(HTTPException)
    async def on_status(request: Request, error: HTTPException) -> Response:
        problem = problem_of_status(error.status_code)
        problem.headers.update(error.headers or {})
        return render(request.url.path, problem)

    @app.exception_handler(Exception)
    async def on_bug(request: Request, error: Exception) -> Response:
        return render(request.url.path, problem_of_status(500))


class Watch:
    """Counts and logs requests by route, status and time, without their content."""

    def __init__(self, app: ASGIApp, metrics: Metrics, log: Log) -> None:
        self.app, self.metrics, self.log = app, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 0

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except Exception as error:
            self.log.failure(error, route=_route(scope))
            if not status:
                await render(scope["path"], problem_of_status(500))(scope, receive, with_headers(send_and_note))
        finally:
            seconds = time.perf_counter() - start
            route, method = _route(scope), _method(scope)
            self.metrics.observe(method, route, status, seconds)
            self.log.write("request", method=method, route=route, status=status, ms=round(seconds * 1000, 2))


def _route(scope: Scope) -> str:
    """The route's pattern. The path itself may contain an interview's id."""
    return str(getattr(scope.get("route"), "path", "other"))


def _method(scope: Scope) -> str:
    known = ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH")
    return scope["method"] if scope["method"] in known else "other"


async def _purge(interviews: Interviews, log: Log) -> None:
    """Delete old interviews every hour."""
    while True:
        try:
            gone = await interviews.purge()
            if gone:
                log.write("purged", interviews=gone)
        except Problem as problem:
            log.write("purge failed", code=problem.code)
        await asyncio.sleep(PURGE_EVERY)
