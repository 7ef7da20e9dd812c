"""The contract of a stopping rule, and what the rules of askless share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from askless.core.arrays import Array, array_namespace
from askless.core.progress import Progress
from askless.exceptions import ParameterError

if TYPE_CHECKING:
    from askless.core.stopping.combined import AllOf, AnyOf

__all__ = [
    "NOTHING_LEFT",
    "Rule",
    "StoppingRule",
    "as_rules",
    "check_rules",
    "checked_rule",
    "rule_name",
    "stop_reason",
]

NOTHING_LEFT = "nothing left to ask"


class StoppingRule(Protocol):
    """Says for each case whether enough is known.

    A rule may also have `closes(progress)`, (n, features) bool: which features must not be asked any more. A case
    stops when all that was open is closed. It may have `otherwise`, a text that the reasons of cases that it did not
    stop end with. It may say `treats_alike = True`: cases in the same state stop alike (see `Policy`). And one that
    says `promises = True` counts all cases that it would stop as its own: it goes before all others. A rule that is
    not for every model has `check(task, stored, informative)`, which raises an error before anything is trained.
    """

    @property
    def reason(self) -> str:
        """Why a case stopped."""
        ...

    def stops(self, progress: Progress) -> Array:
        """(n,) bool."""
        ...


class Rule(ABC):
    """What the rules of askless share: `&` and `|`, and a form for files. A rule is a frozen dataclass."""

    task: ClassVar[str | None] = None  # the only task that it is for, if there is one

    def check(self, task: str, *, stored: bool, informative: bool) -> None:
        """Raise an error where it is not for this task, or needs what the model has not."""
        if self.task not in (None, task):
            raise ParameterError(
                "not_supported",
                f"{called(self)} is for a {self.task}; this is a {task}",
                name=rule_name(type(self)),
                value=task,
                expected=self.task,
            )

    @property
    @abstractmethod
    def reason(self) -> str:
        """Why a case stopped."""

    @abstractmethod
    def stops(self, progress: Progress) -> Array:
        """(n,) bool."""

    def __and__(self, other: StoppingRule) -> AllOf:
        from askless.core.stopping.combined import AllOf

        return AllOf((self, other))

    def __or__(self, other: StoppingRule) -> AnyOf:
        from askless.core.stopping.combined import AnyOf

        return AnyOf((self, other))

    def __rand__(self, other: StoppingRule) -> AllOf:
        from askless.core.stopping.combined import AllOf

        return AllOf((other, self))

    def __ror__(self, other: StoppingRule) -> AnyOf:
        from askless.core.stopping.combined import AnyOf

        return AnyOf((other, self))

    def config(self) -> dict[str, Any]:
        """What a model file needs to make it again."""
        assert is_dataclass(self)
        return {each.name: getattr(self, each.name) for each in fields(self)}


def rule_name(rule: type) -> str:
    """`MaxFeatures` is called `max_features`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", rule.__name__).lower()


def called(rule: Rule) -> str:
    """A rule for errors, by the name that Python, the command line and the service have in common."""
    return f"the stopping rule {rule_name(type(rule))}"


def checked_rule(rule: Any) -> StoppingRule:
    """The rule, or an error that says how to make one: its name and its class are easily mistaken for it."""
    if isinstance(getattr(rule, "reason", None), str) and hasattr(rule, "stops"):
        return rule  # type: ignore[no-any-return]
    if isinstance(rule, type):
        name = rule.__name__
        raise ParameterError(
            "wrong_type",
            f"{name} is a class, not a stopping rule; give one with its settings, {name}(...)",
            name="stopping",
            value=rule,
        )
    raise ParameterError(
        "wrong_type",
        f"{rule!r} is not a stopping rule; give an object such as askless.core.stopping.Confidence(0.95)",
        name="stopping",
        value=rule,
    )


def as_rules(stopping: StoppingRule | Sequence[StoppingRule] | None) -> tuple[StoppingRule, ...]:
    """What a caller means by `stopping`: no rule, one, or several of which the first to fire stops; checked.

    A rule that makes a promise comes first, wherever it was given: were cases that another rule stops at the same
    time taken from it, it would keep those that are worse than what it was tested on.
    """
    from askless.core.stopping.combined import AnyOf

    if stopping is None:
        return ()
    several = isinstance(stopping, Sequence) and not isinstance(stopping, str)
    rules = tuple(stopping) if several else (stopping,)  # type: ignore[arg-type]
    flat: list[StoppingRule] = []
    for rule in rules:  # `a | b` is two rules, so that each case can say which of them it was
        flat += as_rules(rule.rules) if isinstance(rule, AnyOf) else [checked_rule(rule)]
    flat.sort(key=lambda rule: not makes_promise(rule))
    if len(flat) > 1 and makes_promise(flat[1]):
        raise ParameterError(
            "conflicting_settings",
            f"there are two rules with a promise, {flat[0]!r} and {flat[1]!r}; give one",
            name="stopping",
            value=flat[:2],
        )
    return tuple(flat)


def makes_promise(rule: StoppingRule) -> bool:
    """Whether the rule must be evaluated before all others."""
    return bool(getattr(rule, "promises", False))


def closing(rule: StoppingRule, progress: Progress) -> Array:
    """(n, features) bool: what the rule does not let be asked."""
    if hasattr(rule, "closes"):
        return rule.closes(progress)
    xp = array_namespace(progress.state.asked)
    return xp.broadcast_to(rule.stops(progress)[:, None], progress.state.asked.shape)


def stop_reason(rules: Sequence[StoppingRule], fired: int) -> str:
    """Why a case stopped, given the rule that fired (-1: none, so nothing was left to ask)."""
    reason = rules[fired].reason if fired >= 0 else NOTHING_LEFT
    rest = [rule.otherwise for i, rule in enumerate(rules) if i != fired and hasattr(rule, "otherwise")]
    return "; ".join([reason, *rest])


def check_rules(rules: Sequence[StoppingRule], task: str, *, stored: bool, informative: bool) -> None:
    """Refuse a rule that is not for this task, or needs `stored` rows or an `informative` policy where none are."""
    for rule in rules:
        if hasattr(rule, "check"):
            rule.check(task, stored=stored, informative=informative)
        check_rules(getattr(rule, "rules", ()), task, stored=stored, informative=informative)
