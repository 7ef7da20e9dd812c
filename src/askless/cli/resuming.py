"""Fits that can be stopped and continued."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from askless.signals import terminable

if TYPE_CHECKING:
    from askless.estimators import DynamicClassifier, DynamicRegressor

__all__ = ["fit_or_resume"]


def fit_or_resume(
    estimator: DynamicClassifier | DynamicRegressor, X: Any, y: Any, checkpoint: Path, **options: Any
) -> None:
    """Fit with a checkpoint. The same command continues from it after Ctrl-C, TERM or a crash."""
    from askless.exceptions import CheckpointError

    try:
        with terminable():
            estimator.fit(X, y, checkpoint=checkpoint, **options)
    except CheckpointError as error:
        message = f"{error.message} (the file is named by --checkpoint, or by -o with .part added)"
        raise CheckpointError(error.code, message, **error.fields) from None
    except KeyboardInterrupt as stop:
        if checkpoint.exists():
            next_step = f"run the same command again to continue from {checkpoint}"
        else:
            next_step = "there was no progress to keep yet"
        raise type(stop)(next_step) from None
