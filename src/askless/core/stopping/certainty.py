"""Stop when the prediction is certain enough."""

from __future__ import annotations

from dataclasses import dataclass

from askless.core.arrays import Array, array_namespace
from askless.core.numbers import checked_number
from askless.core.progress import Progress
from askless.core.stopping.base import Rule
from askless.exceptions import ParameterError

__all__ = ["Confidence", "Spread"]


@dataclass(frozen=True)
class Confidence(Rule):
    """Stop once the most probable class has at least this probability."""

    probability: float
    task = "classification"
    treats_alike = True

    def __post_init__(self) -> None:
        checked = checked_number(self.probability, "the confidence", low=0, high=1, name="probability")
        object.__setattr__(self, "probability", checked)

    @property
    def reason(self) -> str:
        """The confidence that was reached."""
        return f"confidence of {self.probability:g} reached"

    def stops(self, progress: Progress) -> Array:
        """True once the top class is likely enough."""
        if progress.prediction.shape[1] < 2:
            raise ParameterError(
                "not_supported",
                "Confidence is for a classification; use Spread(sd) for a regression",
                name="confidence",
            )
        xp = array_namespace(progress.prediction)
        return xp.max(progress.prediction, axis=1) >= self.probability


@dataclass(frozen=True)
class Spread(Rule):
    """Stop once the predicted standard deviation of a regression is at most this."""

    sd: float
    task = "regression"
    treats_alike = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "sd", checked_number(self.sd, "the standard deviation", low=0, name="sd"))

    @property
    def reason(self) -> str:
        """The standard deviation that was reached."""
        return f"standard deviation of {self.sd:g} reached"

    def stops(self, progress: Progress) -> Array:
        """True once the prediction is narrow enough."""
        if progress.spread is None:
            raise ParameterError(
                "not_supported",
                "Spread needs a predicted standard deviation, and this predictor gives none",
                name="spread",
                needed="sd",
            )
        return progress.spread <= self.sd
