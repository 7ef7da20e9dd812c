"""Stopping rules, and what a caller may give as `stopping`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import reduce
from math import inf
from operator import and_, or_
from typing import Any, ClassVar

import numpy as np

from askless.acquisition.numbers import checked_number
from askless.acquisition.progress import Progress
from askless.exceptions import ParameterError

NOTHING_LEFT = "nothing left to ask"
CENT = 1e-9  # sums of prices are rounded: a budget of 0.3 pays for 0.1 three times
CASES_AT_ONCE = 512  # whose imagined answers stay in memory


class StoppingRule(ABC):
    """Says for each case whether enough is known. Rules combine with `&` and `|`.

    A rule of your own derives from this class and writes `reason` and `stops`.

    >>> class Patience(StoppingRule):
    ...     reason = "out of patience"
    ...     def stops(self, progress):
    ...         return progress.count >= 3
    >>> (Patience() | Confidence(0.9)).reason
    'out of patience or confidence of 0.9 reached'
    """

    task: ClassVar[str | None] = None
    """The only task that the rule is for; None for both."""

    promises: ClassVar[bool] = False
    """The rule must be evaluated before all others: it promises something of all cases that it would stop."""

    rules: tuple[StoppingRule, ...] = ()
    """The rules that it combines."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """Why a case stopped."""

    @property
    def otherwise(self) -> str | None:
        """What the stop reasons of cases that it did not stop end with; None, the default, adds nothing."""
        return None

    @abstractmethod
    def stops(self, progress: Progress) -> np.ndarray:
        """(n,) bool."""

    def closes(self, progress: Progress) -> np.ndarray | None:
        """(n, features) bool: the features that must not be asked any more. A case stops when all of them are closed.

        None, the default, closes all features of the cases that stop, and no others.
        """
        return None

    def check(self, task: str, *, stored: bool, informative: bool) -> None:
        """Raise an error if the rule is not for this task, or needs `stored` rows or an `informative` policy."""
        if self.task not in (None, task):
            message = f"{_called(self)} is for a {self.task}; this is a {task}"
            raise ParameterError("not_supported", message, name=rule_name(type(self)), value=task, expected=self.task)

    def _check_number(self, name: str, what: str, *, low: float = 0, high: float = inf, whole: bool = False) -> None:
        """Store the attribute `name` as a plain number, or raise an error that says `what` it is."""
        checked = checked_number(getattr(self, name), what, low=low, high=high, whole=whole, name=name)
        object.__setattr__(self, name, checked)  # of a frozen dataclass

    def config(self) -> dict[str, Any]:
        """The arguments that make it again, for model files: the fields of a dataclass."""
        assert is_dataclass(self)
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __and__(self, other: StoppingRule) -> AllOf:
        return AllOf((self, other))

    def __or__(self, other: StoppingRule) -> AnyOf:
        return AnyOf((self, other))


# Limits


@dataclass(frozen=True)
class MaxFeatures(StoppingRule):
    """Stop after a number of questions."""

    limit: int

    def __post_init__(self) -> None:
        self._check_number("limit", "the number of features to ask", whole=True)

    @property
    def reason(self) -> str:
        return f"asked {self.limit} feature{'' if self.limit == 1 else 's'}"

    def stops(self, progress: Progress) -> np.ndarray:
        return progress.count >= self.limit

    def __repr__(self) -> str:
        return f"MaxFeatures({self.limit})"


@dataclass(frozen=True)
class MaxCost(StoppingRule):
    """Never spend more than so much on a case. What is too dear is passed over; the rest is still asked."""

    money: float

    def __post_init__(self) -> None:
        self._check_number("money", "the money to spend")

    @property
    def reason(self) -> str:
        return f"nothing affordable left of {self.money:g}"

    def closes(self, progress: Progress) -> np.ndarray:
        return progress.spent[:, None] + progress.prices > self.money + CENT * (1.0 + self.money)

    def stops(self, progress: Progress) -> np.ndarray:
        affordable: np.ndarray = (progress.open & ~self.closes(progress)).any(axis=1)
        return ~affordable

    def __repr__(self) -> str:
        return f"MaxCost({self.money:g})"


# Certainty


@dataclass(frozen=True)
class Confidence(StoppingRule):
    """Stop once the most probable class has at least this probability."""

    probability: float
    task = "classification"

    def __post_init__(self) -> None:
        self._check_number("probability", "the confidence", high=1)

    @property
    def reason(self) -> str:
        return f"confidence of {self.probability:g} reached"

    def stops(self, progress: Progress) -> np.ndarray:
        if progress.prediction.shape[1] < 2:
            message = "Confidence is for a classification; use Spread(sd) for a regression"
            raise ParameterError("not_supported", message, name="confidence")
        return progress.prediction.max(axis=1) >= self.probability


@dataclass(frozen=True)
class Spread(StoppingRule):
    """Stop once the predicted standard deviation of a regression is at most this."""

    sd: float
    task = "regression"

    def __post_init__(self) -> None:
        self._check_number("sd", "the standard deviation")

    @property
    def reason(self) -> str:
        return f"standard deviation of {self.sd:g} reached"

    def stops(self, progress: Progress) -> np.ndarray:
        if progress.spread is None:
            message = "Spread needs a predicted standard deviation, and this predictor gives none"
            raise ParameterError("not_supported", message, name="spread", needed="sd")
        return progress.spread <= self.sd


@dataclass(frozen=True)
class DecisionStable(StoppingRule):
    """Stop once no open question has an answer that changes the decision with more than this probability.

    The decision is the most probable class; for a regression, it changes where the mean moves by more than
    `tolerance`. Answers are imagined from the model's stored rows, one question at a time (`reference.py`). It looks
    at `draws` answers to every question, which makes it much slower than the other rules.
    """

    chance: float = 0.05
    tolerance: float | None = None
    draws: int = 64

    def __post_init__(self) -> None:
        self._check_number("chance", "the chance of another decision", high=1)
        self._check_number("draws", "the number of draws", low=1, whole=True)
        if self.tolerance is not None:
            self._check_number("tolerance", "the tolerance")

    @property
    def reason(self) -> str:
        return f"no answer changes the decision with a probability above {self.chance:g}"

    def check(self, task: str, *, stored: bool, informative: bool) -> None:
        if not stored:
            message = f"{_called(self)} draws answers from stored rows, and this model has none; see `reference_rows`"
            raise ParameterError("not_supported", message, name=rule_name(type(self)), needed="reference_rows")
        if task == "regression" and self.tolerance is None:
            message = f"for a regression {_called(self)} needs a tolerance: by how much the mean may change"
            raise ParameterError("required", message, name="tolerance")

    def stops(self, progress: Progress) -> np.ndarray:
        """True once the decision stands, whatever of what is left is asked next."""
        context, prediction = progress.context, progress.prediction
        task = "regression" if prediction.shape[1] == 1 else "classification"
        self.check(task, stored=context.reference is not None, informative=context.policy.informative)
        assert context.reference is not None
        spread, open_ = progress.spread, progress.open
        stops: np.ndarray = np.any(open_, axis=1)
        for start in range(0, len(stops), CASES_AT_ONCE):
            some = np.arange(start, min(start + CASES_AT_ONCE, len(stops)))
            if not open_[some].any():
                continue
            rows = context.reference.draw(prediction[some], None if spread is None else spread[some], self.draws)
            case, _, after = context.reference.outcomes(
                context.predictor, progress.state[some], rows, open_[some], context.schema
            )
            now = prediction[some][case]
            if prediction.shape[1] == 1:
                other = np.abs(after[:, :, 0] - now) > self.tolerance  # (pairs, draws)
            else:
                other = after.argmax(axis=2) != now.argmax(axis=1)[:, None]
            stops[some[case[other.mean(axis=1) > self.chance]]] = False
        return stops


# Information


@dataclass(frozen=True)
class InformationPerCost(StoppingRule):
    """Stop once no open question brings this much information for each unit of money.

    Information is in nats, for a regression in squared units of the target. It needs a policy whose scores are
    information, such as that of `method="value"`.
    """

    threshold: float

    def __post_init__(self) -> None:
        self._check_number("threshold", "the information per cost")

    @property
    def reason(self) -> str:
        return f"no question brings {self.threshold:g} of information per unit of cost"

    def check(self, task: str, *, stored: bool, informative: bool) -> None:
        if not informative:
            message = (
                f"{_called(self)} needs a method whose scores are information, such as value; those of this one have "
                "no unit (auto may choose such a method)"
            )
            raise ParameterError("not_supported", message, name=rule_name(type(self)), needed="information")

    def stops(self, progress: Progress) -> np.ndarray:
        """True once every open question, of which there are some, is worth less than its price."""
        self.check("any", stored=False, informative=progress.context.policy.informative)
        prices = progress.prices.astype(progress.scores.dtype, copy=False)
        enough = (progress.scores > 0) & (progress.scores >= self.threshold * prices) & progress.open
        return progress.open.any(axis=1) & ~enough.any(axis=1)


# Combinations


@dataclass(frozen=True)
class _Combined(StoppingRule):
    rules: tuple[StoppingRule, ...]
    word: ClassVar[str]

    def __post_init__(self) -> None:
        flat: list[StoppingRule] = []
        for rule in self.rules:
            flat += rule.rules if type(rule) is type(self) else [_checked_rule(rule)]
        if not flat:
            raise ParameterError("required", f"{type(self).__name__} needs at least one rule", name="rules")
        object.__setattr__(self, "rules", tuple(flat))

    @property
    def reason(self) -> str:
        return f" {self.word} ".join(rule.reason for rule in self.rules)

    def closes(self, progress: Progress) -> np.ndarray:
        return reduce(and_ if self.word == "and" else or_, (_closed(rule, progress) for rule in self.rules))

    def stops(self, progress: Progress) -> np.ndarray:
        left: np.ndarray = (progress.open & ~self.closes(progress)).any(axis=1)
        return ~left


@dataclass(frozen=True)
class AllOf(_Combined):
    """Stops where all of its rules do: `Confidence(0.9) & MaxFeatures(3)` asks at least until both are met."""

    word = "and"

    def __post_init__(self) -> None:
        super().__post_init__()
        for rule in self.rules:
            if any(each.promises for each in rule.rules or (rule,)):
                message = (
                    "Certified cannot be combined with '&': its promise is for all cases that become sure enough"
                )
                raise ParameterError("conflicting_settings", message, name="certified")


@dataclass(frozen=True)
class AnyOf(_Combined):
    """Stops where any of its rules does."""

    word = "or"


# What a caller gives


def as_rules(stopping: StoppingRule | Sequence[StoppingRule] | None) -> tuple[StoppingRule, ...]:
    """What a caller means by `stopping`: no rule, one, or several of which the first to fire stops; checked.

    A rule that makes a promise comes first, wherever it was given: were cases that another rule stops at the same
    time taken from it, it would keep those that are worse than what it was tested on.
    """
    if stopping is None:
        return ()
    several = isinstance(stopping, Sequence) and not isinstance(stopping, str)
    flat: list[StoppingRule] = []
    for rule in tuple(stopping) if several else (stopping,):  # type: ignore[arg-type]
        # `a | b` is two rules, so that each case can say which of them it was
        flat += as_rules(rule.rules) if isinstance(rule, AnyOf) else [_checked_rule(rule)]
    flat.sort(key=lambda rule: not rule.promises)
    if len(flat) > 1 and flat[1].promises:
        message = f"there are two rules with a promise, {flat[0]!r} and {flat[1]!r}; give one"
        raise ParameterError("conflicting_settings", message, name="stopping", value=flat[:2])
    return tuple(flat)


def check_rules(rules: Sequence[StoppingRule], task: str, *, stored: bool, informative: bool) -> None:
    """Refuse a rule that is not for this task, or needs `stored` rows or an `informative` policy where none are."""
    for rule in rules:
        rule.check(task, stored=stored, informative=informative)
        check_rules(rule.rules, task, stored=stored, informative=informative)


def stop_reason(rules: Sequence[StoppingRule], fired: int) -> str:
    """Why a case stopped, given the rule that fired (-1: none, so nothing was left to ask)."""
    reason = rules[fired].reason if fired >= 0 else NOTHING_LEFT
    others = (rule.otherwise for i, rule in enumerate(rules) if i != fired)
    return "; ".join([reason, *(text for text in others if text is not None)])


def rule_name(rule: type) -> str:
    """`MaxFeatures` is called `max_features`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", rule.__name__).lower()


def _called(rule: StoppingRule) -> str:
    """A rule for errors, by the name that Python, the command line and the service have in common."""
    return f"the stopping rule {rule_name(type(rule))}"


def _closed(rule: StoppingRule, progress: Progress) -> np.ndarray:
    """(n, features) bool: what the rule does not let be asked."""
    closed = rule.closes(progress)
    return np.broadcast_to(rule.stops(progress)[:, None], progress.state.asked.shape) if closed is None else closed


def _checked_rule(rule: Any) -> StoppingRule:
    """The rule, or an error that says how to make one: its name and its class are easily mistaken for it."""
    if isinstance(rule, StoppingRule):
        return rule
    if isinstance(rule, type):
        name = rule.__name__
        message = f"{name} is a class, not a stopping rule; give one with its settings, {name}(...)"
    else:
        message = (
            f"{rule!r} is not a stopping rule; give an object such as askless.acquisition.stopping.Confidence(0.95). "
            "A rule of your own derives from askless.acquisition.StoppingRule"
        )
    raise ParameterError("wrong_type", message, name="stopping", value=rule)
