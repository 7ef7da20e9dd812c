"""askless: ask less, know enough. Dynamic feature selection for ordinary labelled tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from askless.version import __version__

if TYPE_CHECKING:
    from askless.estimators import DynamicClassifier, DynamicRegressor
    from askless.loading import load

__all__ = ["DynamicClassifier", "DynamicRegressor", "__version__", "load"]

# Imported on first use, so that `import askless` loads neither torch nor scikit-learn.
_HOMES = {
    "DynamicClassifier": "askless.estimators",
    "DynamicRegressor": "askless.estimators",
    "load": "askless.loading",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'askless' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
