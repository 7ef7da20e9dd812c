"""The value method's phases: pretraining on random sets, then values and predictor together."""

from __future__ import annotations

import torch

from askless.methods.base import Fitted
from askless.methods.value.learner import ValueLearner
from askless.methods.value.method import Value
from askless.nn import Dropout
from askless.training import (
    Chains,
    Checkpoint,
    Phase,
    Problem,
    Progress,
    calibrated,
    chain_work,
    enough_for_policy,
    epoch_batches,
    exported_predictor,
    fit_threads,
    new_policy_predictor,
    polishing,
    pretraining,
    seldom_validated,
    train,
    training_summary,
)

__all__ = ["fit_value"]


def fit_value(
    method: Value, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
) -> Fitted:
    """Train `method` on `problem`."""
    with fit_threads(problem.n_threads):
        generator = torch.Generator().manual_seed(seed)
        module = new_policy_predictor(problem, method.net, method.shared, generator)
        dropout = Dropout(method.dropout, generator, seed)
        n_batches = epoch_batches(problem, method.states_per_row, method.batch_size)
        epochs = enough_for_policy(n_batches) if method.epochs is None else method.epochs
        chains = Chains(
            problem,
            batch_size=method.batch_size,
            states_per_row=method.states_per_row,
            walks=method.walks,
            epochs=epochs,
            random_subsets=False,
            random_starts=method.random_starts,
            generator=generator,
            seed=seed,
            augment=method.augment,
        )

        def learner(with_dropout: Dropout | None) -> ValueLearner:
            return ValueLearner(
                module,
                problem,
                chains,
                with_dropout,
                candidates=method.candidates,
                exact_first=method.first == "exact",
            )

        phases = [
            pretraining(module.predictor, problem, dropout, method.net, epochs=method.pretrain_epochs, seed=seed),
            _values(method, learner(dropout), epochs, chain_work(problem, n_batches, method.batch_size)),
        ]
        if method.polish:
            phases.append(polishing(phases[-1], learner(None)))
        history = train(phases, generator, progress=progress, checkpoint=checkpoint)
        last = learner(None)
        last.refine_first()
        policy = last.policy(module)
        predictor = calibrated(exported_predictor(module.predictor, problem), policy, problem)
    return Fitted(policy, predictor, history, training_summary(history))


def _values(method: Value, learner: ValueLearner, epochs: int, work: float) -> Phase:
    """Values and predictor together."""
    return Phase(
        "values",
        learner,
        epochs,
        lr=method.learning_rate,
        weight_decay=method.weight_decay,
        temperature=method.exploration,
        average=method.average,
        keep_best_of="values",
        work=work,
        **seldom_validated(epochs),
    )
