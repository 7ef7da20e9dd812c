"""Multilayer perceptrons over partial records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from askless.models import Network
from askless.nn.layers import Dropout, Layers, Pass

__all__ = ["Layout", "MaskedMLP", "PolicyPredictor", "mask_gradient", "masked_inputs"]


class MaskedMLP(nn.Module):
    """Hidden layers over masked values and the mask, so that zero and unknown are told apart; a linear head."""

    def __init__(self, n_columns: int, trunk: Layers, n_outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        self.n_columns = n_columns
        self.trunk = trunk
        self.head = Layers([trunk.shapes[-1][1], n_outputs], generator)

    @property
    def stacks(self) -> tuple[Layers, Layers]:
        """All layers."""
        return self.trunk, self.head

    def forward(self, inputs: Tensor, dropout: Dropout | None = None) -> Pass:
        """A pass from what `masked_inputs` made; its `outputs` are (b, outputs)."""
        return Pass(self.stacks, inputs, dropout)

    def one_more(self, sums: Tensor, x: Tensor, features: Tensor, mask: Tensor, layout: Layout) -> Tensor:
        """(b, m, outputs) if one of the features (b, m) were known as well, given `first_sums` (b, hidden).

        `mask` (b, m) is 0 where asking gives no value. The first layer is linear in what is known, so that a feature
        adds its columns' weights and the rest of the input is not multiplied again.
        """
        b, m = features.shape
        (first, _), *later = self._layers
        columns, valid = layout.columns
        at = columns[features].view(b, -1)  # (b, m * widest)
        values = x.gather(1, at).view(b * m, -1) * (valid[features] * mask[:, :, None]).view(b * m, -1)
        at = torch.cat([at.view(b * m, -1), (features + self.n_columns).view(-1, 1)], dim=1)
        added = functional.embedding_bag(
            at, first.t().contiguous(), per_sample_weights=torch.cat([values, mask.view(-1, 1)], dim=1), mode="sum"
        )
        h = (added.view(b, m, -1) + sums[:, None, :]).view(b * m, -1)
        for weight, bias in later:
            h = torch.addmm(bias, h.clamp_min_(0.0), weight.t())
        return h.view(b, m, -1)

    def first_sums(self, inputs: Tensor) -> Tensor:
        """(b, hidden) the first layer's sums, from what `masked_inputs` made."""
        weight, bias = self._layers[0]
        return torch.addmm(bias, inputs, weight.t())

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
        widths = [n_columns + n_features, *hidden]
        trunk = Layers(widths, generator)
        self.predictor = MaskedMLP(n_columns, trunk, n_outputs, generator)
        own = trunk if shared else Layers(widths, generator)
        self.policy = MaskedMLP(n_columns, own, n_features, generator)


@dataclass(frozen=True)
class Layout:
    """Which feature each column belongs to."""

    column_feature: Tensor  # (columns,) in order

    @cached_property
    def width(self) -> int | None:
        """The number of columns of every feature, if it is the same for all."""
        counts = torch.bincount(self.column_feature)
        return int(counts[0]) if bool((counts == counts[0]).all()) else None

    @cached_property
    def columns(self) -> tuple[Tensor, Tensor]:
        """(features, widest) the columns of each feature, and 1 where there is one, 0 where there are fewer."""
        counts = torch.bincount(self.column_feature)
        place = torch.arange(int(counts.max()))
        valid = place < counts[:, None]
        columns = torch.where(valid, (counts.cumsum(0) - counts)[:, None] + place, 0)
        return columns, valid

    def spread(self, mask: Tensor) -> Tensor:
        """(b, columns): the mask (b, features) of each column's feature."""
        return mask if self.width == 1 else mask.index_select(1, self.column_feature)

    def gathered(self, each: Tensor, total: Tensor) -> Tensor:
        """(b, features): the columns' numbers (b, columns) added to their features' (b, features), in place."""
        if self.width is None:
            return total.index_add_(1, self.column_feature, each)
        for j in range(self.width):  # adding whole slices is several times faster than adding by index
            total += each[:, j :: self.width]
        return total


def masked_inputs(x: Tensor, mask: Tensor, layout: Layout) -> Tensor:
    """(b, columns + features): values (b, columns) times their features' mask, beside the mask (b, features)."""
    b, columns = x.shape
    inputs = x.new_empty(b, columns + mask.shape[1])
    torch.mul(x, layout.spread(mask), out=inputs[:, :columns])
    inputs[:, columns:].copy_(mask)
    return inputs


def mask_gradient(g: Tensor, x: Tensor, layout: Layout) -> Tensor:
    """(b, features) the gradient of the mask, from that of `masked_inputs` (b, columns + features)."""
    columns = x.shape[1]
    return layout.gathered(g[:, :columns] * x, g[:, columns:].contiguous())


def _array(tensor: Tensor) -> np.ndarray:
    array: np.ndarray = tensor.detach().cpu().contiguous().numpy().copy()
    return array
