"""Multilayer perceptrons over partial records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from askless.models import Network
from askless.nn.noise import NoiseBank

__all__ = ["MaskedMLP", "MaskedTrunk", "PolicyPredictor"]


class Dense(nn.Module):
    """A linear layer with torch's usual initial weights, but drawn from a generator of our own."""

    def __init__(
        self, inputs: int, outputs: int, generator: torch.Generator, fan_in: int | None = None, bias: bool = True
    ) -> None:
        super().__init__()
        bound = 1.0 / math.sqrt(fan_in or inputs)
        self.weight = nn.Parameter(torch.empty(outputs, inputs).uniform_(-bound, bound, generator=generator))
        self.bias = nn.Parameter(torch.empty(outputs).uniform_(-bound, bound, generator=generator)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """(b, outputs)."""
        return functional.linear(x, self.weight, self.bias)


class MaskedTrunk(nn.Module):
    """Hidden layers over masked values and the mask itself, so that zero and unknown are told apart.

    Two weight blocks stand in for the concatenation of values and mask. Dropout comes from a noise bank; without
    one there is none.
    """

    def __init__(self, n_columns: int, n_features: int, hidden: Sequence[int], generator: torch.Generator) -> None:
        super().__init__()
        fan_in = n_columns + n_features
        self.values = Dense(n_columns, hidden[0], generator, fan_in)
        self.mask = Dense(n_features, hidden[0], generator, fan_in, bias=False)
        self.layers = nn.ModuleList(Dense(i, o, generator) for i, o in pairwise(hidden))
        self.width = hidden[-1]

    def forward(self, x: Tensor, mask: Tensor, noise: NoiseBank | None = None) -> Tensor:
        """(b, width) from values (b, columns), zero where unknown, and the mask (b, features) in [0, 1]."""
        h = _active(torch.addmm(self.values(x), mask, self.mask.weight.t()), noise)
        for layer in self.layers:
            h = _active(layer(h), noise)
        return h


class MaskedMLP(nn.Module):
    """A trunk and a linear head."""

    def __init__(self, trunk: MaskedTrunk, n_outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        self.trunk = trunk
        self.head = Dense(trunk.width, n_outputs, generator)

    def forward(self, x: Tensor, mask: Tensor, noise: NoiseBank | None = None) -> Tensor:
        """(b, outputs) from values (b, columns) and mask (b, features)."""
        outputs: Tensor = self.head(self.trunk(x, mask, noise))
        return outputs

    def network(self) -> Network:
        """The same network for the torch-free runtime."""
        later = [*self.trunk.layers, self.head]
        return Network(
            value_weight=_array(self.trunk.values.weight.t()),
            mask_weight=_array(self.trunk.mask.weight.t()),
            biases=tuple(_array(layer.bias) for layer in [self.trunk.values, *later]),
            weights=tuple(_array(layer.weight.t()) for layer in later),
        )


class PolicyPredictor(nn.Module):
    """The policy and predictor networks, apart or on one trunk."""

    def __init__(
        self,
        n_columns: int,
        n_features: int,
        n_outputs: int,
        hidden: Sequence[int],
        *,
        shared: bool,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        trunk = MaskedTrunk(n_columns, n_features, hidden, generator)
        self.predictor = MaskedMLP(trunk, n_outputs, generator)
        own = trunk if shared else MaskedTrunk(n_columns, n_features, hidden, generator)
        self.policy = MaskedMLP(own, n_features, generator)


def _active(h: Tensor, noise: NoiseBank | None) -> Tensor:
    h = functional.relu(h)
    if noise is None or noise.dropout_rate == 0.0:
        return h
    return h * noise.dropout(*h.shape)


def _array(tensor: Tensor) -> np.ndarray:
    array: np.ndarray = tensor.detach().cpu().contiguous().numpy().copy()
    return array
