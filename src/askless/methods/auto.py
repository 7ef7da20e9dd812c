"""Several methods, of which the best on the validation rows is kept."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch

from askless import models
from askless.exceptions import AsklessWarning, ParameterError, TrainingError
from askless.methods.base import Fitted, Method, NetMethod, find_method, method_name
from askless.methods.oracle_order import OracleOrder
from askless.methods.settings import NETWORK, Names, Number
from askless.training import Checkpoint, Problem, Progress, diverged, finished, validation_loss

__all__ = ["Auto"]

PARTS = ("policy", "predictor")


@dataclass(eq=False, repr=False, kw_only=True)
class Auto(NetMethod):
    """Fits several methods and keeps the one with the lowest validation loss.

    No method is the best on every table. Where the answers change what to ask next, a policy that learns from them
    wins. Elsewhere a good static order is as good and steadier. The loss is that of real roll-outs, averaged over the
    budgets (of money, where questions have prices). On the validation rows the result is never worse than the best of
    the methods tried. A fit takes as long as all of them together. Choose it when you have no reason to choose
    another.

    Parameters
    ----------
    methods : the names of those to try.
    pretrain_epochs, iterations, hidden, dropout, batch_size, learning_rate, weight_decay, epochs : where they are not
        the default, of all methods that have such a setting, as for `Greedy`; else each has its own.
    """

    kind = "dynamic"
    limits = NETWORK | {
        "methods": Names(),
        "pretrain_epochs": Number(0, whole=True, or_none=True),
        "iterations": Number(1, whole=True, or_none=True),
    }

    methods: tuple[str, ...] = ("greedy", "value", "forward_selection")
    pretrain_epochs: int | None = None
    iterations: int | None = None

    def check(self) -> Auto:
        """Itself; refuses settings out of their limits, and methods that cannot be tried."""
        super().check()
        if not self.methods:
            raise ParameterError("required", "methods is empty; name at least one method to try", name="methods")
        for name in self.methods:
            method = find_method(name)
            if isinstance(method, Auto):
                raise ParameterError(
                    "invalid_choice", "methods contains 'auto', which cannot try itself", name="methods", value="auto"
                )
            if isinstance(method, OracleOrder):
                raise ParameterError(
                    "invalid_choice",
                    f"methods contains {name!r}, which looks at the true values and cannot be used in an interview",
                    name="methods",
                    value=name,
                )
            self._configured(name).check()
        return self

    @property
    def needs_images(self) -> bool:
        """Whether any of the methods tried cannot learn from a table."""
        return any(self._configured(name).needs_images for name in self.methods)

    @property
    def informative(self) -> bool:
        """Only if all of the methods tried are: any of them may be chosen."""
        return all(find_method(name).informative for name in self.methods)

    def work(self, problem: Problem) -> float:
        """All methods together."""
        return sum(self._configured(name).work(problem) for name in dict.fromkeys(self.methods))

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        methods = {name: self._configured(name) for name in dict.fromkeys(self.methods)}
        parts = progress.parts([method.work(problem) for method in methods.values()], list(methods))
        tried: dict[str, tuple[Fitted, dict[str, Any]]] = {}
        failed: dict[str, TrainingError] = {}
        for (name, method), part in zip(methods.items(), parts, strict=True):
            attempt = _attempt(method, problem, seed, part, checkpoint)
            try:
                tried[name] = _opened(*finished(checkpoint, name, attempt))
            except TrainingError as error:
                failed[name] = error
        if not tried:
            raise _all_failed(failed)
        for name, why in failed.items():
            warnings.warn(
                AsklessWarning("method_failed", f"{name} is left out: {why}", **{**why.fields, "method": name}),
                stacklevel=2,
            )
        losses = {name: last["loss"] for name, (_, last) in tried.items()}
        best = min(losses, key=lambda name: losses[name])
        chosen = tried[best][0]
        history = [row for fitted, _ in tried.values() for row in fitted.history]
        summary = chosen.summary | {
            "method": best,
            "kind": methods[best].kind,
            "losses": losses | dict.fromkeys(failed),
            "seconds": {name: last["seconds"] for name, (_, last) in tried.items()},
            "explanation": _explanation(best, losses, methods),
        }
        return Fitted(chosen.policy, chosen.predictor, history, summary, chosen.max_features)

    def _configured(self, name: str) -> Method:
        """The method of that name, with the settings that were given to this one, as far as it has such."""
        method, usual = find_method(name), Auto().get_params(deep=False)
        given = {key: value for key, value in self.get_params(deep=False).items() if value != usual[key]}
        theirs = method.get_params(deep=False)
        return method.set_params(**{key: value for key, value in given.items() if key in theirs})


def _attempt(
    method: Method, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
) -> Callable[[], tuple[dict[str, torch.Tensor], list[dict[str, Any]]]]:
    """Fits a method, and puts the result into tensors and rows of JSON, as a checkpoint keeps them."""
    name = method_name(type(method))

    def fit() -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
        begun = time.perf_counter()
        fitted = method._fit(problem, seed, progress, checkpoint)
        loss = validation_loss(fitted.policy, fitted.predictor, problem)
        if not isfinite(loss):
            raise diverged(name, None, "the validation loss is not finite")
        parts: dict[str, Any] = {part: getattr(fitted, part) for part in PARTS}
        tensors = {
            f"{part}.{key}": torch.from_numpy(array.copy())
            for part, model in parts.items()
            for key, array in model.arrays().items()
        }
        described = {part: {"name": type(model).__name__, "config": model.config()} for part, model in parts.items()}
        last = {
            "loss": loss,
            "summary": fitted.summary,
            "max_features": fitted.max_features,
            "seconds": round(time.perf_counter() - begun, 3),
        }
        return tensors, [*({"method": name, **row} for row in fitted.history), described | last]

    return fit


def _opened(tensors: dict[str, torch.Tensor], rows: list[dict[str, Any]]) -> tuple[Fitted, dict[str, Any]]:
    """The fitted method that `_attempt` put into tensors and rows, with its validation loss and its time."""
    *history, last = rows

    def built(part: str) -> Any:
        arrays = {key.removeprefix(f"{part}."): t.numpy() for key, t in tensors.items() if key.startswith(f"{part}.")}
        return getattr(models, last[part]["name"]).build(last[part]["config"], arrays)

    policy, predictor = (built(part) for part in PARTS)
    return Fitted(policy, predictor, history, last["summary"], last["max_features"]), last


def _all_failed(failed: dict[str, TrainingError]) -> TrainingError:
    """The error where no method could be fitted: that of the first, with the names of all."""
    first = next(iter(failed.values()))
    message = f"all of {', '.join(failed)} failed; the first: {first}"
    return TrainingError(first.code, message, **{**first.fields, "method": "auto", "methods": list(failed)})


def _explanation(best: str, losses: dict[str, float], methods: dict[str, Method]) -> str:
    """Says what was kept, and compares its validation loss with the best of the other kind."""
    static = methods[best].kind != "dynamic"
    others = {name: loss for name, loss in losses.items() if (methods[name].kind != "dynamic") != static}
    kept = (
        "a fixed order: everyone is asked the same questions, unless values are missing"
        if static
        else f"{best}: questions chosen case by case"
    )
    if not others:
        beside = {name: loss for name, loss in losses.items() if name != best}
        compared = "".join(f"; {name} was no better ({loss:.4f})" for name, loss in beside.items())
        return f"kept {kept}; validation loss {losses[best]:.4f}{compared}"
    other = min(others.values())
    alternative = "choosing case by case" if static else "a fixed order"
    compared = f"validation loss {other:.4f} against {losses[best]:.4f}, lower is better"
    return f"kept {kept}; {alternative} was no better ({compared})"
