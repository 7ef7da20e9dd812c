"""The phases of opportunistic learning."""

from __future__ import annotations

import torch

from askless.methods.base import Fitted
from askless.methods.opportunistic.learner import OpportunisticLearner
from askless.methods.opportunistic.method import Opportunistic
from askless.methods.opportunistic.replay import Replay, capacity
from askless.methods.opportunistic.streams import Streams
from askless.nn import Dropout, PolicyPredictor
from askless.training import (
    Checkpoint,
    Phase,
    Problem,
    Progress,
    SubsetLearner,
    calibrated,
    enough_epochs,
    exported_predictor,
    new_policy_predictor,
    one_thread,
    train,
    training_summary,
    uniform_sets,
)

__all__ = ["fit_opportunistic"]

EPOCHS, UPDATES = 80, 250  # of a training, and in each epoch
PRETRAIN_EPOCHS, PRETRAIN_STEPS = 20, 800  # at least
STREAMS = 64
VALIDATE_EVERY, VALIDATE_FROM = 4, 0.2
AVERAGE = 0.99


def fit_opportunistic(
    method: Opportunistic, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
) -> Fitted:
    """Train `method` on `problem`."""
    with one_thread():
        generator = torch.Generator().manual_seed(seed)
        module = new_policy_predictor(problem, method.net, method.shared, generator)
        dropout = Dropout(method.dropout, generator, seed)
        sampler = uniform_sets(problem.max_features)  # the sets that random questions lead to
        pretraining = SubsetLearner(
            module.predictor, problem, dropout, sampler, method.batch_size, seed, method.augment
        )
        epochs = EPOCHS if method.epochs is None else method.epochs
        learner = _learner(method, module, problem, dropout, epochs, seed)
        phases = [
            Phase(
                "pretraining",
                pretraining,
                enough_epochs(pretraining.n_batches, PRETRAIN_EPOCHS, PRETRAIN_STEPS)
                if method.pretrain_epochs is None
                else method.pretrain_epochs,
                lr=method.learning_rate,
                weight_decay=method.weight_decay,
                validate_every=2,
            ),
            Phase(
                "values",
                learner,
                epochs,
                lr=method.learning_rate,
                weight_decay=method.weight_decay,
                temperature=method.exploration,
                average=AVERAGE,
                validate_every=VALIDATE_EVERY,
                validate_from=VALIDATE_FROM,
                work=UPDATES / pretraining.n_batches,
            ),
        ]
        history = train(phases, generator, progress=progress, checkpoint=checkpoint)
        policy = learner.policy(module)
        predictor = calibrated(exported_predictor(module.predictor, problem), policy, problem)
    return Fitted(policy, predictor, history, training_summary(history))


def _learner(
    method: Opportunistic, module: PolicyPredictor, problem: Problem, dropout: Dropout, epochs: int, seed: int
) -> OpportunisticLearner:
    rows = problem.tensors("train")
    n_features = len(problem.schema)
    experiences = round(epochs * UPDATES * (1.0 + n_features / 100.0))
    size = capacity(n_features, max(method.batch_size, STREAMS, experiences))
    return OpportunisticLearner(
        module,
        problem,
        Streams(rows, problem.max_features, STREAMS, seed),
        Replay(size, n_features, rows.x.dtype),
        dropout,
        batch_size=method.batch_size,
        updates=UPDATES,
        mc_samples=method.mc_samples,
        discount=method.discount,
        target_rate=method.target_rate,
    )
