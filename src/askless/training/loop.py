"""The fit loop in three levels: all phases, one phase, one epoch."""

from __future__ import annotations

import copy
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import threadpoolctl  # type: ignore[import-untyped]
import torch
from torch import Tensor, nn

from askless.exceptions import CheckpointError, TrainingError
from askless.networks import UnitDropout
from askless.training.checkpoint import Checkpoint, Snapshot
from askless.training.optimizer import Optimizer
from askless.training.progress import Progress

__all__ = ["Learner", "Phase", "Row", "diverged", "enough_epochs", "fit_threads", "one_thread", "seeded", "train"]

Row = dict[str, float | int | str]


class Learner(ABC):
    """What a phase trains: a module, its batches, its loss and its validation."""

    module: Any  # optimised; validation gets it, or a moving average of it

    def begin(self) -> None:  # noqa: B027
        """Called when the phase starts, but not when it is resumed; what it sets must be in `module` or `tensors`."""

    @abstractmethod
    def batches(self) -> Sequence[Tensor]:
        """The batches of one epoch, each a tensor of indices."""

    @abstractmethod
    def loss(self, batch: Tensor, temperature: float) -> Tensor:
        """The mean loss of a batch, for autograd; may move the learner's own state on."""

    @abstractmethod
    def validate(self, module: Any, temperature: float) -> dict[str, float]:
        """Losses on the validation rows, by name."""

    def tensors(self) -> dict[str, Tensor]:
        """The learner's own state, which a checkpoint must hold; it is restored in place."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One run of epochs over one learner."""

    name: str
    learner: Learner
    epochs: int
    lr: float
    weight_decay: float = 0.0
    dropout: float | None = None  # the rate from this phase on; None leaves it
    schedule: Literal["cosine", "plateau"] = "cosine"
    temperature: tuple[float, float] | None = None  # geometric from the first to the last over the first 80 %
    average: float = 0.0  # decay of the exponential moving average of the weights; 0 for none
    validate_every: int = 1  # epochs
    validations: int | None = None  # or about so many
    validate_from: float = 0.0  # share of the epochs that pass before the first validation
    monitor: str = "loss"  # the validation loss that early stopping watches
    select: str = "loss"  # the validation loss by which the returned weights are the best
    patience: int | None = None  # validations without improvement before the phase ends
    keep_best_of: str | None = None  # phases of the same key share one best: the best of all of them is returned
    work: float = 1.0  # expected time of an epoch, compared with those of the other phases; for the progress bar


WARMUP = 0.05  # of a phase's steps
FINAL_LR = 0.01  # of the phase's learning rate, at the end of a cosine
ANNEALED = 0.8  # of a phase's steps, until the temperature is at its last value
PLATEAU_FACTOR, PLATEAU_PATIENCE = 0.2, 2


def enough_epochs(n_batches: int, least: int, steps: int) -> int:
    """Enough epochs for a number of optimiser steps: at least `least`, at most ten times as many."""
    return min(max(least, -(-steps // n_batches)), 10 * least)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw torch's random numbers from this seed; afterwards the generator is as it was before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@dataclass
class _Best:
    """The weights that did best so far, and by how much."""

    score: float = math.inf
    watched: float = math.inf
    stale: int = 0
    weights: dict[str, Tensor] = field(default_factory=dict)


@dataclass
class _Run:
    """Everything that changes while phases run; a checkpoint holds it all."""

    history: list[Row] = field(default_factory=list)
    phase: int = 0
    epoch: int = 0
    lr_scale: float = 1.0
    best: _Best = field(default_factory=_Best)


def train(phases: Sequence[Phase], *, progress: Progress, checkpoint: Checkpoint | None = None) -> list[Row]:
    """Run the phases one after another; each leaves its learner's module with the best weights it had.

    Returns the history, one row for each epoch. With a checkpoint, an interrupted run continues after the last
    finished epoch. Random numbers come from torch's global generator; see `seeded`.
    """
    run = _Run()
    resumed = checkpoint.load() if checkpoint is not None else None
    progress.start(sum(phase.epochs * phase.work for phase in phases))
    first = int(resumed.notes["phase"]) if resumed else 0
    if first >= len(phases):
        raise CheckpointError(
            "other_fit",
            "the checkpoint belongs to a fit with more phases; give another path, or delete it",
            path=None,
        )
    for index in range(first, len(phases)):
        phase = phases[index]
        if index > 0 and phase.keep_best_of is not None and phases[index - 1].keep_best_of == phase.keep_best_of:
            run.best.watched, run.best.stale = math.inf, 0
        else:
            run.best = _Best()
        run.phase, run.epoch, run.lr_scale = index, 0, 1.0
        before = sum(p.epochs * p.work for p in phases[:index])
        _run_phase(phase, run, progress, before, checkpoint, resumed if index == first else None)
    return run.history


def _run_phase(
    phase: Phase,
    run: _Run,
    progress: Progress,
    before: float,
    checkpoint: Checkpoint | None,
    resumed: Snapshot | None,
) -> None:
    learner = phase.learner
    if phase.dropout is not None:
        for part in learner.module.modules():
            if isinstance(part, UnitDropout):  # the number of units that are kept stays: only 0 turns dropout off
                part.rate = phase.dropout
    if resumed is None:
        learner.begin()
    optimizer = Optimizer(learner.module, phase.weight_decay)
    average = copy.deepcopy(learner.module) if phase.average else learner.module
    if resumed is not None:
        _restore(resumed, phase, run, optimizer, average)
    every = phase.validate_every
    if phase.validations is not None:
        every = max(1, round((1.0 - phase.validate_from) * phase.epochs / phase.validations))
    while run.epoch < phase.epochs and (phase.patience is None or run.best.stale < phase.patience):
        row = _run_epoch(phase, run, optimizer, average)
        run.epoch += 1
        # counted from the last epoch, which is always validated
        if run.epoch >= phase.validate_from * phase.epochs and (phase.epochs - run.epoch) % every == 0:
            average.eval()
            losses = learner.validate(average, _temperature(phase, run.epoch / phase.epochs))
            row |= {f"valid_{name}": value for name, value in losses.items()}
            _note_validation(phase, run, losses, average)
        run.history.append(row)
        if not math.isfinite(float(row["train_loss"])):
            raise diverged(phase.name, run.epoch, "the training loss is not finite")
        progress.epoch(before + run.epoch * phase.work, phase.name, row)
        if checkpoint is not None:
            checkpoint.save(_snapshot(phase, run, optimizer, average))
    if run.best.weights and not math.isfinite(run.best.score):
        raise diverged(phase.name, run.epoch, "no validation loss is finite")
    if run.best.weights:  # a phase of no epochs leaves the weights as they are
        learner.module.load_state_dict(run.best.weights)
    learner.module.eval()


def diverged(phase: str, epoch: int | None, what: str) -> TrainingError:
    """The error of a fit whose losses or scores are not finite; `Method.fit` adds the method."""
    where = phase if epoch is None else f"{phase}, epoch {epoch}"
    return TrainingError(
        "diverged",
        f"the fit diverged ({where}): {what}; lower the learning rate, and check the table for extreme values",
        phase=phase,
        epoch=epoch,
    )


def _run_epoch(phase: Phase, run: _Run, optimizer: Optimizer, average: nn.Module) -> Row:
    module = phase.learner.module.train()
    weights = list(module.parameters())  # once, because a module takes long to list them
    pairs = list(zip([*average.parameters(), *average.buffers()], [*weights, *module.buffers()], strict=True))
    batches = phase.learner.batches()
    total = torch.zeros(())
    fraction = 0.0
    for i, batch in enumerate(batches):
        fraction = (run.epoch + i / len(batches)) / phase.epochs
        lr = _learning_rate(phase, fraction, 1.0 / (phase.epochs * len(batches))) * run.lr_scale
        for weight in weights:
            weight.grad = None
        loss = phase.learner.loss(batch, _temperature(phase, fraction))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step(lr)
        total += loss.detach()
        if phase.average:
            _follow(pairs, phase.average, run.epoch * len(batches) + i)
    row: Row = {
        "phase": phase.name,
        "epoch": run.epoch + 1,
        "lr": _learning_rate(phase, fraction, 0.0) * run.lr_scale,
        "train_loss": float(total) / max(len(batches), 1),
    }
    return row if phase.temperature is None else row | {"temperature": _temperature(phase, fraction)}


def _learning_rate(phase: Phase, fraction: float, one_step: float) -> float:
    if phase.schedule == "plateau":
        return phase.lr
    warm = min(1.0, (fraction + one_step) / WARMUP)
    cosine = FINAL_LR + (1.0 - FINAL_LR) * 0.5 * (1.0 + math.cos(math.pi * fraction))
    return phase.lr * warm * cosine


def _temperature(phase: Phase, fraction: float) -> float:
    if phase.temperature is None:
        return 1.0
    start, end = phase.temperature
    return float(start * (end / start) ** min(1.0, fraction / ANNEALED))


def _note_validation(phase: Phase, run: _Run, losses: dict[str, float], module: nn.Module) -> None:
    best = run.best
    score = losses[phase.select]
    if score < best.score or not best.weights:
        best.score = score if math.isfinite(score) else math.inf  # whatever comes next is better
        best.weights = {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
    if losses[phase.monitor] < best.watched:
        best.watched, best.stale = losses[phase.monitor], 0
        return
    best.stale += 1
    if phase.schedule == "plateau" and best.stale % PLATEAU_PATIENCE == 0:
        run.lr_scale *= PLATEAU_FACTOR


@torch.no_grad()
def _follow(pairs: Sequence[tuple[Tensor, Tensor]], decay: float, step: int) -> None:
    """Move an exponential moving average, the first of each pair, towards the weights; early steps move faster."""
    share = 1.0 - min(decay, (1.0 + step) / (10.0 + step))
    for kept, now in pairs:
        if kept.is_floating_point():  # batch statistics follow the weights that they belong to
            kept.lerp_(now, share)
        elif kept.ndim == 0:
            kept.copy_(now)


def _snapshot(phase: Phase, run: _Run, optimizer: Optimizer, average: nn.Module) -> Snapshot:
    tensors = {"generator": torch.get_rng_state()}
    tensors |= {f"module.{name}": t for name, t in phase.learner.module.state_dict().items()}
    tensors |= {f"average.{name}": t for name, t in average.state_dict().items()}
    tensors |= {f"best.{name}": t for name, t in run.best.weights.items()}
    tensors |= {f"learner.{name}": t for name, t in phase.learner.tensors().items()}
    tensors |= {f"optimizer.{name}": t for name, t in optimizer.tensors().items()}
    notes: dict[str, Any] = {
        "phase": run.phase,
        "epoch": run.epoch,
        "lr_scale": run.lr_scale,
        "score": run.best.score,
        "watched": run.best.watched,
        "stale": run.best.stale,
        "history": run.history,
    }
    return Snapshot(tensors, notes)


def _restore(saved: Snapshot, phase: Phase, run: _Run, optimizer: Optimizer, average: nn.Module) -> None:
    def part(prefix: str) -> dict[str, Tensor]:
        return {n.removeprefix(prefix): t for n, t in saved.tensors.items() if n.startswith(prefix)}

    torch.set_rng_state(saved.tensors["generator"])
    try:
        phase.learner.module.load_state_dict(part("module."))
        average.load_state_dict(part("average."))
    except RuntimeError as error:  # a fingerprint does not cover what a user's function makes
        raise CheckpointError(
            "other_fit",
            "the checkpoint belongs to a fit with another network; give another path, or delete it",
            path=None,
        ) from error
    for prefix, tensors in (("learner.", phase.learner.tensors()), ("optimizer.", optimizer.tensors())):
        for name, tensor in tensors.items():
            tensor.copy_(saved.tensors[prefix + name])
    notes = saved.notes
    run.epoch, run.lr_scale, run.history = notes["epoch"], notes["lr_scale"], notes["history"]
    run.best = _Best(notes["score"], notes["watched"], notes["stale"], part("best."))


# Threads: small networks are slower in several, which then wait for each other. numpy's library always has one, since
# its threads and torch's would take turns on the same cores. Another number of threads may change the last digits.

_lock = threading.Lock()
_inside = 0
_outside = 1  # torch's threads before the first of several fits began
_limits: Any = None  # of numpy's library, since then


@contextmanager
def fit_threads(n: int | None) -> Iterator[None]:
    """Run torch in n threads, or with None in as many as it had outside of all such contexts.

    torch counts its threads for each thread that calls it. numpy's library has one setting for all, which comes back
    when the last of several fits has ended.
    """
    global _inside, _outside, _limits
    with _lock:
        before = torch.get_num_threads()
        if _inside == 0:
            _outside = before
            _limits = threadpoolctl.threadpool_limits(1, user_api="blas")
        else:  # a thread that has not called torch before takes over what another fit has set
            before = max(before, _outside)
        _inside += 1
        torch.set_num_threads(before if n is None else n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        with _lock:
            _inside -= 1
            if _inside == 0:
                _let_any_thread_set_limits()
                _limits.restore_original_limits()
                _let_any_thread_set_limits()


one_thread = partial(fit_threads, 1)
"""Run torch and numpy in one thread."""


def _let_any_thread_set_limits() -> None:
    """From version 3.8 on threadpoolctl heeds only the thread that has set a limit first, while that one lives.

    Here the fit that ends last, in whatever thread, takes back what the first one has set.
    """
    release = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
