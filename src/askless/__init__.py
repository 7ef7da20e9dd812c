"""askless: ask less, know enough. Dynamic feature selection for ordinary labelled tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from askless.version import __version__

if TYPE_CHECKING:
    from askless.estimators import DynamicClassifier, DynamicRegressor, load

__all__ = ["DynamicClassifier", "DynamicRegressor", "__version__", "load"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # imported on first use, so that `import askless` loads neither torch nor scikit-learn
        return getattr(import_module("askless.estimators"), name)
    raise AttributeError(f"module 'askless' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
