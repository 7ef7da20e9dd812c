"""The settings of CMI estimation with a generative model. Importing this loads no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from askless.methods.base import Fitted
from askless.methods.networked import NetMethod
from askless.methods.settings import DENSE, Choice, Layers, Number

if TYPE_CHECKING:
    from askless.training import Checkpoint, Problem, Progress

__all__ = ["CmiPvae"]


@dataclass(eq=False, repr=False, kw_only=True)
class CmiPvae(NetMethod):
    """Asks for what would change the prediction most, over answers that what is known makes likely.

    The first version of the CMI estimation in Covert et al., "Learning to Maximize Mutual Information for Dynamic
    Feature Selection" (2023), after Ma et al., "EDDI: Efficient Dynamic Discovery of High-Value Information with
    Partial VAE" (2019). A partial variational autoencoder imagines the answers to each question from p(x_i | x_s), a
    predictor trained on random sets predicts from each, and the question is scored by how far these predictions are
    from their mean. Choose it as the classic to compare with, or where scores in nats are wanted that do not depend
    on a policy's training; it asks slower than `Greedy`.

    Parameters
    ----------
    latent : latent variables of the autoencoder.
    samples : draws of the latent variables, from which answers are decoded.
    answers : "drawn" takes a number's answers from its whole distribution; "mean" from the decoder's means alone, as
        the paper does, which leaves out what the latent variables do not tell.
    atoms : how many answers stand for a number's distribution; categories have all of theirs.
    vae_hidden : hidden layers of the encoder and of the decoder.
    vae_epochs : passes over the rows that train the autoencoder; None picks enough of them for 1500 steps.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for `Greedy`.
    """

    kind = "dynamic"
    limits = DENSE | {
        "latent": Number(1, whole=True),
        "samples": Number(2, whole=True),
        "answers": Choice(("drawn", "mean")),
        "atoms": Number(2, whole=True),
        "vae_hidden": Layers(),
        "vae_epochs": Number(1, whole=True, or_none=True),
    }

    latent: int = 16
    samples: int = 128
    answers: Literal["drawn", "mean"] = "drawn"
    atoms: int = 10
    vae_hidden: tuple[int, ...] = (64, 64)
    vae_epochs: int | None = None

    @property
    def informative(self) -> bool:
        """Yes: nats, or squared units of the target."""
        return True

    def work(self, problem: Problem) -> float:
        """Several times as much as training a predictor."""
        return 6.0

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        from askless.methods.cmi_pvae.fitting import fit_pvae

        return fit_pvae(self, problem, seed, progress, checkpoint)
