"""Packages that only some methods need."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["needed"]


def needed(module: str, package: str, method: str) -> Any:
    """The module of an optional package; the error names what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"the method {method!r} needs the package {package}: pip install 'askless[baselines]'", name=error.name
        ) from None
