"""A predictor for sets of features that do not depend on the answers: what every static order needs."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from askless.core import Policy
from askless.models import NetPredictor
from askless.nn import MaskedMLP, MaskedTrunk, NoiseBank
from askless.training.checkpoint import Checkpoint
from askless.training.data import Problem
from askless.training.loop import Phase, Row, enough_epochs, train
from askless.training.progress import Progress
from askless.training.spread import fit_spread
from askless.training.subsets import Sampler, SubsetLearner
from askless.training.threads import one_thread

__all__ = ["exported_predictor", "fit_predictor"]


def fit_predictor(
    problem: Problem,
    policy: Policy,
    sampler: Sampler,
    *,
    hidden: Sequence[int],
    dropout: float,
    batch_size: int,
    learning_rate: float,
    weight_decay: float,
    epochs: int | None,
    seed: int,
    progress: Progress,
    checkpoint: Checkpoint | None,
) -> tuple[NetPredictor, list[Row]]:
    """A predictor trained on the sets that `sampler` draws, and the history of its training."""
    with one_thread():
        generator = torch.Generator().manual_seed(seed)
        trunk = MaskedTrunk(problem.schema.n_columns, len(problem.schema), hidden, generator)
        module = MaskedMLP(trunk, problem.n_outputs, generator)
        noise = NoiseBank(batch_size, max(hidden), dropout, generator, seed)
        learner = SubsetLearner(module, problem, noise, sampler, batch_size, seed)
        phase = Phase(
            "predictor",
            learner,
            enough_epochs(learner.n_batches, 30, 1000) if epochs is None else epochs,
            lr=learning_rate,
            weight_decay=weight_decay,
        )
        history = train([phase], generator, progress=progress, checkpoint=checkpoint)
        return exported_predictor(module, policy, problem), history


def exported_predictor(module: MaskedMLP, policy: Policy, problem: Problem) -> NetPredictor:
    """The trained predictor for the torch-free runtime; a regression's gets its spread along `policy`."""
    offset, scale = problem.target_scale
    regression = problem.task == "regression"
    prior = problem.prior_outputs.double()
    return NetPredictor(
        module.network(),
        classes=not regression,
        prior=(prior * scale + offset if regression else torch.softmax(prior, dim=0)).numpy(),
        offset=offset,
        scale=scale,
        spread_weight=fit_spread(module, policy, problem) if regression else None,
    )
