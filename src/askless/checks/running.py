"""Running checks, and saying what failed for which object."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from askless.acquisition import Policy
from askless.exceptions import TruthError

PASSED = "passed"

Check = Callable[..., str | None]
"""Raises `CheckFailed` where its property does not hold; a text that it returns says why it does not apply."""


class CheckFailed(AssertionError):
    """A property does not hold; the message names the object, the property and the numbers.

    >>> raise CheckFailed("MyPolicy: 3 of 60 scores are NaN")
    Traceback (most recent call last):
    askless.checks.running.CheckFailed: MyPolicy: 3 of 60 scores are NaN
    """


def label(subject: object) -> str:
    """What to call an object in a message: its class, and for a model or a trial that of its policy or method."""
    inner = getattr(subject, "policy", getattr(subject, "method", None))
    return type(subject).__name__ + ("" if inner is None else f"({type(inner).__name__})")


def require(holds: bool, subject: object, message: str) -> None:
    """Raise `CheckFailed` unless the property holds."""
    if not holds:
        raise CheckFailed(f"{label(subject)}: {message}")


def checks_of(module: ModuleType) -> tuple[Check, ...]:
    """The checks that a module exports, in the order in which they are written: the simplest property first."""
    exported = (getattr(module, name) for name in module.__all__)
    return tuple(sorted(exported, key=lambda check: check.__code__.co_firstlineno))


def run(checks: Iterable[Check], subject: object, *rest: Any) -> dict[str, str]:
    """Run checks on one subject: "passed", or the reason why it does not apply, by the check's name."""
    results = {}
    for check in checks:
        try:
            reason = check(subject, *rest)
        except TruthError as error:  # a control for experiments
            if not _looks_at_the_truth(subject):
                raise CheckFailed(f"{check.__name__} failed. {label(subject)} raised {error!r}") from error
            reason = "it looks at the truth, and is refused for it: what needs a roll-out cannot be checked"
        except CheckFailed as failure:
            raise CheckFailed(f"{check.__name__} failed. {failure}") from failure
        except Exception as error:
            raise CheckFailed(f"{check.__name__} failed. {label(subject)} raised {error!r}") from error
        results[check.__name__] = reason or PASSED
    return results


def _looks_at_the_truth(subject: object) -> bool:
    """Whether a policy, or that of a model or a trial, says that it does."""
    model = getattr(getattr(subject, "first", subject), "model_", subject)
    policy = getattr(model, "policy", model)
    return isinstance(policy, Policy) and policy.needs_truth
