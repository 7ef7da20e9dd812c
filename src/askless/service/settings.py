"""How the service is configured: environment variables, which the arguments of `askless serve` override."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

__all__ = ["ENVIRONMENT", "Settings"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SHORTEST_TOKEN = 16  # characters
ENVIRONMENT = {
    "host": "ASKLESS_HOST",
    "port": "ASKLESS_PORT",
    "token": "ASKLESS_TOKEN",
    "allowed_hosts": "ASKLESS_ALLOWED_HOSTS",
    "base_url": "ASKLESS_BASE_URL",
    "keep": "ASKLESS_KEEP",
    "retention_days": "ASKLESS_RETENTION_DAYS",
    "rate_limit": "ASKLESS_RATE_LIMIT",
}


@dataclass(frozen=True)
class Settings:
    """What can be set; the defaults serve one person on this machine and keep nothing on disk."""

    host: str = "127.0.0.1"  # the address to listen on
    port: int = 8000
    token: str | None = None  # who calls must know it; required on any address but this machine's own
    allowed_hosts: tuple[str, ...] = ()  # names in the Host header, besides this machine's own
    base_url: str | None = None  # how others reach the service; part of the canonical URLs of questionnaires
    keep: str | None = None  # an SQLite file for interviews; without one they live in memory
    retention_days: float = 30.0  # an interview that was not touched for so long is deleted
    rate_limit: float = 0.0  # requests a second from one address; 0 for any number

    def __post_init__(self) -> None:
        if not 0 <= self.port < 65536:
            raise ValueError(f"the port is {self.port}; it must be a whole number below 65536")
        for name in ("retention_days", "rate_limit"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} is {value}; it must be a number of at least 0")
        if self.host not in LOOPBACK and self.token is None:
            raise ValueError(f"to listen on {self.host}, set {ENVIRONMENT['token']}: others could reach the service")
        if self.token is not None and not (len(self.token) >= SHORTEST_TOKEN and self.token.isascii()):
            raise ValueError(f"{ENVIRONMENT['token']} must be ASCII and have at least {SHORTEST_TOKEN} characters")
        if self.base_url is not None:
            url = urlsplit(self.base_url)
            if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
                raise ValueError(f"the base URL is {self.base_url!r}; give one such as https://ask.example.org")

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None, **arguments: Any) -> Settings:
        """What the environment says, and then the arguments that are not None."""
        given = os.environ if environment is None else environment
        values: dict[str, Any] = {}
        for name, variable in ENVIRONMENT.items():
            if given.get(variable):
                values[name] = _read(name, variable, given[variable])
        return cls(**values | {name: value for name, value in arguments.items() if value is not None})

    @property
    def root(self) -> str:
        """How others reach the service, without a slash at the end."""
        if self.base_url is not None:
            return self.base_url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def names(self) -> frozenset[str]:
        """The names that a Host header may have."""
        own = {urlsplit(self.root).hostname or "", self.host}
        return frozenset(name.casefold() for name in (*LOOPBACK, *own, *self.allowed_hosts))


def _read(name: str, variable: str, text: str) -> Any:
    if name == "allowed_hosts":
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if name in ("port", "retention_days", "rate_limit"):
        try:
            return int(text) if name == "port" else float(text)
        except ValueError:
            raise ValueError(f"{variable} is {text!r}; it must be a number") from None
    return text
