"""Methods that train a network: the settings that all of them have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """

    limits = NETWORK

    hidden: tuple[int, ...] = (128, 128)
    dropout: float = 0.3
    batch_size: int = 512
    learning_rate: float = 3e-3
    weight_decay: float = 1.0
    epochs: int | None = None

    @property
    def net(self) -> NetSettings:
        """The settings of the network, as training takes them."""
        from askless.training import NetSettings

        return NetSettings(
            self.hidden, self.dropout, self.batch_size, self.learning_rate, self.weight_decay, self.epochs
        )
