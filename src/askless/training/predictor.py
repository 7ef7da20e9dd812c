"""Networks for a problem, and a predictor for sets of features that do not depend on the answers."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch

from askless.models import NetPredictor, NetworkFactory
from askless.networks import (
    CustomNetwork,
    Hidden,
    MaskedMLP,
    MaskedNetwork,
    PolicyPredictor,
    conv_pair,
    conv_predictor,
)
from askless.networks.masked import DropoutBy
from askless.training.checkpoint import Checkpoint
from askless.training.loop import Learner, Phase, Row, enough_epochs, fit_threads, seeded, train
from askless.training.problem import Problem
from askless.training.progress import Progress
from askless.training.subsets import Sampler, SubsetLearner, bernoulli_sets

EPOCHS, STEPS = 30, 1000  # at least


@dataclass(frozen=True, kw_only=True)
class NetSettings:
    """A network and how it is trained."""

    hidden: tuple[int, ...]
    dropout: float
    batch_size: int
    learning_rate: float
    weight_decay: float
    epochs: int | None  # None: enough for a thousand steps
    network: str | NetworkFactory = "mlp"  # or the name of a convolutional network, or a factory
    augment: str = "none"  # views of images that are trained on
    dropout_by: DropoutBy = "batch"


def new_predictor(problem: Problem, net: NetSettings) -> MaskedNetwork:
    """An untrained network for the problem's predictions."""
    if net.network == "mlp":
        widths = [problem.schema.n_columns + len(problem.schema), *net.hidden]
        return MaskedMLP(problem.column_feature, Hidden(widths, net.dropout, net.dropout_by), problem.n_outputs)
    if isinstance(net.network, str):
        return conv_predictor(problem.grid, problem.n_outputs, net.network, problem.device)
    return CustomNetwork(net.network, problem.column_feature, problem.n_outputs)


def new_policy_predictor(problem: Problem, net: NetSettings, *, shared: bool) -> PolicyPredictor:
    """Untrained networks for a policy and the problem's predictions."""
    outputs, column_feature = problem.n_outputs, problem.column_feature
    if net.network == "mlp":
        widths = [problem.schema.n_columns + len(problem.schema), *net.hidden]
        trunk = Hidden(widths, net.dropout, net.dropout_by)
        predictor = MaskedMLP(column_feature, trunk, outputs)
        own = trunk if shared else Hidden(widths, net.dropout, net.dropout_by)
        return PolicyPredictor(predictor, MaskedMLP(column_feature, own, len(problem.schema)))
    if isinstance(net.network, str):
        return conv_pair(problem.grid, outputs, net.network, shared=shared, device=problem.device)
    return PolicyPredictor(
        CustomNetwork(net.network, column_feature, outputs),
        CustomNetwork(net.network, column_feature, len(problem.schema)),
    )


def train_predictor(
    problem: Problem,
    sampler: Sampler,
    net: NetSettings,
    *,
    seed: int,
    progress: Progress,
    checkpoint: Checkpoint | None,
    name: str = "predictor",
) -> tuple[MaskedNetwork, list[Row]]:
    """A network trained on the sets that `sampler` draws, and the history of its training."""
    with fit_threads(problem.n_threads), seeded(seed):
        module = new_predictor(problem, net)
        learner = SubsetLearner(module, problem, sampler, batch_size=net.batch_size, seed=seed, augment=net.augment)
        phase = Phase(
            name=name,
            learner=learner,
            epochs=enough_epochs(learner.n_batches, EPOCHS, STEPS) if net.epochs is None else net.epochs,
            lr=net.learning_rate,
            weight_decay=net.weight_decay,
        )
        return module, train([phase], progress=progress, checkpoint=checkpoint)


def exported_predictor(module: MaskedNetwork, problem: Problem, *, live: bool = False) -> NetPredictor:
    """The fitted predictor with a copy of the weights; a `live` one shares them and cannot be kept."""
    offset, scale = problem.target_scale
    regression = problem.task == "regression"
    prior = problem.prior_outputs.double()
    return NetPredictor(
        module.exported(live=live),
        classes=not regression,
        prior=(prior * scale + offset if regression else torch.softmax(prior, dim=0)).numpy(),
        offset=offset,
        scale=scale,
    )


PRETRAIN_EPOCHS, PRETRAIN_STEPS = 20, 400  # at least
POLISH_EPOCHS, POLISH_LR = 0.4, 2 / 3  # shares of what the phase before has
SELDOM: dict[str, Any] = {
    "validations": 6,
    "validate_from": 0.4,
}  # each costs as much as an epoch, and early ones are not the best


def pretraining(
    predictor: MaskedNetwork, problem: Problem, net: NetSettings, *, epochs: int | None, seed: int
) -> Phase:
    """The predictor learns from random sets of all sizes."""
    learner = SubsetLearner(
        predictor, problem, bernoulli_sets, batch_size=net.batch_size, seed=seed, augment=net.augment
    )
    enough = enough_epochs(learner.n_batches, PRETRAIN_EPOCHS, PRETRAIN_STEPS)
    return Phase(
        name="pretraining",
        learner=learner,
        epochs=enough if epochs is None else epochs,
        lr=net.learning_rate,
        weight_decay=net.weight_decay,
        validate_every=2,
    )


def polishing(before: Phase, learner: Learner) -> Phase:
    """The last phase: without dropout and decay it may overfit, but the best of both phases is what is kept."""
    epochs = max(1, round(POLISH_EPOCHS * before.epochs))
    last = None if before.temperature is None else before.temperature[1]
    return Phase(
        name="polish",
        learner=learner,
        epochs=epochs,
        dropout=0.0,
        lr=POLISH_LR * before.lr,
        temperature=None if last is None else (last, last),
        average=before.average,
        keep_best_of=before.keep_best_of,
        work=before.work,
        **SELDOM,
    )


def training_summary(history: list[dict[str, Any]]) -> dict[str, Any]:
    """What a model file says of the training: no times, so that the same seed gives the same bytes."""
    losses = [row["valid_loss"] for row in history if row["phase"] != "pretraining" and "valid_loss" in row]
    return {"epochs": len(history), "best_validation_loss": min(filter(isfinite, losses), default=None)}
