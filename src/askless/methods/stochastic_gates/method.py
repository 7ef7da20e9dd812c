"""The settings of stochastic gates. Importing this loads no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.methods.settings import NETWORK, Number, Pair
from askless.methods.static import RankingMethod

if TYPE_CHECKING:
    from askless.training import Checkpoint, Problem, Progress

__all__ = ["StochasticGates"]


@dataclass(eq=False, repr=False, kw_only=True)
class StochasticGates(RankingMethod):
    """Learns which features to ask everyone, by gates that close one after another as each open one costs more.

    The method of Yamada, Lindenbaum, Negahban and Kluger, "Feature Selection using Stochastic Gates" (2020). Every
    feature has a gate in [0, 1] in front of a network, with Gaussian noise in training; the expected number of open
    gates times a penalty is added to the loss. Here the penalty grows from nothing until all gates are closed, so
    that nobody has to find the one that leaves a wanted number of features: the longer a gate stays open, the
    earlier its feature is asked. Choose it for many features of which few matter.

    Parameters
    ----------
    sigma : standard deviation of the gates' noise.
    penalties : the first and the last price of an open gate, as a share of the loss without any feature.
    stages : how many penalties there are, geometrically spaced; each goes on from the weights of the one before.
    stage_epochs : passes over the rows at each penalty; None picks enough of them for 100 steps.
    open_epochs : passes over the rows without a penalty, before; None picks enough of them for 400 steps.
    hidden, dropout, batch_size, learning_rate, weight_decay : of the network, and of the later predictor, as for
        `Greedy`.
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

    def _scores(
        self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
    ) -> tuple[np.ndarray, list[dict[str, Any]]]:
        from askless.methods.stochastic_gates.fitting import gate_scores

        return gate_scores(self, problem, seed, progress, checkpoint)
