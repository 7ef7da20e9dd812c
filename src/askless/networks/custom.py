"""A user's own module as a network over partial records."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from askless.acquisition import State
from askless.networks.base import MaskedNetwork

__all__ = ["CustomNetwork", "TorchNetwork", "custom_network"]

ROWS_AT_ONCE = 1 << 12


class CustomNetwork(MaskedNetwork):
    """Wraps a module whose `forward(values, mask)` gives (b, outputs)."""

    def __init__(self, module: nn.Module, column_feature: Tensor, n_outputs: int) -> None:
        super().__init__(column_feature, n_outputs)
        self.module = module

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(b, outputs)."""
        return self.module(x * mask.index_select(1, self.column_feature), mask)

    def exported(self) -> TorchNetwork:
        """The network for inference, with a copy of the present weights."""
        return TorchNetwork(copy.deepcopy(self).eval())

    def live(self) -> TorchNetwork:
        """The network itself."""
        return TorchNetwork(self)


def custom_network(
    factory: Callable[[int, int, int], nn.Module], column_feature: Tensor, n_outputs: int
) -> CustomNetwork:
    """The network that a user's factory makes for these columns and features."""
    n_columns, n_features = len(column_feature), int(column_feature.max()) + 1
    return CustomNetwork(factory(n_columns, n_features, n_outputs), column_feature, n_outputs)


class TorchNetwork:
    """Runs a torch network on states, for policies and predictors."""

    def __init__(self, network: MaskedNetwork) -> None:
        self.network = network

    def outputs(self, state: State) -> np.ndarray:
        """(n, outputs)."""
        x, known = torch.from_numpy(state.x), torch.from_numpy(state.known.astype(state.x.dtype))
        parts = [
            self.network.evaluate(x[start : start + ROWS_AT_ONCE], known[start : start + ROWS_AT_ONCE])
            for start in range(0, max(len(x), 1), ROWS_AT_ONCE)
        ]
        return torch.cat(parts).float().cpu().numpy()

    @property
    def n_features(self) -> int:
        """How many features can be known."""
        return self.network.n_features

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return self.network.n_outputs

    def config(self) -> dict[str, Any]:
        """What a file holds beside the weights: that they are of a user's own module."""
        return {"network": {"kind": "custom", "outputs": self.n_outputs}}

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights and buffers by their names in the module."""
        assert isinstance(self.network, CustomNetwork)
        return {f"custom.{name}": t.detach().cpu().numpy() for name, t in self.network.module.state_dict().items()}
