"""Stochastic gates: a noisy gate in front of each feature, and a growing penalty on those that are open.

Yamada, Lindenbaum, Negahban and Kluger, "Feature Selection using Stochastic Gates", 2020. The file has the settings,
the fit, the network and its loss. docs/methods.md compares it with the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from askless.methods.settings import NETWORK, Number, Pair
from askless.methods.static import RankingMethod, Scores, ranked_by_leaving
from askless.networks import MaskedNetwork
from askless.training.checkpoint import Checkpoint
from askless.training.loop import Learner, Phase, enough_epochs, fit_threads, seeded, train
from askless.training.predictor import new_predictor
from askless.training.problem import Problem
from askless.training.progress import Progress
from askless.training.subsets import SubsetLearner, full_sets

HALF_OPEN = 0.5  # where every mean starts, as in the paper
# How much faster the means move than other weights, and how much further weight decay lets them go. Decay pulls the
# means towards a half, where they started; faster ones feel it less.
SPEED = 5.0
OPEN_EPOCHS, OPEN_STEPS = 10, 400  # at least
STAGE_EPOCHS, STAGE_STEPS = 2, 100


@dataclass(eq=False, repr=False, kw_only=True)
class StochasticGates(RankingMethod):
    """Learns which features to ask everyone, by gates that close one after another as each open one costs more.

    Every feature has a gate in [0, 1] in front of a network, with Gaussian noise in training. The loss has a penalty
    on the expected number of open gates. Here the penalty grows from zero until all gates are closed, so that one fit
    serves every budget. The longer a gate stays open, the earlier its feature is asked. Choose it for many features
    of which few matter.

    Parameters
    ----------
    sigma : standard deviation of the gates' noise.
    penalties : the first and the last price of an open gate, as a share of the loss without any feature.
    stages : number of penalties, geometrically spaced; each starts from the weights of the one before.
    stage_epochs : passes over the rows at each penalty; None picks enough of them for 100 steps.
    open_epochs : passes over the rows before, without a penalty; None picks enough of them for 400 steps.
    hidden, dropout, network, augment, batch_size, learning_rate, weight_decay : of the network behind the gates and
        of the later predictor; see `NetMethod`.
    epochs : of the later predictor.
    """

    limits = NETWORK | {
        "sigma": Number(1e-3, 10),
        "penalties": Pair(rising=True),
        "stages": Number(1, whole=True),
        "stage_epochs": Number(1, whole=True, or_none=True),
        "open_epochs": Number(1, whole=True, or_none=True),
    }

    sigma: float = 0.5
    penalties: tuple[float, float] = (1e-3, 5.0)
    stages: int = 40
    stage_epochs: int | None = None
    open_epochs: int | None = None

    def _scores(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Scores:
        penalties = [0.0, *(_blind_loss(problem) * np.geomspace(*self.penalties, self.stages)).tolist()]
        with fit_threads(problem.n_threads), seeded(seed):
            predictor = new_predictor(problem, self.net)
            module = GatedNetwork(len(problem.schema), self.sigma, predictor)
            subsets = SubsetLearner(
                predictor, problem, full_sets, batch_size=self.batch_size, seed=seed, augment=self.augment
            )
            path = torch.full((len(penalties), len(problem.schema)), torch.nan)  # the means after each penalty
            learners = [GateLearner(module, subsets, path, i, penalty) for i, penalty in enumerate(penalties)]
            history = train(self._phases(learners), progress=progress, checkpoint=checkpoint)
        return ranked_by_leaving(path.double().numpy(), tie=1), history

    def _phases(self, learners: Sequence[GateLearner]) -> list[Phase]:
        n_batches = learners[0].subsets.n_batches
        opened = enough_epochs(n_batches, OPEN_EPOCHS, OPEN_STEPS) if self.open_epochs is None else self.open_epochs
        each = enough_epochs(n_batches, STAGE_EPOCHS, STAGE_STEPS) if self.stage_epochs is None else self.stage_epochs
        return [
            Phase(
                name="gates",
                learner=learner,
                epochs=epochs,
                lr=self.learning_rate,
                weight_decay=self.weight_decay,
                validate_every=epochs,  # once, at the end: the next stage starts from the last weights
            )
            for learner, epochs in zip(learners, [opened] + [each] * self.stages, strict=True)
        ]


def _blind_loss(problem: Problem) -> float:
    """The loss without any feature: the labels' entropy in nats, or 1, the standardised target's variance."""
    if problem.task == "regression":
        return 1.0
    log_share = problem.prior_outputs
    return float(-(log_share.exp() * log_share).sum())


class GatedNetwork(nn.Module):
    """A gate for each feature, clip(mean + sigma * noise, 0, 1), and the network behind the gates."""

    def __init__(self, n_features: int, sigma: float, predictor: MaskedNetwork) -> None:
        super().__init__()
        self.moved = nn.Parameter(torch.zeros(n_features))
        self.sigma, self.predictor = sigma, predictor

    @property
    def means(self) -> Tensor:
        """(features,) of the gates; those above 0 are open."""
        return HALF_OPEN + SPEED * self.moved

    @torch.no_grad()
    def bound(self) -> None:
        """Pull the means back to 1 at most: beyond it neither the loss nor the penalty would ever move them again."""
        self.moved.clamp_(max=(1.0 - HALF_OPEN) / SPEED)

    def gates(self, rows: int) -> Tensor:
        means = self.means
        return (means + self.sigma * torch.randn(rows, len(means), dtype=means.dtype)).clamp(0.0, 1.0)

    def expected_open(self) -> Tensor:
        """The expected number of gates above 0: the sum of the normal distribution function at mean / sigma."""
        chances: Tensor = torch.special.ndtr(self.means / self.sigma)
        return chances.sum()


class GateLearner(Learner):
    """Trains gates and network together at one penalty."""

    module: GatedNetwork

    def __init__(
        self,
        module: GatedNetwork,
        subsets: SubsetLearner,
        path: Tensor,  # (stages, features) the means after each stage
        stage: int,
        penalty: float,
    ) -> None:
        self.module, self.subsets = module, subsets
        self.path, self.stage, self.penalty = path, stage, penalty

    def batches(self) -> Sequence[Tensor]:
        """Random batches of rows; none once all gates are closed."""
        return self.subsets.batches() if bool((self.module.means > 0.0).any()) else []

    def loss(self, batch: Tensor, temperature: float) -> Tensor:
        self.module.bound()
        x, y = self.subsets.examples(batch)
        mask = self.module.gates(len(batch)) * self.subsets.rows.present.index_select(0, batch)
        outputs = self.module.predictor(x, mask)
        return self.subsets.rows.loss(outputs, y).mean() + self.penalty * self.module.expected_open()

    def validate(self, module: GatedNetwork, temperature: float) -> dict[str, float]:
        """The loss on the validation rows without noise, and the number of open gates; notes the means."""
        valid, means = self.subsets.valid, module.means.detach()
        self.path[self.stage] = means
        outputs = module.predictor.evaluate(valid.x, means.clamp(0.0, 1.0) * valid.present)
        return {"loss": float(valid.loss(outputs, valid.y).mean()), "open": int((means > 0.0).sum())}

    def tensors(self) -> dict[str, Tensor]:
        return {"path": self.path}
