"""What a method's settings may be, as a table; checked when it fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from askless.exceptions import ParameterError
from askless.hints import did_you_mean, nearest

__all__ = [
    "DENSE",
    "DEVICES",
    "NETWORK",
    "RUNNING",
    "Choice",
    "Flag",
    "Layers",
    "Limits",
    "Names",
    "Network",
    "Number",
    "Pair",
    "Recipe",
    "Text",
    "check_settings",
]


@dataclass(frozen=True)
class Choice:
    """One of several words."""

    words: tuple[str, ...]

    def problem(self, value: Any) -> str | None:
        """What the value should be, where it is not."""
        return None if value in self.words else f"one of {', '.join(map(repr, self.words))}"


@dataclass(frozen=True)
class Text:
    """A word that is looked up elsewhere, or None."""

    def problem(self, value: Any) -> str | None:
        """What the value should be, where it is not."""
        return None if value is None or isinstance(value, str) else "a name"


@dataclass(frozen=True)
class Names:
    """Several names, or None."""

    def problem(self, value: Any) -> str | None:
        """What the value should be, where it is not."""
        given = () if value is None else value
        fits = isinstance(given, Iterable) and not isinstance(given, str) and all(isinstance(n, str) for n in given)
        return None if fits else "a list of names"


@dataclass(frozen=True)
class Number:
    """A number between two limits, both allowed."""

    low: float
    high: float = float("inf")
    whole: bool = False
    or_none: bool = False

    def problem(self, value: Any) -> str | None:
        """What the value should be, where it is not."""
        if value is None and self.or_none:
            return None
        number = isinstance(value, Integral if self.whole else Real) and not isinstance(value, (bool, np.bool_))
        fits = number and self.low <= float(value) <= self.high
        return None if fits else f"{'an integer' if self.whole else 'a number'} {self.limits}"

    @property
    def limits(self) -> str:
        """The limits in words."""
        return f"of at least {self.low:g}" if self.high == float("inf") else f"from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def problem(self, value: Any) -> str | None:
        """What the value should be, where it is not."""
        return None if isinstance(value, (bool, np.bool_)) else "True or False"


@dataclass(frozen=True)
class Pair:
    """Two positive numbers, at most `high`; the second above the first where they are `rising`."""

    high: float = float("inf")
    rising: bool = False

    def problem(self, value: Any) -> str | None:
        """What the value should be, where it is not."""
        one = Number(1e-6, self.high)
        fits = isinstance(value, Sequence) and len(value) == 2 and not any(one.problem(part) for part in value)
        if fits and self.rising and not value[0] < value[1]:
            return "two numbers, the second above the first"
        return None if fits else f"two numbers {one.limits}"


@dataclass(frozen=True)
class Layers:
    """The widths of one or more hidden layers."""

    def problem(self, value: Any) -> str | None:
        """What the value should be, where it is not."""
        one = Number(1, whole=True)
        fits = isinstance(value, Sequence) and len(value) > 0 and not any(one.problem(part) for part in value)
        return None if fits else "one or more integers of at least 1"


@dataclass(frozen=True)
class Network:
    """The name of a network, or a callable that makes one."""

    words: tuple[str, ...]

    def problem(self, value: Any) -> str | None:
        """What the value should be, where it is not."""
        if callable(value) or value in self.words:
            return None
        return f"one of {', '.join(map(repr, self.words))}, or a function that returns an nn.Module"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Settings of a method that only experiments change; a subclass has fields with defaults and their `limits`."""

    limits: ClassVar[Limits]

    @classmethod
    def of(cls, value: Any) -> Self:
        """The recipe that a user means: an instance, a mapping of some entries, or None for the defaults."""
        if isinstance(value, cls):
            return value
        entries = {} if value is None else value
        if not isinstance(entries, Mapping):
            message = f"recipe must be a {cls.__name__} or a mapping, not {value!r}"
            raise ParameterError("wrong_type", message, name="recipe", value=value)
        names = [each.name for each in fields(cls)]
        for name in entries:
            if name not in names:
                raise ParameterError(
                    "unknown_name",
                    f"recipe has no entry {name!r}{did_you_mean(name, names)}",
                    name=name,
                    nearest=nearest(name, names),
                )
        recipe = cls(**entries)
        check_settings(cls.limits, asdict(recipe))
        return recipe

    @classmethod
    def problem(cls, value: Any) -> str | None:
        """Raises the error of a wrong entry; None, for everything else is right then."""
        check_settings(cls.limits, asdict(cls.of(value)))
        return None


Limits = dict[str, Choice | Flag | Layers | Names | Network | Number | Pair | Text | type[Recipe]]


def check_settings(limits: Limits, settings: Mapping[str, Any]) -> None:
    """Refuse the first setting that is out of its limits."""
    for name, limit in limits.items():
        value = settings[name]
        expected = limit.problem(value)
        if expected is None:
            continue
        message = f"{name} must be {expected}, not {value!r}"
        if isinstance(limit, (Choice, Network)):
            near = nearest(value, limit.words)
            raise ParameterError(
                "invalid_choice",
                message + did_you_mean(value, limit.words),
                name=name,
                value=value,
                choices=list(limit.words),
                nearest=near,
            )
        whole = isinstance(limit, Number) and limit.whole
        number = isinstance(value, Integral if whole else Real) and not isinstance(value, (bool, np.bool_))
        several = isinstance(limit, (Layers, Pair)) and isinstance(value, Sequence) and not isinstance(value, str)
        code = "out_of_range" if several or (number and isinstance(limit, Number)) else "wrong_type"
        bounds = {"low": limit.low, "high": limit.high} if isinstance(limit, Number) else {}
        raise ParameterError(code, message, name=name, value=value, expected=expected, **bounds)


NETWORK: Limits = {
    "hidden": Layers(),
    "dropout": Number(0, 0.95),
    "batch_size": Number(2, whole=True),
    "learning_rate": Number(1e-8, 10),
    "weight_decay": Number(0, 1e6),
    "epochs": Number(1, whole=True, or_none=True),
    "network": Network(("mlp", "conv_tiny", "conv_small", "conv_medium", "conv_patches", "resnet18")),
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
