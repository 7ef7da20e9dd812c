"""The path of growing penalties: one phase each, from the weights of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from askless.methods.stochastic_gates.gates import (
    SPEED,
    GatedNetwork,
    Gates,
    expected_open,
    expected_open_gradient,
)
from askless.nn import Dropout, mask_gradient
from askless.training import (
    Phase,
    Problem,
    SubsetLearner,
    enough_epochs,
    full_sets,
    new_predictor,
    one_thread,
    train,
)

if TYPE_CHECKING:
    from askless.methods.stochastic_gates.method import StochasticGates
    from askless.training import Checkpoint, Progress

__all__ = ["GateLearner", "gate_scores", "ranked_by_closing"]

OPEN_EPOCHS, OPEN_STEPS = 10, 400  # at least
STAGE_EPOCHS, STAGE_STEPS = 2, 100


def gate_scores(
    method: StochasticGates, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """(features,) how long each gate stays open, and the history."""
    with one_thread():
        generator = torch.Generator().manual_seed(seed)
        module = GatedNetwork(len(problem.schema), new_predictor(problem, method.net, generator))
        dropout = Dropout(method.dropout, generator, seed)
        rows = SubsetLearner(module.predictor, problem, dropout, full_sets, method.batch_size, seed, method.augment)
        penalties = [0.0, *(_blind_loss(problem) * np.geomspace(*method.penalties, method.stages)).tolist()]
        path = torch.full((len(penalties), len(problem.schema)), torch.nan)  # means after each penalty
        learners = [
            GateLearner(module, rows, path, stage, penalty, method.sigma) for stage, penalty in enumerate(penalties)
        ]
        history = train(_phases(method, learners), generator, progress=progress, checkpoint=checkpoint)
    return ranked_by_closing(path.numpy().astype(np.float64)), history


def _phases(method: StochasticGates, learners: Sequence[GateLearner]) -> list[Phase]:
    n_batches = learners[0].rows.n_batches
    opened = enough_epochs(n_batches, OPEN_EPOCHS, OPEN_STEPS) if method.open_epochs is None else method.open_epochs
    each = enough_epochs(n_batches, STAGE_EPOCHS, STAGE_STEPS) if method.stage_epochs is None else method.stage_epochs
    phases = []
    for learner in learners:
        epochs = opened if learner.stage == 0 else each
        phases.append(
            Phase(
                "gates",
                learner,
                epochs,
                lr=method.learning_rate,
                weight_decay=method.weight_decay,
                validate_every=epochs,  # once, at the end: a stage's last weights are what the next goes on from
            )
        )
    return phases


def _blind_loss(problem: Problem) -> float:
    """The loss without any feature: the labels' entropy in nats, or 1, the standardised target's variance."""
    if problem.task == "regression":
        return 1.0
    log_share = problem.prior_outputs
    return float(-(log_share.exp() * log_share).sum())


def ranked_by_closing(path: np.ndarray) -> np.ndarray:
    """(features,) scores from the gates' means after each stage (stages, features): the later closed, the higher.

    Of gates that close in the same stage the one that ends it further open wins, likewise of those that never close.
    """
    stages, features = path.shape
    last = np.where(path > 0.0, np.arange(1, stages + 1)[:, None], 0).max(axis=0)  # (features,) open until here
    tie = path[np.minimum(last, stages - 1), np.arange(features)]
    scores = np.empty(features)
    scores[np.lexsort((tie, last))] = np.arange(features)
    return scores


class GateLearner:
    """Trains gates and network together at one penalty."""

    def __init__(
        self,
        module: GatedNetwork,
        rows: SubsetLearner,
        path: Tensor,  # (stages, features) where the means go after each stage
        stage: int,
        penalty: float,
        sigma: float,
    ) -> None:
        self.module, self.rows, self.path = module, rows, path
        self.stage, self.penalty, self.sigma = stage, penalty, sigma

    def begin(self) -> None:
        """Nothing to prepare."""

    def batches(self, generator: torch.Generator) -> Sequence[Tensor]:
        """Random batches of rows; none once all gates are closed."""
        return self.rows.batches(generator) if bool((self.module.means > 0.0).any()) else []

    def gradients(self, batch: Tensor, temperature: float) -> Tensor:
        """The mean loss of a batch behind noisy gates, and the price of the open ones."""
        rows, module, dropout = self.rows.rows, self.module, self.rows.dropout
        module.bound()
        means = module.means
        noise = torch.randn(len(batch), len(means), generator=dropout.generator, dtype=means.dtype)
        gates = Gates(means, noise, self.sigma)
        x, y = self.rows.examples(batch)
        present = None if rows.complete else rows.present.index_select(0, batch)
        mask = gates.mask if present is None else gates.mask * present
        run = module.predictor(rows.inputs(x, mask), dropout, to_inputs=True)
        g = run.backward(rows.loss_gradient(run.outputs, y).div_(len(batch)))
        g_mask = mask_gradient(run.input_gradient(g), x, rows.layout)  # (b, features)
        g_means = gates.gradient(g_mask if present is None else g_mask * present)
        g_means += self.penalty * expected_open_gradient(means, self.sigma)
        module.moved.grad = SPEED * g_means
        return rows.loss(run.outputs, y).mean() + self.penalty * expected_open(means, self.sigma)

    def validate(self, module: GatedNetwork, temperature: float) -> dict[str, float]:
        """The loss on the validation rows without noise, and how many gates are open; notes the means."""
        valid, means = self.rows.valid, module.means
        self.path[self.stage] = means
        mask = means.clamp(0.0, 1.0) * valid.present
        outputs = module.predictor.evaluated(valid.inputs(valid.x, mask))
        return {"loss": float(valid.loss(outputs, valid.y).mean()), "open": int((means > 0.0).sum())}

    def tensors(self) -> dict[str, Tensor]:
        """The path so far."""
        return {"path": self.path}
