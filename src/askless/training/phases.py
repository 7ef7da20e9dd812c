"""What methods that train a policy and a predictor together have in common: how long, and how often to look."""

from __future__ import annotations

from math import isfinite
from typing import Any

from askless.nn import Dropout, MaskedNet
from askless.training.data import Problem
from askless.training.loop import Learner, Phase, enough_epochs
from askless.training.predictor import NetSettings
from askless.training.subsets import ROWS_PER_EPOCH, SubsetLearner, bernoulli_sets

__all__ = ["chain_work", "enough_for_policy", "polishing", "pretraining", "seldom_validated", "training_summary"]

PRETRAIN_EPOCHS, PRETRAIN_STEPS = 20, 400  # at least
EPOCHS, STEPS = 30, 1000
POLISH_EPOCHS, POLISH_LR = 0.4, 2 / 3  # shares of what the phase before has
CHAIN_STEP = 4.0  # expected time of a step that trains policy and predictor, compared with one of pretraining
VALIDATIONS, VALIDATE_FROM = 6, 0.4  # each one costs about as much as an epoch, and early ones are not the best


def pretraining(
    predictor: MaskedNet, problem: Problem, dropout: Dropout, net: NetSettings, *, epochs: int | None, seed: int
) -> Phase:
    """The predictor learns from random sets of all sizes."""
    learner = SubsetLearner(predictor, problem, dropout, bernoulli_sets, net.batch_size, seed, net.augment)
    enough = enough_epochs(learner.n_batches, PRETRAIN_EPOCHS, PRETRAIN_STEPS)
    return Phase(
        "pretraining",
        learner,
        enough if epochs is None else epochs,
        lr=net.learning_rate,
        weight_decay=net.weight_decay,
        validate_every=2,
    )


def chain_work(problem: Problem, n_batches: int, batch_size: int) -> float:
    """The expected time of an epoch of so many batches of states, compared with one of pretraining."""
    return CHAIN_STEP * n_batches / -(-min(len(problem.y_train), ROWS_PER_EPOCH) // batch_size)


def polishing(before: Phase, learner: Learner) -> Phase:
    """The last phase: without dropout and decay it may overfit, but the best of both phases is what is kept."""
    epochs = max(1, round(POLISH_EPOCHS * before.epochs))
    last = None if before.temperature is None else before.temperature[1]
    return Phase(
        "polish",
        learner,
        epochs,
        lr=POLISH_LR * before.lr,
        temperature=None if last is None else (last, last),
        average=before.average,
        keep_best_of=before.keep_best_of,
        work=before.work,
        **seldom_validated(epochs),
    )


def enough_for_policy(n_batches: int) -> int:
    """Epochs of so many batches that a policy needs."""
    return enough_epochs(n_batches, EPOCHS, STEPS)


def seldom_validated(epochs: int) -> dict[str, Any]:
    """Settings of a phase of so many epochs that is validated a few times, late."""
    every = max(1, round((1.0 - VALIDATE_FROM) * epochs / VALIDATIONS))
    return {"validate_every": every, "validate_from": VALIDATE_FROM}


def training_summary(history: list[dict[str, Any]]) -> dict[str, Any]:
    """What a model file says of the training: no times, so that the same seed gives the same bytes."""
    losses = [row["valid_loss"] for row in history if row["phase"] != "pretraining" and "valid_loss" in row]
    return {"epochs": len(history), "best_validation_loss": min(filter(isfinite, losses), default=None)}
