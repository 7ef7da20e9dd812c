"""Networks that torch serves: image networks, and modules of users."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from askless.acquisition import State
from askless.exceptions import ParameterError, bad_value
from askless.models import NetworkFactory, NetworkLike
from askless.networks.masked import MaskedNetwork

ROWS_AT_ONCE = 1 << 12


class ServedByTorch(MaskedNetwork):
    """A network without a numpy forward pass."""

    factory: NetworkFactory | None = None  # of a user's own network

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """What it takes beside the weights to build the network again, as JSON."""

    def exported(self, *, live: bool = False) -> TorchNetwork:
        return TorchNetwork(self if live else copy.deepcopy(self).cpu().eval())


class TorchNetwork(NetworkLike):
    """Runs a network on states, for policies and predictors."""

    def __init__(self, network: ServedByTorch) -> None:
        self.network = network

    def outputs(self, state: State) -> np.ndarray:
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
        return self.network.n_features

    @property
    def n_outputs(self) -> int:
        return self.network.n_outputs

    @property
    def factory(self) -> NetworkFactory | None:
        return self.network.factory

    def config(self) -> dict[str, Any]:
        return {"network": self.network.description()}

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: tensor.detach().cpu().numpy() for name, tensor in self.network.state_dict().items()}


TRIED_ROWS = 2


class CustomNetwork(ServedByTorch):
    """The module of a user's function, for these columns and features.

    The module's `forward(values, mask)` takes values (b, columns), 0 where they are unknown, and the mask
    (b, features) of what is known, and returns (b, outputs). In training the mask has numbers between 0 and 1.
    """

    def __init__(self, factory: NetworkFactory, column_feature: Tensor, n_outputs: int) -> None:
        super().__init__(column_feature, n_outputs)
        self.register_buffer("column_feature", column_feature)  # a file holds it
        self.factory = factory
        self.module = self._tried_out(factory(self.n_columns, self.n_features, n_outputs))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.module(x * mask.index_select(1, self.column_feature), mask)

    def description(self) -> dict[str, Any]:
        return {"kind": "custom", "outputs": self.n_outputs}

    @torch.no_grad()
    def _tried_out(self, module: Any) -> nn.Module:
        """The module, if its outputs have the right shape."""
        if not isinstance(module, nn.Module):
            raise bad_value("wrong_type", "network", module, "a function whose result is an nn.Module")
        module.eval()
        found = module(torch.zeros(TRIED_ROWS, self.n_columns), torch.zeros(TRIED_ROWS, self.n_features))
        module.train()
        shape, expected = getattr(found, "shape", None), (TRIED_ROWS, self.n_outputs)
        if shape != expected:
            raise ParameterError(
                "wrong_shape",
                f"for values ({TRIED_ROWS}, {self.n_columns}) and a mask ({TRIED_ROWS}, {self.n_features}) the "
                f"module of `network` must return a tensor of shape {expected}, not {type(found).__name__} of shape "
                f"{None if shape is None else tuple(shape)}",
                name="network",
                expected=expected,
            )
        return module
