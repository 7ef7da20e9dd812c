"""A predictor for sets of features that do not depend on the answers: what every static order needs."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from askless.core import Policy
from askless.models import NetPredictor
from askless.nn import Dropout, Layers, MaskedMLP
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
        n_columns = problem.schema.n_columns
        trunk = Layers([n_columns + len(problem.schema), *hidden], generator)
        module = MaskedMLP(n_columns, trunk, problem.n_outputs, generator)
        learner = SubsetLearner(module, problem, Dropout(dropout, generator, seed), sampler, batch_size, seed)
        phase = Phase(
            "predictor",
            learner,
            enough_epochs(learner.n_batches, 30, 1000) if epochs is None else epochs,
            lr=learning_rate,
            weight_decay=weight_decay,
        )
        history = train([phase], generator, progress=progress, checkpoint=checkpoint)
        return with_spread(exported_predictor(module, problem), policy, problem), history


def exported_predictor(module: MaskedMLP, problem: Problem) -> NetPredictor:
    """The predictor for the torch-free runtime, as it is now; a regression's has no spread yet."""
    offset, scale = problem.target_scale
    regression = problem.task == "regression"
    prior = problem.prior_outputs.double()
    return NetPredictor(
        module.network(),
        classes=not regression,
        prior=(prior * scale + offset if regression else torch.softmax(prior, dim=0)).numpy(),
        offset=offset,
        scale=scale,
    )


def with_spread(predictor: NetPredictor, policy: Policy, problem: Problem) -> NetPredictor:
    """The predictor; a regression's gets its spread along the roll-outs of `policy`."""
    if problem.task == "regression":
        predictor.spread_weight = fit_spread(predictor, policy, problem)
    return predictor
