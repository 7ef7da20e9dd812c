"""Which handler answers a request: the first route whose method and path fit."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from askless.service.errors import Problem, problem_of_status

__all__ = ["Handler", "Render", "Route", "Router", "Routes"]

Handler = Callable[[Request], Awaitable[Response]]
Render = Callable[[str, Problem], Response]
"""An answer that tells a problem, fit for the path."""

PLACE = re.compile(r"\{(\w+)(:rest)?\}")


@dataclass(frozen=True)
class Route:
    """A method and a pattern of paths: `{name}` is what stands between slashes, `{name:rest}` all that follows."""

    method: str
    path: str
    answer: Handler
    operation: str | None = None  # its name in the API's description; None where programs do not call
    tag: str | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """What a path has to look like."""
        texts = PLACE.split(self.path)  # text, name, rest or None, text, ...
        pattern = re.escape(texts[0])
        for name, rest, text in zip(texts[1::3], texts[2::3], texts[3::3], strict=True):
            pattern += f"(?P<{name}>{'.*' if rest else '[^/]+'})" + re.escape(text)
        return re.compile(pattern, re.DOTALL)


class Routes:
    """Routes that begin alike; its methods are decorators of handlers."""

    def __init__(self, prefix: str = "", tag: str | None = None) -> None:
        self._prefix, self._tag = prefix, tag
        self.all: list[Route] = []

    def get(self, path: str, operation: str | None = None) -> Callable[[Handler], Handler]:
        """A handler that reads."""
        return self._adding("GET", path, operation)

    def post(self, path: str, operation: str | None = None) -> Callable[[Handler], Handler]:
        """A handler that takes a body."""
        return self._adding("POST", path, operation)

    def delete(self, path: str, operation: str | None = None) -> Callable[[Handler], Handler]:
        """A handler that deletes."""
        return self._adding("DELETE", path, operation)

    def _adding(self, method: str, path: str, operation: str | None) -> Callable[[Handler], Handler]:
        def add(answer: Handler) -> Handler:
            self.all.append(Route(method, self._prefix + path, answer, operation, self._tag))
            return answer

        return add


class Router:
    """The application: every request to its handler, every problem to an answer."""

    def __init__(self, routes: Iterable[Route], render: Render) -> None:
        self.render = render
        self._routes = [(route.pattern.fullmatch, route) for route in routes]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        try:
            response = await self._found(scope).answer(Request(scope, receive))
        except Problem as problem:
            response = self.render(scope["path"], problem)
        await response(scope, receive, send)

    def _found(self, scope: Scope) -> Route:
        """The route, which the scope is told."""
        path, method = scope["path"], scope["method"]
        for match, route in self._routes:
            found = match(path) if route.method == method else None
            if found is not None:
                scope["path_params"], scope["route"] = found.groupdict(), route
                return route
        others = [route for match, route in self._routes if match(path)]
        if not others:
            raise problem_of_status(404)
        scope["route"] = others[0]
        problem = problem_of_status(405)
        problem.headers["Allow"] = ", ".join(dict.fromkeys(route.method for route in others))
        raise problem
