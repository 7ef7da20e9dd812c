"""Methods that train a network: the settings that all of them have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from askless.methods.base import Method
from askless.methods.settings import NETWORK
from askless.models import NetworkFactory
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
    network : "mlp" for dense layers; for images a residual convolutional network: "conv_small", "conv_medium" or
        "conv_patches" (reads each patch as a whole) for a processor, "resnet18" for a GPU, "conv_tiny" for small
        images and trials; or a function `(n_columns, n_features, n_outputs)` that returns an `nn.Module`, whose
        `forward(values, mask)` gives (b, outputs). `hidden` and `dropout` apply to "mlp" only.
    augment : for images: "crops" trains on randomly shifted ones, "crops+flips" mirrors half of these, "tilts" turns,
        slants and stretches them a little, "late_tilts" those of which much has been asked already.
    batch_size, learning_rate, weight_decay : of the optimiser: AdamW, and Muon for the kernels of convolutions.
    epochs : passes over the rows; None picks enough of them.
    """

    limits = NETWORK

    hidden: tuple[int, ...] = (128, 128)
    dropout: float = 0.3
    batch_size: int = 512
    learning_rate: float = 3e-3
    weight_decay: float = 1.0
    epochs: int | None = None
    network: str | NetworkFactory = "mlp"
    augment: Literal["none", "crops", "crops+flips", "tilts", "late_tilts"] = "none"

    @property
    def needs_images(self) -> bool:
        """Whether it cannot learn from a table: convolutions and views are of images."""
        return (isinstance(self.network, str) and self.network != "mlp") or self.augment != "none"

    @property
    def net(self) -> NetSettings:
        """The settings of the network, as training takes them."""
        return NetSettings(
            hidden=self.hidden,
            dropout=self.dropout,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            epochs=self.epochs,
            network=self.network,
            augment=self.augment,
        )
