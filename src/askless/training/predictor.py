"""A predictor for sets of features that do not depend on the answers."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from askless.core import Grid
from askless.models import NetPredictor
from askless.nn import (
    Dropout,
    Layers,
    MaskedMLP,
    MaskedNet,
    PolicyPredictor,
    conv_pair,
    conv_predictor,
    mlp_pair,
)
from askless.training.checkpoint import Checkpoint
from askless.training.data import Problem
from askless.training.loop import Phase, Row, enough_epochs, train
from askless.training.progress import Progress
from askless.training.subsets import Sampler, SubsetLearner
from askless.training.threads import fit_threads

__all__ = [
    "NetSettings",
    "exported_predictor",
    "new_policy_predictor",
    "new_predictor",
    "train_predictor",
]

EPOCHS, STEPS = 30, 1000  # at least


@dataclass(frozen=True)
class NetSettings:
    """A network and how it is trained."""

    hidden: tuple[int, ...]
    dropout: float
    batch_size: int
    learning_rate: float
    weight_decay: float
    epochs: int | None  # None: enough for a thousand steps
    network: str = "mlp"  # or a convolutional one, of a size that askless.nn knows
    augment: str = "none"  # views of images that are trained on


def new_predictor(problem: Problem, net: NetSettings, generator: torch.Generator) -> MaskedNet:
    """A network for the problem's predictions, untrained."""
    if net.network != "mlp":
        return conv_predictor(_grid(problem), problem.n_outputs, net.network, generator, problem.device)
    n_columns = problem.schema.n_columns
    trunk = Layers([n_columns + len(problem.schema), *net.hidden], generator)
    return MaskedMLP(n_columns, trunk, problem.n_outputs, generator)


def new_policy_predictor(
    problem: Problem, net: NetSettings, shared: bool, generator: torch.Generator
) -> PolicyPredictor:
    """Networks for a policy and the problem's predictions, untrained."""
    schema, outputs = problem.schema, problem.n_outputs
    if net.network != "mlp":
        return conv_pair(
            _grid(problem), outputs, net.network, shared=shared, generator=generator, device=problem.device
        )
    return mlp_pair(schema.n_columns, len(schema), outputs, net.hidden, shared=shared, generator=generator)


def _grid(problem: Problem) -> Grid:
    assert problem.schema.grid is not None  # `Method.fit` refuses tables
    return problem.schema.grid


def train_predictor(
    problem: Problem,
    sampler: Sampler,
    net: NetSettings,
    *,
    seed: int,
    progress: Progress,
    checkpoint: Checkpoint | None,
    name: str = "predictor",
) -> tuple[MaskedNet, list[Row]]:
    """A network trained on the sets that `sampler` draws, and the history of its training."""
    with fit_threads(problem.n_threads):
        generator = torch.Generator().manual_seed(seed)
        module = new_predictor(problem, net, generator)
        dropout = Dropout(net.dropout, generator, seed)
        learner = SubsetLearner(module, problem, dropout, sampler, net.batch_size, seed, net.augment)
        phase = Phase(
            name,
            learner,
            enough_epochs(learner.n_batches, EPOCHS, STEPS) if net.epochs is None else net.epochs,
            lr=net.learning_rate,
            weight_decay=net.weight_decay,
        )
        return module, train([phase], generator, progress=progress, checkpoint=checkpoint)


def exported_predictor(module: MaskedNet, problem: Problem, *, live: bool = False) -> NetPredictor:
    """The predictor for the torch-free runtime, as it is now; `calibrated` makes its certainty honest.

    A `live` one answers the same, while training goes on, but cannot be kept.
    """
    offset, scale = problem.target_scale
    regression = problem.task == "regression"
    prior = problem.prior_outputs.double()
    return NetPredictor(
        module.live() if live else module.network(),
        classes=not regression,
        prior=(prior * scale + offset if regression else torch.softmax(prior, dim=0)).numpy(),
        offset=offset,
        scale=scale,
    )
