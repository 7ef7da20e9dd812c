"""What runs beside the requests, from the server's start to its end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Life"]


class Life:
    """Keeps a context open while the server runs, and hands requests on."""

    def __init__(self, app: ASGIApp, context: Callable[[], AbstractAsyncContextManager[None]]) -> None:
        self.app, self.context = app, context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the server's whole life."""
        if scope["type"] == "http":
            await self.app(scope, receive, send)
            return
        await receive()  # it starts
        async with self.context():
            await send({"type": "lifespan.startup.complete"})
            await receive()  # it is to end
        await send({"type": "lifespan.shutdown.complete"})
