"""The whole service, put together."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askless.service.api import stateless_routes
from askless.service.bodies import JsonResponse, problem_json
from askless.service.errors import Problem, problem_of_status
from askless.service.fhir.routes import fhir_problem, fhir_routes
from askless.service.interview_api import interview_routes
from askless.service.interviews import Interviews
from askless.service.life import Life
from askless.service.logs import Log
from askless.service.metrics import Metrics
from askless.service.models import Models
from askless.service.openapi import document
from askless.service.pages import error_page, page_routes
from askless.service.routing import Route, Router, Routes
from askless.service.security import Guard, with_headers
from askless.service.settings import Settings
from askless.service.store import Store

__all__ = ["build_app"]

MACHINES = ("/api/", "/healthz", "/readyz", "/metrics")  # where programs call; a person reads the rest
PURGE_EVERY = 3600.0  # seconds


def build_app(models: Models, settings: Settings, log: Log | None = None) -> ASGIApp:
    """An ASGI application that serves the models."""
    log = log or Log()
    metrics = Metrics()
    metrics.models.set(len(models))
    store = Store(settings.keep)
    interviews = Interviews(models, store, metrics, settings.retention_days)

    @contextlib.asynccontextmanager
    async def purging() -> AsyncIterator[None]:
        task = asyncio.create_task(_purge(interviews, log))
        try:
            yield
        finally:
            task.cancel()
            store.close()

    parts = [
        stateless_routes(models),
        interview_routes(models, interviews),
        fhir_routes(models, settings),
        page_routes(models, interviews, settings),
        status_routes(interviews, metrics),
    ]
    routes = [route for part in parts for route in part.all]
    routes += description_routes(models, settings, routes).all
    return Life(Watch(Guard(Router(routes, render), settings, render), metrics, log), purging)


def render(path: str, problem: Problem) -> Response:
    """A problem, in the language of whoever asked."""
    if path.startswith("/fhir/"):
        return fhir_problem(problem)
    return problem_json(problem) if path.startswith(MACHINES) else error_page(problem)


def status_routes(interviews: Interviews, metrics: Metrics) -> Routes:
    """Whether the service is well."""
    routes = Routes(tag="status")

    @routes.get("/healthz", "healthz")
    async def healthz(request: Request) -> JsonResponse:
        return JsonResponse({"status": "ok"})

    @routes.get("/readyz", "readyz")
    async def readyz(request: Request) -> JsonResponse:
        if not await interviews.works():
            raise Problem(503, "interviews cannot be kept")
        return JsonResponse({"status": "ready"})

    @routes.get("/metrics")
    async def read_metrics(request: Request) -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    return routes


def description_routes(models: Models, settings: Settings, described: Sequence[Route]) -> Routes:
    """The API's description, which is written when somebody first wants to read it."""
    routes = Routes()
    written = cache(lambda: document(models, settings, described))

    @routes.get("/api/openapi.json")
    async def openapi(request: Request) -> JsonResponse:
        return JsonResponse(written())

    return routes


class Watch:
    """Counts and logs requests: their route, status and time, and nothing of what they hold."""

    def __init__(self, app: ASGIApp, metrics: Metrics, log: Log) -> None:
        self.app, self.metrics, self.log = app, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        start = time.perf_counter()
        status = 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except Exception as error:
            self.log.failure(error, route=_route(scope))
            if not status:
                await render(scope["path"], problem_of_status(500))(scope, receive, with_headers(noting))
        finally:
            seconds = time.perf_counter() - start
            route, method = _route(scope), _method(scope)
            self.metrics.saw(method, route, status, seconds)
            self.log.write("request", method=method, route=route, status=status, ms=round(seconds * 1000, 2))


def _route(scope: Scope) -> str:
    """The route's pattern: the path itself may name an interview."""
    return str(getattr(scope.get("route"), "path", "other"))


def _method(scope: Scope) -> str:
    known = ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH")
    return scope["method"] if scope["method"] in known else "other"


async def _purge(interviews: Interviews, log: Log) -> None:
    """Keep no interview longer than the retention allows."""
    while True:
        try:
            gone = await interviews.purge()
            if gone:
                log.write("purged", interviews=gone)
        except Problem as problem:
            log.write("purge failed", status=problem.status)
        await asyncio.sleep(PURGE_EVERY)
