"""Methods that train a network: the settings that all of them have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from askless.methods.base import Method
from askless.methods.settings import NETWORK

if TYPE_CHECKING:
    from askless.training import NetSettings

__all__ = ["NetMethod"]


@dataclass(eq=False, repr=False, kw_only=True)
class NetMethod(Method):
    """A method whose predictor is a network.

    Settings are fields, so that a method inherits those of its base; scikit-learn finds them in the generated
    `__init__`, and brings its own `repr` and equality.

    Parameters
    ----------
    hidden : hidden layers of a dense network.
    dropout : share of their units that are dropped in training.
    network : "mlp", dense layers, or for images residual convolutions: "conv_small", "conv_medium" or "conv_patches",
        which reads each patch as a whole, for a processor, "resnet18" for a GPU, "conv_tiny" for small images and
        trials. `hidden` and `dropout` then say nothing.
    augment : for images, "crops" trains on randomly shifted ones, "crops+flips" mirrors half of these, "tilts" turns,
        slants and stretches them a little, "late_tilts" those of which much has been asked already.
    batch_size, learning_rate, weight_decay : of the optimiser (AdamW, and for the kernels of convolutions Muon, which
        moves them twelve times as far and has no decay).
    epochs : passes over the rows; None picks enough of them.
    """

    limits = NETWORK

    hidden: tuple[int, ...] = (128, 128)
    dropout: float = 0.3
    batch_size: int = 512
    learning_rate: float = 3e-3
    weight_decay: float = 1.0
    epochs: int | None = None
    network: Literal["mlp", "conv_tiny", "conv_small", "conv_medium", "conv_patches", "resnet18"] = "mlp"
    augment: Literal["none", "crops", "crops+flips", "tilts", "late_tilts"] = "none"

    @property
    def needs_images(self) -> bool:
        """Whether it cannot learn from a table: convolutions and views are of images."""
        return self.network != "mlp" or self.augment != "none"

    @property
    def net(self) -> NetSettings:
        """The settings of the network, as training takes them."""
        from askless.training import NetSettings

        return NetSettings(
            self.hidden,
            self.dropout,
            self.batch_size,
            self.learning_rate,
            self.weight_decay,
            self.epochs,
            self.network,
            self.augment,
        )
