"""Checks of hosts, origins, tokens, rates and sizes, and the headers of every response."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askless.service.bodies import BODY
from askless.service.errors import Problem
from askless.service.settings import Settings

__all__ = ["COOKIE", "LARGEST_BODY", "Guard", "RateLimit", "host_name", "session_of", "token_fits", "with_headers"]

LARGEST_BODY = 1_000_000  # bytes
COOKIE = "askless-session"
OPEN = ("/healthz", "/readyz", "/sign-in")  # and the static files
SAFE = ("GET", "HEAD", "OPTIONS")
CLIENTS = 10_000  # addresses whose rate is remembered

HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
NO_STORE = (b"cache-control", b"no-store")

Render = Callable[[str, Problem], Response]
"""Makes a response from a path and a problem."""


class Guard:
    """Middleware that checks each request. It reads the body once and refuses bodies that are too large."""

    def __init__(self, app: ASGIApp, settings: Settings, render: Render) -> None:
        self.app, self.settings, self.render = app, settings, render
        self._names = settings.names
        self._rate = RateLimit(settings.rate_limit)
        self._session = None if settings.token is None else session_of(settings.token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = with_headers(send)
        headers = dict(scope["headers"])
        try:
            self._check(scope, headers)
            scope[BODY] = b"" if scope["method"] in SAFE else await _read(headers, receive)
        except Problem as problem:
            await self.render(scope["path"], problem)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _check(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        if host_name(host) not in self._names:
            raise Problem(
                403,
                "this Host header is not allowed; see the setting ASKLESS_ALLOWED_HOSTS",
                code="host_not_allowed",
            )
        if not self._rate.admits(_client(scope)):
            problem = Problem(429, "too many requests; try again in a moment")
            problem.headers["Retry-After"] = "1"
            raise problem
        if scope["method"] not in SAFE:
            self._check_origin(headers, host)
        path = scope["path"]
        if self._session is not None and path not in OPEN and not path.startswith("/static/"):
            self._check_caller(headers)

    def _check_origin(self, headers: dict[bytes, bytes], host: str) -> None:
        """Refuse writes from pages of other origins, which a browser would send with the user's cookie."""
        origin = headers.get(b"origin")
        if origin is not None and _place(origin.decode("latin-1")) != host.casefold():
            raise Problem(403, "the request comes from a page of another origin", code="origin_not_allowed")
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise Problem(403, "the request comes from a page of another site", code="origin_not_allowed")

    def _check_caller(self, headers: dict[bytes, bytes]) -> None:
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer" and token_fits(given, self.settings.token):
            return
        cookies = dict(part.strip().partition(b"=")[::2] for part in headers.get(b"cookie", b"").split(b";"))
        if token_fits(cookies.get(COOKIE.encode(), b""), self._session):
            return
        problem = Problem(401, "the service needs its token: Authorization: Bearer ...")
        problem.headers["WWW-Authenticate"] = "Bearer"
        raise problem


class RateLimit:
    """Limits the requests per second from one address; bursts may be twice as large."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._clock = per_second, clock
        self._most = max(1.0, 2.0 * per_second)
        self._left: dict[str, tuple[float, float]] = {}  # address: requests left, and when they were counted

    def admits(self, client: str) -> bool:
        """Whether one more request is allowed."""
        if not self._per_second:
            return True
        now = self._clock()
        left, then = self._left.pop(client, (self._most, now))
        left = min(self._most, left + (now - then) * self._per_second)
        admitted = left >= 1.0
        self._left[client] = (left - admitted, now)
        if len(self._left) > CLIENTS:
            del self._left[next(iter(self._left))]  # the least recently seen
        return admitted


def session_of(token: str) -> str:
    """The value of the browser's cookie, derived from the token."""
    return hmac.new(token.encode(), b"askless session", hashlib.sha256).hexdigest()


def token_fits(given: bytes, token: str | None) -> bool:
    """Whether it is the token; compares in constant time."""
    return token is not None and hmac.compare_digest(given, token.encode())


@lru_cache(maxsize=64)  # callers use few hosts
def host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    try:
        parts = urlsplit(f"//{host}")
        return "" if parts.port == 0 or "@" in host else (parts.hostname or "").casefold()
    except ValueError:  # such as a port that is not a number
        return ""


def _place(origin: str) -> str:
    """The host and the port of an origin; empty if it has none."""
    try:
        return urlsplit(origin).netloc.casefold()
    except ValueError:  # such as a bracket that is not closed
        return ""


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


async def _read(headers: dict[bytes, bytes], receive: Receive) -> bytes:
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 20 or int(length) > LARGEST_BODY:
        raise _too_large()
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":  # the client went away
            raise Problem(400, "the body is not complete")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_BODY:
            raise _too_large()
        more = message.get("more_body", False)
    return b"".join(parts)


def _too_large() -> Problem:
    problem = Problem(413, f"the body has more than {LARGEST_BODY:,} bytes")
    problem.headers["Connection"] = "close"
    return problem


def with_headers(send: Send) -> Send:
    """Add the headers to every response."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: list[Any] = list(message.get("headers", ()))
            headers += HEADERS
            if not any(name == b"cache-control" for name, _ in headers):
                headers.append(NO_STORE)
            message = {**message, "headers": headers}
        await send(message)

    return sending
