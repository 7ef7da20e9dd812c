"""Rules made of rules: `a & b` and `a | b`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any, ClassVar

from askless.core.arrays import Array, array_namespace
from askless.core.progress import Progress
from askless.core.stopping.base import Rule, StoppingRule, checked_rule, closing, makes_promise
from askless.core.twins import all_treat_alike
from askless.exceptions import ParameterError

__all__ = ["AllOf", "AnyOf"]


@dataclass(frozen=True)
class _Combined(Rule):
    rules: tuple[StoppingRule, ...]
    word: ClassVar[str]

    def __post_init__(self) -> None:
        flat: list[StoppingRule] = []
        for rule in self.rules:
            flat += rule.rules if type(rule) is type(self) else [checked_rule(rule)]
        if not flat:
            raise ParameterError("required", f"{type(self).__name__} needs at least one rule", name="rules")
        object.__setattr__(self, "rules", tuple(flat))

    @property
    def reason(self) -> str:
        """Those of its rules."""
        return f" {self.word} ".join(rule.reason for rule in self.rules)

    @property
    def treats_alike(self) -> bool:
        """If all of its rules do."""
        return all_treat_alike(*self.rules)

    def closes(self, progress: Progress) -> Array:
        """(n, features) what all of its rules close, or any of them."""
        return reduce(and_ if self.word == "and" else or_, (closing(rule, progress) for rule in self.rules))

    def stops(self, progress: Progress) -> Array:
        """(n,) True where everything open is closed."""
        xp = array_namespace(progress.state.asked)
        return ~xp.any(progress.open & ~self.closes(progress), axis=1)

    def config(self) -> dict[str, Any]:
        """Its rules, as a model file holds them."""
        from askless.core.stopping.json_form import rule_to_json

        return {"rules": [rule_to_json(rule) for rule in self.rules]}


@dataclass(frozen=True)
class AllOf(_Combined):
    """Stops where all of its rules do: `Confidence(0.9) & MaxFeatures(3)` asks at least until both are met."""

    word = "and"

    def __post_init__(self) -> None:
        super().__post_init__()
        for rule in self.rules:
            if any(makes_promise(each) for each in getattr(rule, "rules", (rule,))):
                raise ParameterError(
                    "conflicting_settings",
                    "Certified cannot be combined with '&': its promise is for all cases that become sure enough",
                    name="certified",
                )


@dataclass(frozen=True)
class AnyOf(_Combined):
    """Stops where any of its rules does."""

    word = "or"
