"""Several methods, of which the best on the validation rows is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from askless import models
from askless.exceptions import ParameterError
from askless.methods.base import Fitted, Method, find_method
from askless.methods.networked import NetMethod
from askless.methods.oracle_order import OracleOrder
from askless.methods.settings import NETWORK, Names, Number

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from askless.training import Checkpoint, Problem, Progress

__all__ = ["Auto"]

PARTS = ("policy", "predictor")


@dataclass(eq=False, repr=False, kw_only=True)
class Auto(NetMethod):
    """Fits several methods and keeps the one with the lowest validation loss.

    No method is the best on every table: where the answers change what to ask next, a policy that learns from them
    wins; where they do not, a good static order is as good and steadier. The loss is the mean over the budgets (of
    money, where questions have prices) of real roll-outs; on the validation rows the result is never worse than the
    best of the methods tried. It takes as long as all of them together. Choose it when you have no reason to choose
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
            raise ParameterError("methods is empty; name at least one method to try")
        for name in self.methods:
            method = find_method(name)
            if isinstance(method, Auto):
                raise ParameterError("methods has 'auto', which is what tries them")
            if isinstance(method, OracleOrder):
                raise ParameterError(
                    f"methods has {name!r}, which looks at the truth: it would win, and could not be used"
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

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        from askless.training import finished

        tried: dict[str, Fitted] = {}
        losses: dict[str, float] = {}
        for name in dict.fromkeys(self.methods):
            attempt = _attempt(name, self._configured(name), problem, seed, progress, checkpoint)
            tried[name], losses[name] = _opened(*finished(checkpoint, name, attempt))
        best = min(losses, key=lambda name: (isnan(losses[name]), losses[name]))
        if isnan(losses[best]):
            raise ParameterError(
                f"no loss of {', '.join(losses)} on validation rows is a number; lower the learning rate"
            )
        chosen = tried[best]
        history = [row for fitted in tried.values() for row in fitted.history]
        summary = chosen.summary | {
            "chosen": best,
            "validation_losses": _told(losses),
            "why": _why(best, losses, problem),
        }
        return Fitted(chosen.policy, chosen.predictor, history, summary, chosen.max_features)

    def _configured(self, name: str) -> Method:
        """The method of that name, with the settings that were given to this one, as far as it has such."""
        method, usual = find_method(name), Auto().get_params(deep=False)
        given = {key: value for key, value in self.get_params(deep=False).items() if value != usual[key]}
        theirs = method.get_params(deep=False)
        return method.set_params(**{key: value for key, value in given.items() if key in theirs})  # type: ignore[no-any-return]


def _attempt(
    name: str, method: Method, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
) -> Callable[[], tuple[dict[str, torch.Tensor], list[dict[str, Any]]]]:
    """Fits a method, and puts what comes of it into tensors and rows of JSON, as a checkpoint keeps them."""

    def fit() -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
        import torch

        from askless.training import validation_loss
        from askless.training.distributed import same_everywhere

        fitted = method._fit(problem, seed, _Named(progress, name), checkpoint)
        loss = torch.tensor(validation_loss(fitted.policy, fitted.predictor, problem), dtype=torch.float64)
        parts: dict[str, Any] = {part: getattr(fitted, part) for part in PARTS}
        tensors = {
            f"{part}.{key}": torch.from_numpy(array.copy())
            for part, model in parts.items()
            for key, array in model.arrays().items()
        }
        described = {part: {"name": type(model).__name__, "config": model.config()} for part, model in parts.items()}
        last = {"loss": float(same_everywhere(loss)), "summary": fitted.summary, "max_features": fitted.max_features}
        return tensors, [*({"method": name, **row} for row in fitted.history), described | last]

    return fit


def _opened(tensors: dict[str, torch.Tensor], rows: list[dict[str, Any]]) -> tuple[Fitted, float]:
    """What `_attempt` put together: the fitted method, and its validation loss."""
    *history, last = rows

    def built(part: str) -> Any:
        arrays = {key.removeprefix(f"{part}."): t.numpy() for key, t in tensors.items() if key.startswith(f"{part}.")}
        return getattr(models, last[part]["name"]).build(last[part]["config"], arrays)

    policy, predictor = (built(part) for part in PARTS)
    return Fitted(policy, predictor, history, last["summary"], last["max_features"]), last["loss"]


def _told(losses: dict[str, float]) -> dict[str, float | None]:
    """As a file can hold them."""
    return {name: loss if isfinite(loss) else None for name, loss in losses.items()}


def _why(best: str, losses: dict[str, float], problem: Problem) -> str:
    budgets = "budgets of money" if problem.priced else f"budgets 1 to {problem.max_features}"
    others = ", ".join(f"{name} {loss:.4f}" for name, loss in losses.items() if name != best)
    after = f"; {others}" if others else ""
    return f"{best} has the lowest validation loss over {budgets}: {losses[best]:.4f}{after}"


class _Named:
    """Tells which method is being tried."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress, self._name = progress, name

    def resumed(self, path: Path) -> None:
        self._progress.resumed(path)

    def start(self, total: int) -> None:
        self._progress.start(total)

    def epoch(self, done: int, phase: str, row: dict[str, float | int | str]) -> None:
        self._progress.epoch(done, f"{self._name}: {phase}", row)
