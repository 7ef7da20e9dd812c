"""The contract of a method."""

from __future__ import annotations

import hashlib
import json
import os
import re
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator

from askless.core import Policy, Predictor
from askless.exceptions import ParameterError
from askless.hints import did_you_mean, listed
from askless.methods.settings import Limits, check_settings
from askless.version import __version__

if TYPE_CHECKING:
    from askless.training import Checkpoint, Problem, Progress

__all__ = [
    "Fitted",
    "Kind",
    "Method",
    "find_method",
    "list_methods",
    "method_from_json",
    "method_name",
    "method_to_json",
    "plain_json",
]

Kind = Literal["dynamic", "static", "control"]
"""The answers decide what is asked next; one order for all cases; or no contender, but a bound or a baseline."""


@dataclass(frozen=True)
class Fitted:
    """What a method returns."""

    policy: Policy
    predictor: Predictor
    history: list[dict[str, Any]] = field(default_factory=list)  # one row for each epoch
    summary: dict[str, Any] = field(default_factory=dict)  # JSON: goes into the model file
    max_features: int | None = None  # where a method asks more than the budget


class Method(BaseEstimator):  # type: ignore[misc]
    """Turns training data into a policy and a predictor.

    Hyperparameters are keyword arguments of `__init__`, stored as they are (scikit-learn's rule), so that
    `method=Greedy(hidden=(64,))` and `GridSearchCV` over `method__hidden` work. What they may be stands in the
    table `limits`. A new method writes `_fit` and its `kind`.
    """

    kind: ClassVar[Kind]
    limits: ClassVar[Limits] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        complete = not getattr(cls._fit, "__isabstractmethod__", False)
        if complete and getattr(cls, "kind", None) not in get_args(Kind):
            raise TypeError(f"the method {cls.__name__} must set `kind` to one of {get_args(Kind)}")

    def fit(
        self, problem: Problem, *, seed: int, progress: Progress, checkpoint: str | os.PathLike[str] | None = None
    ) -> Fitted:
        """Learn from `problem`; the same seed gives the same result."""
        self.check()
        if self.needs_images and problem.schema.grid is None:
            raise ParameterError(
                f"{self!r} is for images, arrays of shape (n, height, width[, channels]); this is a table"
            )
        from askless.training import Checkpoint, expect_same

        expect_same(lambda: self._fingerprint(problem, seed))
        kept = None if checkpoint is None else Checkpoint(checkpoint, self._fingerprint(problem, seed))
        if kept is not None and kept.begun():
            progress.resumed(kept.path)
        return self._fit(problem, seed, progress, kept)

    def check(self) -> Self:
        """Itself; refuses the first setting that is out of its limits."""
        check_settings(self.limits, self.get_params(deep=False))
        return self

    @property
    def informative(self) -> bool:
        """Whether its policy's scores are information, whatever the table."""
        return False

    @property
    def needs_images(self) -> bool:
        """Whether it cannot learn from a table."""
        return False

    @abstractmethod
    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted: ...

    def _fingerprint(self, problem: Problem, seed: int) -> str:
        """Stands for the data and the settings of a fit."""
        import torch

        from askless.training import some_prices
        from askless.training.checkpoint import CHECKPOINT_FORMAT

        settings = {
            "versions": [__version__, torch.__version__, CHECKPOINT_FORMAT],
            "method": method_to_json(self),
            "seed": seed,
            "schema": repr(problem.schema),
            "task": [problem.task, problem.n_classes, problem.max_features, problem.missing],
            "prices": some_prices(problem).tolist(),
            "precedence": None if problem.precedence is None else problem.precedence.needs.tolist(),
            "shapes": [problem.train.x.shape, problem.valid.x.shape],
        }
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
        for cases, y in ((problem.train, problem.y_train), (problem.valid, problem.y_valid)):
            for array in (cases.x, cases.present, y):
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def method_name(method: type[Method]) -> str:
    """`FixedOrder` is called `fixed_order`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", method.__name__).lower()


def list_methods() -> dict[str, type[Method]]:
    """Every method by its name."""
    import askless.methods as package

    exported = (getattr(package, name) for name in package.__all__)
    classes = [item for item in exported if isinstance(item, type) and issubclass(item, Method)]
    return {method_name(cls): cls for cls in classes if cls is not Method}


def find_method(method: str | Method) -> Method:
    """The method that a user means: an instance as it is, or a name."""
    if isinstance(method, Method):
        return method
    if isinstance(method, type):
        raise ParameterError(f"method is the class {method.__name__}; give an object of it, {method.__name__}()")
    known = list_methods()
    if method not in known:
        hint = did_you_mean(method, known)
        raise ParameterError(f"there is no method {method!r}{hint}; there are {listed(sorted(known), len(known))}")
    return known[method]()


def method_to_json(method: Method) -> dict[str, Any]:
    """A method's name and settings, as JSON can hold them."""
    return {"name": method_name(type(method)), "params": plain_json(method.get_params(deep=False))}


def plain_json(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with numpy's numbers and arrays as JSON can hold them."""
    plain: dict[str, Any] = json.loads(json.dumps(settings, default=_plain))
    return plain


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ParameterError(f"a setting is {value!r}, which a model file cannot hold")


def method_from_json(data: dict[str, Any]) -> Method | str:
    """The method that `data` describes; JSON's lists are the tuples that they were.

    Of a method that is not part of askless only the name is left: the model works, to fit anew needs the class.
    """
    if data["name"] not in list_methods():
        return str(data["name"])
    params = {name: tuple(value) if isinstance(value, list) else value for name, value in data["params"].items()}
    return find_method(data["name"]).set_params(**params)  # type: ignore[no-any-return]
