"""Multilayer perceptrons over partial records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from askless.models import Network
from askless.nn.base import Layout, MaskedNet, PolicyPredictor
from askless.nn.layers import Dropout, Layers, Pass
from askless.nn.products import product

__all__ = ["MaskedMLP", "mlp_pair"]


class MaskedMLP(MaskedNet):
    """Hidden layers over masked values and the mask; a linear head."""

    first_trials = 1 << 18

    def __init__(self, n_columns: int, trunk: Layers, n_outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        self.n_columns = n_columns
        self.trunk = trunk
        self.head = Layers([trunk.shapes[-1][1], n_outputs], generator)

    @property
    def stacks(self) -> tuple[Layers, Layers]:
        """All layers."""
        return self.trunk, self.head

    def forward(self, inputs: Tensor, dropout: Dropout | None = None, *, to_inputs: bool = False) -> Pass:
        """A pass from what `masked_inputs` made; its `outputs` are (b, outputs). Its way back can always go on."""
        return Pass(self.stacks, inputs, dropout)

    def evaluated(self, inputs: Tensor) -> Tensor:
        """(b, outputs) without dropout."""
        return Pass(self.stacks, inputs, exact=True).outputs

    def roughly(self, inputs: Tensor) -> Tensor:
        """(b, outputs) without dropout, by large products in the precision of training."""
        return Pass(self.stacks, inputs).outputs

    def one_more(self, inputs: Tensor, x: Tensor, features: Tensor, mask: Tensor, layout: Layout) -> Tensor:
        """(b, m, outputs) if one of the features (b, m) were known as well.

        The first layer is linear in what is known, so that a feature adds its columns' weights and the rest of the
        input is not multiplied again.
        """
        b, m = features.shape
        (first, bias), *later = self._layers
        sums = _product(inputs, first.t()).add_(bias)  # (b or 1, hidden)
        columns, valid = layout.columns
        at = columns[features].view(b, -1)  # (b, m * widest)
        values = x.gather(1, at).view(b * m, -1) * (valid[features] * mask[:, :, None]).view(b * m, -1)
        at = torch.cat([at.view(b * m, -1), (features + self.n_columns).view(-1, 1)], dim=1)
        added = functional.embedding_bag(
            at, first.t().contiguous(), per_sample_weights=torch.cat([values, mask.view(-1, 1)], dim=1), mode="sum"
        )
        h = (added.view(b, m, -1) + sums[:, None, :]).view(b * m, -1)
        for weight, bias in later:
            h = _product(h.clamp_min_(0.0), weight.t(), rows_for_one=m).add_(bias)
        return h.view(b, m, -1)

    @property
    def _layers(self) -> list[tuple[Tensor, Tensor]]:
        pairs = [pair for stack in self.stacks for pair in stack.weights()]
        return [(torch.from_numpy(weight), torch.from_numpy(bias)) for weight, bias in pairs]

    def network(self) -> Network:
        """The same network for the torch-free runtime; it keeps the weights of this moment."""
        (first, _), *later = self._layers
        return Network(
            value_weight=_array(first[:, : self.n_columns].t()),
            mask_weight=_array(first[:, self.n_columns :].t()),
            biases=tuple(_array(bias) for _, bias in self._layers),
            weights=tuple(_array(weight.t()) for weight, _ in later),
        )

    def live(self) -> Network:
        """The torch-free network: nothing is faster."""
        return self.network()


def mlp_pair(
    n_columns: int,
    n_features: int,
    n_outputs: int,
    hidden: Sequence[int],
    *,
    shared: bool,
    generator: torch.Generator,
) -> PolicyPredictor:
    """Multilayer perceptrons for a policy and a predictor."""
    widths = [n_columns + n_features, *hidden]
    trunk = Layers(widths, generator)
    predictor = MaskedMLP(n_columns, trunk, n_outputs, generator)
    own = trunk if shared else Layers(widths, generator)
    return PolicyPredictor(predictor, MaskedMLP(n_columns, own, n_features, generator))


def _product(a: Tensor, b: Tensor, rows_for_one: int = 1) -> Tensor:
    return torch.from_numpy(product(a.numpy(), b.numpy(), rows_for_one=rows_for_one))


def _array(tensor: Tensor) -> np.ndarray:
    array: np.ndarray = tensor.detach().cpu().contiguous().numpy().copy()
    return array
