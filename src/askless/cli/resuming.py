"""A fit that can be stopped: what is said when it is, and when it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from askless.signals import terminable

if TYPE_CHECKING:
    from askless.estimators import DynamicClassifier, DynamicRegressor

__all__ = ["fit_or_go_on"]


def fit_or_go_on(
    estimator: DynamicClassifier | DynamicRegressor, X: Any, y: Any, checkpoint: Path, **options: Any
) -> None:
    """Fit with a checkpoint, from which the same command goes on after Ctrl-C, TERM or worse."""
    from askless.exceptions import CheckpointError

    try:
        with terminable():
            estimator.fit(X, y, checkpoint=checkpoint, **options)
    except CheckpointError as error:
        raise CheckpointError(f"{error} (--checkpoint names the file, else -o)") from None
    except KeyboardInterrupt as stop:
        told = (
            f"goes on from {checkpoint}" if checkpoint.exists() else "begins anew: there was no progress to keep yet"
        )
        raise type(stop)(f"the same command {told}") from None
