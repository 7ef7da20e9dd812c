"""Stop when no question is worth its price."""

from __future__ import annotations

from dataclasses import dataclass

from askless.core.arrays import Array, array_namespace
from askless.core.numbers import checked_number
from askless.core.progress import Progress
from askless.core.stopping.base import Rule, called, rule_name
from askless.exceptions import ParameterError

__all__ = ["InformationPerCost"]


@dataclass(frozen=True)
class InformationPerCost(Rule):
    """Stop once no open question brings this much information for each unit of money.

    Information is in nats, for a regression in squared units of the target. It needs a policy whose scores are
    information, such as that of `method="value"`.
    """

    threshold: float
    treats_alike = True

    def __post_init__(self) -> None:
        checked = checked_number(self.threshold, "the information per cost", low=0, name="threshold")
        object.__setattr__(self, "threshold", checked)

    @property
    def reason(self) -> str:
        """The threshold that nothing reaches."""
        return f"no question brings {self.threshold:g} of information per unit of cost"

    def check(self, task: str, *, stored: bool, informative: bool) -> None:
        """It needs scores that are information."""
        if not informative:
            raise ParameterError(
                "not_supported",
                f"{called(self)} needs a method whose scores are information, such as value; those of this one have "
                "no unit (auto may choose such a method)",
                name=rule_name(type(self)),
                needed="information",
            )

    def stops(self, progress: Progress) -> Array:
        """True once every open question, of which there are some, is worth less than its price."""
        self.check("any", stored=False, informative=progress.who.informative)
        xp = array_namespace(progress.scores)
        prices = xp.astype(progress.prices, progress.scores.dtype, copy=False)
        enough = (progress.scores > 0) & (progress.scores >= self.threshold * prices) & progress.open
        return xp.any(progress.open, axis=1) & ~xp.any(enough, axis=1)
