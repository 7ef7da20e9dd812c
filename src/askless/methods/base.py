"""The contract of a method."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import time
from abc import abstractmethod
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator

from askless import metrics
from askless.acquisition import Policy, Predictor
from askless.exceptions import ParameterError, TrainingError, unknown_name
from askless.methods.settings import NETWORK, Limits, check_settings
from askless.models import NetworkFactory
from askless.training import NetSettings
from askless.version import __version__

if TYPE_CHECKING:
    from askless.models import NetworkFactory
    from askless.training import Checkpoint, Problem, Progress

Kind = Literal["dynamic", "static", "control"]
"""The answers decide what is asked next; one order for all cases; or no contender, but a bound or a baseline."""

OWN_NETWORK = "custom"  # in JSON, in place of the function that makes a network

KINDS: dict[Kind, str] = {
    "dynamic": "questions are chosen case by case",
    "static": "a fixed order, everyone is asked the same questions, unless values are missing",
    "control": "a control for comparisons",
}


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
        name = method_name(type(self))
        if self.needs_images and problem.schema.grid is None:
            raise ParameterError(
                "not_supported",
                f"{self!r} is for images, arrays of shape (n, height, width[, channels]); this is a table",
                name="method",
                value=name,
            )
        from askless.training import Checkpoint

        kept = None if checkpoint is None else Checkpoint(checkpoint, self._fingerprint(problem, seed))
        if kept is not None and kept.begun():
            progress.resumed(kept.path)
        begun = time.perf_counter()
        try:
            fitted = self._fit(problem, seed, progress, kept)
        except TrainingError as error:
            error.fields.setdefault("method", name)
            raise
        seconds = {name: round(time.perf_counter() - begun, 3)}
        summary = {
            "method": name,
            "kind": self.kind,
            "losses": {},
            "seconds": seconds,
            "explanation": f"used {name}: {KINDS[self.kind]}",
        }
        fitted = replace(fitted, summary=summary | fitted.summary)
        if progress.shown:
            progress.ended(_last_line(fitted, problem))
        return fitted

    def work(self, problem: Problem) -> float:
        """The expected time of a fit, in trainings of one predictor; only the progress bar needs it."""
        return 1.0

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
            "device": problem.device,
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


def _last_line(fitted: Fitted, problem: Problem) -> str:
    """What was kept, how good it is, what it asks first, and what took how long."""
    from askless.training import validation_rollout

    if fitted.max_features is not None:
        problem = replace(problem, max_features=fitted.max_features)
    trajectory = validation_rollout(fitted.policy, fitted.predictor, problem)
    _, y = problem.validation_sample
    metric = metrics.usual_metric(problem.task)
    summary = fitted.summary
    try:
        score = f"{metric.__name__} {metric(y, trajectory.predictions[:, -1]):.4f} on validation rows"
    except ValueError:  # AUROC of one class
        score = "no score on validation rows"
    if summary.get("folds", 1) > 1:  # all rows were trained on
        score = f"loss {summary['losses'][summary['method']]:.4f} on held-out rows"
    asked = trajectory.order[:, 0] if trajectory.order.shape[1] else np.array([], dtype=np.int64)
    asked = asked[asked >= 0]
    first = f", asks {problem.schema.names[np.bincount(asked).argmax()]!r} first" if len(asked) else ""
    seconds = ", ".join(f"{name} {took:.1f} s" for name, took in fitted.summary["seconds"].items())
    questions = f"{problem.max_features} question{'s' if problem.max_features > 1 else ''}"
    return f"kept {fitted.summary['method']}: {score} with {questions}{first}; {seconds}"


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
        raise ParameterError(
            "wrong_type",
            f"method is the class {method.__name__}; give an instance, {method.__name__}()",
            name="method",
            value=method.__name__,
        )
    known = list_methods()
    if method not in known:
        raise unknown_name("method", method, sorted(known))
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
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if callable(value):
        return OWN_NETWORK
    raise ParameterError(
        "cannot_save", f"a setting is {value!r}; a model file holds only text, numbers, lists and dicts", value=value
    )


def method_from_json(data: dict[str, Any], network: NetworkFactory | None = None) -> Method | str:
    """The method that `data` describes; JSON's lists are the tuples that they were, `network` a user's own network.

    Of a method that is not part of askless only the name is left: the model works, to fit anew needs the class.
    """
    if data["name"] not in list_methods():
        return str(data["name"])
    params = {name: tuple(value) if isinstance(value, list) else value for name, value in data["params"].items()}
    if params.get("network") == OWN_NETWORK and network is not None:
        params["network"] = network
    return find_method(data["name"]).set_params(**params)


@dataclass(eq=False, repr=False, kw_only=True)
class NetMethod(Method):
    """A method whose predictor is a network.

    Settings are fields, so that a method inherits those of its base; scikit-learn finds them in the generated
    `__init__`, and brings its own `repr` and equality.

    Parameters
    ----------
    hidden : hidden layers of a dense network.
    dropout : share of their units that are dropped in training.
    network : "mlp" for dense layers; for images a residual convolutional network: "conv_small", "conv_medium" or
        "conv_patches" (reads each patch as a whole) for a processor, "resnet18" for a GPU, "conv_tiny" for small
        images and trials; or a function `(n_columns, n_features, n_outputs)` that returns an `nn.Module`, whose
        `forward(values, mask)` gives (b, outputs). `hidden` and `dropout` apply to "mlp" only.
    augment : for images: "crops" trains on randomly shifted ones, "crops+flips" mirrors half of these, "tilts" turns,
        slants and stretches them a little, "late_tilts" those of which much has been asked already.
    batch_size, learning_rate, weight_decay : of the optimiser: AdamW, and Muon for the kernels of convolutions.
    epochs : passes over the rows; None picks enough of them.
    """

    limits = NETWORK

    hidden: tuple[int, ...] = (128, 128)
    dropout: float = 0.3
    batch_size: int = 512
    learning_rate: float = 3e-3
    weight_decay: float = 1.0
    epochs: int | None = None
    network: str | NetworkFactory = "mlp"
    augment: Literal["none", "crops", "crops+flips", "tilts", "late_tilts"] = "none"

    @property
    def needs_images(self) -> bool:
        return (isinstance(self.network, str) and self.network != "mlp") or self.augment != "none"

    @property
    def net(self) -> NetSettings:
        """The settings of the network, as training takes them."""
        return NetSettings(
            hidden=self.hidden,
            dropout=self.dropout,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            epochs=self.epochs,
            network=self.network,
            augment=self.augment,
        )


REQUIREMENTS = {"captum": "captum>=0.7,<1", "lassonet": "lassonet>=0.0.21,<0.1"}  # as in pyproject.toml


def needed(module: str, package: str, method: str) -> Any:
    """The module of an optional package; the error names what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        requirement = REQUIREMENTS.get(package, package)
        raise ParameterError(
            "missing_package",
            f"method {method!r} needs the package {package}: pip install '{requirement}'",
            name=method,
            package=package,
            requirement=requirement,
        ) from None
