"""Packages that only some methods need."""

from __future__ import annotations

import importlib
from typing import Any

from askless.exceptions import ParameterError

__all__ = ["needed"]

REQUIREMENTS = {"captum": "captum>=0.7,<1", "lassonet": "lassonet>=0.0.21,<0.1"}  # as in pyproject.toml


def needed(module: str, package: str, method: str) -> Any:
    """The module of an optional package; the error names what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        requirement = REQUIREMENTS.get(package, package)
        raise ParameterError(
            "missing_package",
            f"method {method!r} needs the package {package}: pip install '{requirement}'",
            name=method,
            package=package,
            requirement=requirement,
        ) from None
