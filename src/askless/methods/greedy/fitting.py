"""The greedy method's phases: pretraining on random sets, then policy and predictor together."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from askless.methods.base import Fitted
from askless.methods.greedy.chains import ChainLearner
from askless.methods.greedy.method import Greedy
from askless.models import NetPolicy
from askless.nn import NoiseBank, PolicyPredictor
from askless.training import (
    Checkpoint,
    LivePolicy,
    Phase,
    Problem,
    Progress,
    SubsetLearner,
    bernoulli_sets,
    enough_epochs,
    exported_predictor,
    one_thread,
    train,
)

__all__ = ["fit_greedy"]

PRETRAIN_EPOCHS, PRETRAIN_STEPS = 20, 400  # at least
EPOCHS, STEPS = 30, 1000
VALIDATIONS = 15  # of an annealed schedule; each one costs about as much as an epoch


def fit_greedy(
    method: Greedy, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
) -> Fitted:
    """Train `method` on `problem`."""
    with one_thread():
        generator = torch.Generator().manual_seed(seed)
        module = PolicyPredictor(
            problem.schema.n_columns,
            len(problem.schema),
            problem.n_outputs,
            method.hidden,
            shared=method.shared,
            generator=generator,
        )
        widest = max(len(problem.schema), *method.hidden)
        noise = NoiseBank(method.batch_size, widest, method.dropout, generator, seed)
        pretraining = SubsetLearner(module.predictor, problem, noise, bernoulli_sets, method.batch_size, seed)
        chains = ChainLearner(
            module,
            problem,
            noise,
            batch_size=method.batch_size,
            states_per_row=method.states_per_row,
            random_subsets=method.subsets == "random",
            exact_first=method.first == "exact",
            relaxed_validation=method.schedule == "staged",
            seed=seed,
        )
        phases = [_pretraining(method, pretraining), *_selection(method, chains)]
        history = train(phases, generator, progress=progress, checkpoint=checkpoint)
        first = chains.first if method.first == "exact" else None
        predictor = exported_predictor(module.predictor, LivePolicy(module.policy, first), problem)
    policy = NetPolicy(module.policy.network(), None if first is None else first.numpy().copy())
    return Fitted(policy, predictor, history, _summary(history))


def _pretraining(method: Greedy, learner: SubsetLearner) -> Phase:
    return Phase(
        "pretraining",
        learner,
        method.pretrain_epochs or enough_epochs(learner.n_batches, PRETRAIN_EPOCHS, PRETRAIN_STEPS),
        lr=method.learning_rate,
        weight_decay=method.weight_decay,
        validate_every=2,
    )


def _selection(method: Greedy, learner: ChainLearner) -> list[Phase]:
    """The joint training: one annealed phase, or one phase for each temperature."""
    hot, cold = method.temperatures
    epochs = method.epochs or enough_epochs(learner.n_batches, EPOCHS, STEPS)
    if method.schedule == "annealed":
        phase = Phase(
            "policy",
            learner,
            epochs,
            lr=method.learning_rate,
            weight_decay=method.weight_decay,
            temperature=(hot, cold),
            average=method.average,
            validate_every=max(1, epochs // VALIDATIONS),
        )
        return [phase]
    return [
        Phase(
            "policy",
            learner,
            epochs,
            lr=method.learning_rate,
            weight_decay=method.weight_decay,
            temperature=(temperature, temperature),
            schedule="plateau",
            monitor="relaxed_loss",
            patience=method.patience,
            keep_best_of="policy",
        )
        for temperature in np.geomspace(hot, cold, method.stages).tolist()
    ]


def _summary(history: list[dict[str, Any]]) -> dict[str, Any]:
    """What a model file says of the training: no times, so that the same seed gives the same bytes."""
    losses = [row["valid_loss"] for row in history if row["phase"] == "policy" and "valid_loss" in row]
    return {"epochs": len(history), "best_validation_loss": min(losses) if losses else None}
