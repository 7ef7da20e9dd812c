"""Calls the handlers of the API directly, without FastAPI's middleware and validation.

Every handler takes the request and returns the response, so FastAPI has nothing to add. FastAPI still describes the
handlers and serves all other paths. This halves the time of a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from askless.exceptions import AsklessError
from askless.service.errors import Problem, problem_of

__all__ = ["Lane"]


class Lane:
    """Serves the routes of the routers and passes other requests on."""

    def __init__(
        self, app: ASGIApp, routers: Iterable[APIRouter], render: Callable[[str, Problem], Response]
    ) -> None:
        self.app, self.render = app, render
        routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
        self._routes: list[tuple[Any, str, APIRoute]] = [
            (route.path_regex.match, method, route) for route in routes for method in route.methods or ()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "http":
            path, method = scope["path"], scope["method"]
            for match, allowed, route in self._routes:
                found = match(path) if method == allowed else None
                if found is not None:
                    scope["path_params"], scope["route"] = found.groupdict(), route
                    response = await self._answer(route, Request(scope, receive))
                    await response(scope, receive, send)
                    return
        await self.app(scope, receive, send)

    async def _answer(self, route: APIRoute, request: Request) -> Response:
        try:
            answer: Response = await route.endpoint(request)
        except AsklessError as error:
            return self.render(request.scope["path"], problem_of(error))
        return answer
