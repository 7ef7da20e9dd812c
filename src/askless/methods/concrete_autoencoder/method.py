"""The Concrete autoencoder's settings. Importing this loads no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from askless.methods.settings import NETWORK, Choice, Flag, Number, Pair
from askless.methods.static import RankingMethod

if TYPE_CHECKING:
    from askless.training import Checkpoint, Problem, Progress

__all__ = ["ConcreteAutoencoder"]


@dataclass(eq=False, repr=False, kw_only=True)
class ConcreteAutoencoder(RankingMethod):
    """Learns which features to ask everyone, as a layer of selectors in front of a network.

    The method of Balin, Abid and Zou, "Concrete Autoencoders: Differentiable Feature Selection and Reconstruction"
    (2019), with the label in place of the reconstruction, as in Covert et al. (2023). As many selectors as questions
    each draw a feature from a Concrete distribution; selectors and network are trained together while the
    temperature falls. Choose it where everyone must be asked the same and features matter together.

    Parameters
    ----------
    nested : whether each training row uses a random number of the first selectors, so that these learn to be the
        most useful and their order serves every budget; False uses all of them always, as in the original, and
        orders them afterwards by the losses of the pretrained network.
    schedule : "annealed" lowers the temperature within one run of epochs, as in the original; "staged" runs one
        early-stopped phase for each temperature, as in Covert et al.
    temperatures : the first and the last temperature.
    stages : how many temperatures a staged schedule has, geometrically spaced.
    patience : validations, about 25 steps apart, without improvement that end a stage.
    select_epochs : passes over the rows that train the selectors (at most, in each stage); None picks enough of them
        for 1500 steps.
    pretrain_epochs : passes over the rows that train the network on random sets first; None picks enough of them for
        400 steps.
    hidden, dropout, batch_size, learning_rate, weight_decay : of the network behind the selectors and of the later
        predictor, as for `Greedy`.
    epochs : of the later predictor.
    """

    limits = NETWORK | {
        "nested": Flag(),
        "schedule": Choice(("annealed", "staged")),
        "temperatures": Pair(),
        "stages": Number(1, whole=True),
        "patience": Number(1, whole=True),
        "select_epochs": Number(1, whole=True, or_none=True),
        "pretrain_epochs": Number(0, whole=True, or_none=True),
    }

    nested: bool = True
    schedule: Literal["annealed", "staged"] = "annealed"
    temperatures: tuple[float, float] = (1.0, 0.1)
    stages: int = 5
    patience: int = 10
    select_epochs: int | None = None
    pretrain_epochs: int | None = None

    def _scores(
        self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None
    ) -> tuple[np.ndarray, list[dict[str, Any]]]:
        from askless.methods.concrete_autoencoder.fitting import selector_scores

        return selector_scores(self, problem, seed, progress, checkpoint)
