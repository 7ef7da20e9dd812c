"""Networks that are served by torch: image networks and users' own modules."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any

import numpy as np
import torch

from askless.acquisition import State
from askless.models import NetworkFactory, NetworkLike
from askless.networks.base import MaskedNetwork

__all__ = ["ServedByTorch", "TorchNetwork"]

ROWS_AT_ONCE = 1 << 12


class ServedByTorch(MaskedNetwork):
    """A network without a numpy forward pass."""

    factory: NetworkFactory | None = None  # of a user's own network

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """What it takes beside the weights to build the network again, as JSON."""

    def exported(self) -> TorchNetwork:
        """The network for inference, with a copy of the present weights."""
        return TorchNetwork(copy.deepcopy(self).cpu().eval())

    def live(self) -> TorchNetwork:
        """The network itself."""
        return TorchNetwork(self)


class TorchNetwork(NetworkLike):
    """Runs a network on states, for policies and predictors."""

    def __init__(self, network: ServedByTorch) -> None:
        self.network = network

    def outputs(self, state: State) -> np.ndarray:
        """(n, outputs)."""
        if len(state) > 1 and not state.known.any():  # all cases look the same
            return np.repeat(self._outputs(state.x[:1], state.known[:1]), len(state), axis=0)
        return self._outputs(state.x, state.known)

    def _outputs(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        starts = range(0, max(len(x), 1), ROWS_AT_ONCE)
        runs = ((x[start : start + ROWS_AT_ONCE], known[start : start + ROWS_AT_ONCE]) for start in starts)
        parts = [self.network.evaluate(torch.tensor(a), torch.tensor(b, dtype=torch.float32)) for a, b in runs]
        return torch.cat(parts).float().cpu().numpy()

    @property
    def n_features(self) -> int:
        """How many features can be known."""
        return self.network.n_features

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return self.network.n_outputs

    @property
    def factory(self) -> NetworkFactory | None:
        """The user's function that made the network."""
        return self.network.factory

    def config(self) -> dict[str, Any]:
        """The description of the network."""
        return {"network": self.network.description()}

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights and buffers by their names in the module."""
        return {name: tensor.detach().cpu().numpy() for name, tensor in self.network.state_dict().items()}
