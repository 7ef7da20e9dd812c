"""Runs the app under uvicorn, with logs as JSON lines."""

from __future__ import annotations

import logging
import socket

import uvicorn

from askless.service.app import build_app
from askless.service.logs import JsonLines, Log
from askless.service.models import Models
from askless.service.settings import Settings
from askless.version import __version__

__all__ = ["make_server", "serve"]


def make_server(models: Models, settings: Settings, log: Log | None = None) -> uvicorn.Server:
    """A configured server."""
    log = log or Log()
    for name in ("uvicorn", "uvicorn.error", "asyncio", "py.warnings"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = (
            [JsonLines(log)] if name != "uvicorn.error" else [],
            name == "uvicorn.error",
        )
        logger.setLevel(logging.WARNING)
    config = uvicorn.Config(
        build_app(models, settings, log),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,  # its lines contain paths
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=10,
    )
    return uvicorn.Server(config)


def serve(models: Models, settings: Settings) -> None:
    """Serve until a signal arrives."""
    log = Log()
    logging.captureWarnings(True)
    server = make_server(models, settings, log)
    listening = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        where = f"{settings.host}, port {settings.port}"
        raise OSError(
            error.errno, f"cannot listen on {where}: {error.strerror}; choose another with --port"
        ) from None
    port = listening.getsockname()[1]
    log.write(
        "serving",
        version=__version__,
        url=settings.root if settings.port else f"http://{settings.host}:{port}",
        models=[model.name for model in models],
        kept="in memory" if settings.keep is None else "on disk",
    )
    server.run(sockets=[listening])
