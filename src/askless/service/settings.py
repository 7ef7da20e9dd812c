"""The settings of the service: environment variables, overridden by the arguments of `askless serve`."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from askless.exceptions import ParameterError

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
    """All settings. The defaults serve one person on this machine and write nothing to disk."""

    host: str = "127.0.0.1"  # the address to listen on
    port: int = 8000
    token: str | None = None  # required from callers; must be set unless host is this machine
    allowed_hosts: tuple[str, ...] = ()  # accepted Host headers, in addition to those of this machine
    base_url: str | None = None  # the public URL; part of the canonical URLs of questionnaires
    keep: str | None = None  # an SQLite file for interviews; None keeps them in memory
    retention_days: float = 30.0  # unchanged interviews are deleted after this time
    rate_limit: float = 0.0  # requests per second from one address; 0 for no limit

    def __post_init__(self) -> None:
        if not 0 <= self.port < 65536:
            raise ParameterError(
                "out_of_range",
                f"port must be an integer from 0 to 65535, not {self.port}",
                name="port",
                value=self.port,
                low=0,
                high=65535,
            )
        for name in ("retention_days", "rate_limit"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ParameterError(
                    "out_of_range",
                    f"{name} must be a finite number of at least 0, not {value}",
                    name=name,
                    value=value,
                    low=0,
                )
        if self.host not in LOOPBACK and self.token is None:
            raise ParameterError(
                "required",
                f"set {ENVIRONMENT['token']} to listen on {self.host}: others can reach the service there",
                name="token",
            )
        if self.token is not None and not (len(self.token) >= SHORTEST_TOKEN and self.token.isascii()):
            raise ParameterError(
                "out_of_range",
                f"{ENVIRONMENT['token']} must be ASCII and have at least {SHORTEST_TOKEN} characters",
                name="token",
                low=SHORTEST_TOKEN,
            )
        if self.base_url is not None:
            url = urlsplit(self.base_url)
            if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
                raise ParameterError(
                    "invalid_choice",
                    f"base_url must be a URL such as https://ask.example.org, not {self.base_url!r}",
                    name="base_url",
                    value=self.base_url,
                )

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None, **arguments: Any) -> Settings:
        """The settings from the environment and from the arguments that are not None."""
        given = os.environ if environment is None else environment
        values: dict[str, Any] = {}
        for name, variable in ENVIRONMENT.items():
            if given.get(variable):
                values[name] = _read(name, variable, given[variable])
        return cls(**values | {name: value for name, value in arguments.items() if value is not None})

    @property
    def root(self) -> str:
        """The public URL, without a slash at the end."""
        if self.base_url is not None:
            return self.base_url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def names(self) -> frozenset[str]:
        """The accepted Host headers."""
        own = {urlsplit(self.root).hostname or "", self.host}
        return frozenset(name.casefold() for name in (*LOOPBACK, *own, *self.allowed_hosts))


def _read(name: str, variable: str, text: str) -> Any:
    if name == "allowed_hosts":
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if name in ("port", "retention_days", "rate_limit"):
        try:
            return int(text) if name == "port" else float(text)
        except ValueError:
            raise ParameterError(
                "wrong_type", f"{variable} must be a number, not {text!r}", name=name, value=text
            ) from None
    return text
