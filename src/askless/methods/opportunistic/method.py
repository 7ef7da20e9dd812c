"""The settings of opportunistic learning. Importing this loads no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from askless.methods.base import Fitted
from askless.methods.networked import NetMethod
from askless.methods.settings import DENSE, Flag, Number, Pair

if TYPE_CHECKING:
    from askless.training import Checkpoint, Problem, Progress

__all__ = ["Opportunistic"]


@dataclass(eq=False, repr=False, kw_only=True)
class Opportunistic(NetMethod):
    """Learns by reinforcement which feature will change the prediction most.

    The method of Kachuee, Goldstein, Karkkainen, Darabi and Sarrafzadeh, "Opportunistic Learning: Budgeted
    Cost-Sensitive Learning from Data Streams" (2019). A Q-network learns the value of asking each feature; the reward
    of an answer is how far it moves the predicted probabilities, averaged over dropout. Choose it to compare with
    reinforcement learning; `Greedy` asks better questions, since a prediction that moves need not become better.

    Parameters
    ----------
    hidden : hidden layers of the networks.
    dropout : share of hidden units dropped, in training and for the reward.
    shared : whether the Q-network and the predictor share their hidden layers.
    mc_samples : passes with dropout that a reward is averaged over.
    discount : weight of the rewards of later answers; 0 looks one answer ahead.
    exploration : share of random questions, at the beginning and at the end of training.
    target_rate : how far the target network moves towards the Q-network at each update.
    batch_size : experiences that an update learns from.
    learning_rate, weight_decay : of the AdamW optimiser.
    epochs : rounds of 250 updates; None for 80.
    pretrain_epochs : passes over the rows that train the predictor on random sets first; None picks enough of them.
    """

    kind = "dynamic"
    limits = DENSE | {
        "shared": Flag(),
        "mc_samples": Number(1, whole=True),
        "discount": Number(0, 1),
        "exploration": Pair(high=1.0),
        "target_rate": Number(1e-6, 1),
        "pretrain_epochs": Number(0, whole=True, or_none=True),
    }

    batch_size: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 3.0
    shared: bool = True
    mc_samples: int = 16
    discount: float = 0.0
    exploration: tuple[float, float] = (1.0, 0.1)
    target_rate: float = 0.01
    pretrain_epochs: int | None = None

    def work(self, problem: Problem) -> float:
        """Several times as much as training a predictor."""
        return 10.0

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        from askless.methods.opportunistic.fitting import fit_opportunistic

        return fit_opportunistic(self, problem, seed, progress, checkpoint)
