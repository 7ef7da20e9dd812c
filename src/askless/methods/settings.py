"""What a method's settings may be, as a table; checked when it fits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np

from askless.exceptions import ParameterError, bad_value, unknown_name
from askless.hints import did_you_mean, nearest

__all__ = [
    "DENSE",
    "DEVICES",
    "NETWORK",
    "RUNNING",
    "ChainRecipe",
    "Choice",
    "Flag",
    "Layers",
    "Limits",
    "Names",
    "Number",
    "Pair",
    "Recipe",
    "Text",
    "check_settings",
]


class Limit(ABC):
    """What one setting may be."""

    @abstractmethod
    def error(self, name: str, value: Any) -> ParameterError | None:
        """The error of a setting that has a wrong value; None if the value is right."""


class Flag(Limit):
    """True or False."""

    def error(self, name: str, value: Any) -> ParameterError | None:
        """None for a boolean."""
        allowed = isinstance(value, (bool, np.bool_))
        return None if allowed else bad_value("wrong_type", name, value, "True or False")


class Text(Limit):
    """A word that is looked up elsewhere, or None."""

    def error(self, name: str, value: Any) -> ParameterError | None:
        """None for text and None."""
        allowed = value is None or isinstance(value, str)
        return None if allowed else bad_value("wrong_type", name, value, "a name")


class Names(Limit):
    """Several names, or None."""

    def error(self, name: str, value: Any) -> ParameterError | None:
        """None for text in a list or the like."""
        several = isinstance(value, Iterable) and not isinstance(value, str)
        allowed = value is None or (several and all(isinstance(each, str) for each in value))
        return None if allowed else bad_value("wrong_type", name, value, "a list of names")


@dataclass(frozen=True)
class Choice(Limit):
    """One of several words; if `callables`, also any callable."""

    words: tuple[str, ...]
    callables: str = ""  # what they are, in words

    def error(self, name: str, value: Any) -> ParameterError | None:
        """None for one of the words."""
        if value in self.words or (self.callables and callable(value)):
            return None
        expected = f"one of {', '.join(map(repr, self.words))}{did_you_mean(value, self.words)}"
        expected += f", or {self.callables}" if self.callables else ""
        near = nearest(value, self.words)
        return bad_value("invalid_choice", name, value, expected, choices=list(self.words), nearest=near)


@dataclass(frozen=True)
class Number(Limit):
    """A number between two limits, both allowed."""

    low: float
    high: float = float("inf")
    whole: bool = False
    or_none: bool = False

    @property
    def limits(self) -> str:
        """The limits in words."""
        return f"of at least {self.low:g}" if self.high == float("inf") else f"from {self.low:g} to {self.high:g}"

    def error(self, name: str, value: Any) -> ParameterError | None:
        """None for a number within the limits."""
        number = isinstance(value, Integral if self.whole else Real) and not isinstance(value, (bool, np.bool_))
        if (value is None and self.or_none) or (number and self.low <= float(value) <= self.high):
            return None
        expected = f"{'an integer' if self.whole else 'a number'} {self.limits}"
        code = "out_of_range" if number else "wrong_type"
        return bad_value(code, name, value, expected, low=self.low, high=self.high)


@dataclass(frozen=True)
class Numbers(Limit):
    """A sequence of numbers."""

    each: Number
    expected: str
    length: int | None = None  # None for any but 0
    rising: bool = False  # the second has to be above the first

    def error(self, name: str, value: Any) -> ParameterError | None:
        """None for as many numbers as there have to be."""
        if not isinstance(value, Sequence) or isinstance(value, str):
            return bad_value("wrong_type", name, value, self.expected)
        fits = len(value) == self.length if self.length else len(value) > 0
        fits = fits and all(self.each.error(name, number) is None for number in value)
        if fits and not (self.rising and value[0] >= value[1]):
            return None
        return bad_value("out_of_range", name, value, self.expected)


def Layers() -> Numbers:
    """The widths of one or more hidden layers."""
    return Numbers(Number(1, whole=True), "one or more integers of at least 1")


def Pair(high: float = float("inf"), *, rising: bool = False) -> Numbers:
    """Two positive numbers, at most `high`; the second above the first where they are `rising`."""
    each = Number(1e-6, high)
    order = ", the second above the first" if rising else ""
    return Numbers(each, f"two numbers {each.limits}{order}", length=2, rising=rising)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Settings of a method that only experiments change; a subclass has fields with defaults and their `limits`."""

    limits: ClassVar[Limits]

    @classmethod
    def of(cls, value: Any) -> Self:
        """The recipe that a user means: an instance, a mapping of some entries, or None for the defaults."""
        if isinstance(value, cls):
            recipe = value
        elif value is None or isinstance(value, Mapping):
            entries = {} if value is None else value
            names = [each.name for each in fields(cls)]
            for name in entries:
                if name not in names:
                    raise unknown_name("entry of recipe", name, names)
            recipe = cls(**entries)
        else:
            raise bad_value("wrong_type", "recipe", value, f"a {cls.__name__} or a mapping")
        check_settings(cls.limits, asdict(recipe))
        return recipe


Limits = dict[str, Limit | type[Recipe]]


def check_settings(limits: Limits, settings: Mapping[str, Any]) -> None:
    """Refuse the first setting that is out of its limits."""
    for name, limit in limits.items():
        if not isinstance(limit, Limit):
            limit.of(settings[name])
        elif (error := limit.error(name, settings[name])) is not None:
            raise error


@dataclass(frozen=True, kw_only=True)
class ChainRecipe(Recipe):
    """What only experiments change of a method that learns on chains of states.

    Parameters
    ----------
    random_starts : share of the training states that start from random sets, so that any features may be known
        before the first question.
    states_per_row : partial records that each training row keeps, if the epochs suffice to walk them all to their end
        `walks` times; else there are fewer, which move from row to row.
    walks : see `states_per_row`.
    average : decay of the moving average of the weights that is validated and returned; 0 for none.
    dropout_by : "batch" drops the same units for a whole batch, which is faster; "row" is ordinary dropout.
    """

    limits: ClassVar[Limits] = {
        "random_starts": Number(0, 1),
        "states_per_row": Number(1, whole=True),
        "walks": Number(1, whole=True),
        "average": Number(0, 0.9999),
        "dropout_by": Choice(("batch", "row")),
    }

    random_starts: float = 0.2
    states_per_row: int = 4
    walks: int = 4
    average: float = 0.98
    dropout_by: Literal["batch", "row"] = "batch"


NETWORK: Limits = {
    "hidden": Layers(),
    "dropout": Number(0, 0.95),
    "batch_size": Number(2, whole=True),
    "learning_rate": Number(1e-8, 10),
    "weight_decay": Number(0, 1e6),
    "epochs": Number(1, whole=True, or_none=True),
    "network": Choice(
        ("mlp", "conv_tiny", "conv_small", "conv_medium", "conv_patches", "resnet18"),
        callables="a function that returns an nn.Module",
    ),
    "augment": Choice(("none", "crops", "crops+flips", "tilts", "late_tilts")),
}
"""The settings that every method with a network has."""

DEVICES = ("cpu", "cuda", "mps", "auto")
RUNNING: Limits = {
    "device": Choice(DEVICES),
    "n_threads": Number(1, whole=True, or_none=True),
    "max_rows": Number(2, whole=True, or_none=True),
}
"""Where and how an estimator trains."""

DENSE: Limits = NETWORK | {"network": Choice(("mlp",))}
"""The same, of methods that take dense layers apart, or imagine answers column by column."""
