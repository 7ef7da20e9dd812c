"""The greedy method's phases: pretraining on random sets, then policy and predictor together."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch

from askless.methods.base import Fitted
from askless.methods.greedy.expected import ExpectedLearner
from askless.methods.greedy.following import FollowingLearner
from askless.methods.greedy.learner import GreedyLearner
from askless.methods.greedy.method import Greedy
from askless.methods.greedy.relaxed import RelaxedLearner
from askless.nn import Dropout, GumbelBank
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

__all__ = ["fit_greedy"]

GOING_ON_LR = 0.5  # share of the learning rate for networks that are trained already: at all of it they lose first


def fit_greedy(
    method: Greedy, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
) -> Fitted:
    """Train `method` on `problem`."""
    with fit_threads(problem.n_threads):
        generator = torch.Generator().manual_seed(seed)
        module = new_policy_predictor(problem, method.net, method.shared, generator)
        gumbel = GumbelBank(method.batch_size, len(problem.schema), generator, seed)
        dropout = Dropout(method.dropout, generator, seed)
        before = pretraining(module.predictor, problem, dropout, method.net, epochs=method.pretrain_epochs, seed=seed)
        n_batches = epoch_batches(problem, method.states_per_row, method.batch_size)
        epochs = enough_for_policy(n_batches) if method.epochs is None else method.epochs
        chains_for = partial(
            Chains,
            problem,
            batch_size=method.batch_size,
            states_per_row=method.states_per_row,
            random_subsets=method.subsets == "random",
            random_starts=method.random_starts,
            generator=generator,
            seed=seed,
            augment=method.augment,
            depths=method.depths,
        )
        chains = chains_for(epochs=epochs, walks=method.walks)
        exact_first = method.first == "exact"

        def expected(with_dropout: Dropout | None) -> ExpectedLearner:
            return ExpectedLearner(
                module,
                problem,
                chains,
                gumbel,
                with_dropout,
                candidates=method.candidates,
                exact_first=exact_first,
            )

        phases = [before]
        work = chain_work(problem, n_batches, method.batch_size)
        if method.schedule != "expected":
            relaxed = RelaxedLearner(
                module,
                problem,
                chains,
                gumbel,
                dropout,
                exact_first=exact_first,
                watch_relaxed_loss=method.schedule == "staged",
                seed=seed,
            )
            phases += _relaxed_phases(method, relaxed, epochs, work)
        if method.schedule == "expected":
            phases.append(_one_phase(method, expected(dropout), epochs, work=work, keep_best_of="expected"))
        elif method.schedule == "annealed+expected":
            second = epochs if method.expected_epochs is None else method.expected_epochs
            rate = GOING_ON_LR * method.learning_rate
            phases.append(_one_phase(method, expected(dropout), second, work=work, lr=rate, keep_best_of="expected"))
        last: GreedyLearner = expected(None)
        if method.polish:
            phases.append(polishing(phases[-1], last))
        if method.predictor_epochs:
            on_their_own = chains_for(epochs=method.predictor_epochs, walks=1)
            last, kept = FollowingLearner(last, on_their_own, dropout), phases[-1].keep_best_of
            rate = method.predictor_rate * method.learning_rate
            phases.append(
                _one_phase(
                    method, last, method.predictor_epochs, work=work, name="predictor", lr=rate, keep_best_of=kept
                )
            )
        history = train(phases, generator, progress=progress, checkpoint=checkpoint)
        policy = last.policy(last.module)
        predictor = calibrated(exported_predictor(last.module.predictor, problem), policy, problem)
    return Fitted(policy, predictor, history, training_summary(history))


def _relaxed_phases(method: Greedy, learner: RelaxedLearner, epochs: int, work: float) -> list[Phase]:
    """The joint training: one annealed phase, or one phase for each temperature."""
    hot, cold = method.temperatures
    if method.schedule != "staged":
        return [_one_phase(method, learner, epochs, work=work, temperature=(hot, cold))]
    return [
        Phase(
            "policy",
            learner,
            epochs,
            temperature=(temperature, temperature),
            schedule="plateau",
            monitor="relaxed_loss",
            patience=method.patience,
            keep_best_of="relaxed",
            work=work,
            **_common(method),
        )
        for temperature in np.geomspace(hot, cold, method.stages).tolist()
    ]


def _one_phase(method: Greedy, learner: GreedyLearner, epochs: int, **more: Any) -> Phase:
    """Training in one run of epochs."""
    settings = {"name": "policy", "keep_best_of": "relaxed", **seldom_validated(epochs), **_common(method), **more}
    return Phase(learner=learner, epochs=epochs, **settings)


def _common(method: Greedy) -> dict[str, Any]:
    return {"lr": method.learning_rate, "weight_decay": method.weight_decay, "average": method.average}
