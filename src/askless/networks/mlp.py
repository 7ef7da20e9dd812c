"""Multilayer perceptrons over partial records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from askless.models import Network
from askless.networks.base import MaskedNetwork, PolicyPredictor, masked_inputs

__all__ = ["Hidden", "MaskedMLP", "UnitDropout", "bfloat16_is_fast", "linear", "mlp_pair"]

LARGE = 1 << 25  # multiplications of a product, from which on rounding its factors costs next to nothing

DropoutBy = Literal["batch", "row"]


@cache
def bfloat16_is_fast() -> bool:
    """Whether this processor multiplies in bfloat16."""
    capabilities: dict[str, bool] = getattr(
        torch.cpu, "get_capabilities", dict
    )()  # older versions of torch do not tell
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def linear(h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A dense layer. Large products run in bfloat16 with sums in single precision: 3 times as fast on MNIST.

    `torch.autocast` would keep the sums and the activations in bfloat16 too, which loses 8 points there.
    """
    if h.dtype == torch.float32 and len(h) * weight.numel() >= LARGE and bfloat16_is_fast():
        return (h.bfloat16() @ weight.bfloat16().t()).float() + bias
    return functional.linear(h, weight, bias)


class UnitDropout(nn.Module):
    """Dropout of whole hidden units.

    By "batch", the same units are dropped for all rows of a batch, so that they cost no time: training is 1.6 times
    as fast, and no worse. By "row" it is `nn.Dropout`. The choices of units are drawn once.
    """

    CHOICES = 256

    choices: Tensor

    def __init__(self, width: int, rate: float, by: DropoutBy = "batch") -> None:
        super().__init__()
        self.rate, self.by = rate, by
        kept = max(1, round((1.0 - rate) * width))
        if kept >= 64 and kept % 8 <= (width - kept) // 2:
            kept -= kept % 8  # matrix products prefer such widths; a small rate stays small
        choices = torch.stack([torch.randperm(width)[:kept] for _ in range(self.CHOICES)])
        self.register_buffer("choices", choices, persistent=False)

    def units(self) -> Tensor | None:
        """The units (kept,) that take part in a batch; None for all."""
        if not self.training or not self.rate or self.by == "row":
            return None
        return self.choices[int(torch.randint(self.CHOICES, ()))]

    def forward(self, h: Tensor) -> Tensor:
        """(b, width) with units of each row dropped, where dropout is by row."""
        return functional.dropout(h, self.rate, self.training and self.by == "row")


class Hidden(nn.Module):
    """The hidden layers, which a policy and a predictor may share."""

    def __init__(self, widths: Sequence[int], rate: float = 0.0, by: DropoutBy = "batch") -> None:
        super().__init__()
        self.layers: Any = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))
        self.dropouts: Any = nn.ModuleList(UnitDropout(b, rate, by) for b in widths[1:])

    def forward(self, h: Tensor, head: nn.Linear) -> Tensor:
        """(b, outputs) of a head behind the layers, from inputs (b, inputs)."""
        kept = None
        for layer, dropout in zip(self.layers, self.dropouts, strict=True):
            units = dropout.units()
            weight, bias = _part(layer, units, kept)
            h = dropout(linear(h, weight, bias).relu_())
            kept = units
        return linear(h, *_part(head, None, kept))


def _part(layer: nn.Linear, units: Tensor | None, inputs: Tensor | None) -> tuple[Tensor, Tensor]:
    """The weight and bias of some units of a layer, whose inputs stand for all inputs."""
    weight: Tensor = layer.weight
    bias: Tensor = layer.bias
    if units is not None:
        weight, bias = weight.index_select(0, units), bias.index_select(0, units)
    if inputs is not None:
        weight = weight.index_select(1, inputs) * (weight.shape[1] / len(inputs))
    return weight, bias


class MaskedMLP(MaskedNetwork):
    """Hidden layers over masked values and the mask, and a linear head."""

    first_trials = 1 << 18

    columns: Tensor
    is_column: Tensor

    def __init__(self, column_feature: Tensor, hidden: Hidden, n_outputs: int) -> None:
        super().__init__(column_feature, n_outputs)
        self.hidden = hidden
        self.head = nn.Linear(hidden.layers[-1].out_features, n_outputs)
        counts = torch.bincount(column_feature)
        place = torch.arange(int(counts.max()))
        valid = place < counts[:, None]  # (features, widest)
        columns = torch.where(valid, (counts.cumsum(0) - counts)[:, None] + place, 0)
        self.register_buffer("columns", columns, persistent=False)  # of each feature
        self.register_buffer("is_column", valid, persistent=False)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(b, outputs)."""
        return self.hidden(masked_inputs(x, mask, self.column_feature), self.head)

    @torch.no_grad()
    def one_more(self, x: Tensor, mask: Tensor, candidates: Tensor, answered: Tensor) -> Tensor:
        """(b, m, outputs) if one of the candidates (b, m) were known too.

        The first layer is linear, so that a candidate adds the weights of its columns to the sums of the state.
        """
        b, m = candidates.shape
        first, *later = self._all_layers()
        inputs = masked_inputs(x, mask, self.column_feature) if len(mask) == b else x.new_zeros(1, first.in_features)
        at = self.columns[candidates].view(b, -1)  # (b, m * widest)
        values = x.gather(1, at).view(b, m, -1) * (self.is_column[candidates] * answered[:, :, None])
        values = torch.cat([values, answered[:, :, None]], dim=2).flatten(0, 1)  # (b m, widest + 1)
        places = torch.cat([at.view(b, m, -1), (candidates + self.n_columns)[:, :, None]], dim=2).flatten(0, 1)
        weight = first.weight.t().contiguous()
        added = functional.embedding_bag(places, weight, per_sample_weights=values, mode="sum")
        h = (added.view(b, m, -1) + linear(inputs, first.weight, first.bias)[:, None]).flatten(0, 1)
        for layer in later:
            h = linear(h.relu_(), layer.weight, layer.bias)
        return h.view(b, m, -1)

    def _all_layers(self) -> list[nn.Linear]:
        return [*list(self.hidden.layers), self.head]

    def exported(self) -> Network:
        """The numpy network, with a copy of the present weights."""
        return self._network(lambda tensor: np.array(tensor.detach().numpy(), order="C"))

    def live(self) -> Network:
        """The numpy network on the same memory."""
        return self._network(lambda tensor: tensor.detach().numpy())

    def _network(self, array: Callable[[Tensor], np.ndarray]) -> Network:
        first, *later = self._all_layers()
        return Network(
            value_weight=array(first.weight[:, : self.n_columns].t()),
            mask_weight=array(first.weight[:, self.n_columns :].t()),
            biases=tuple(array(layer.bias) for layer in (first, *later)),
            weights=tuple(array(layer.weight.t()) for layer in later),
        )

    def set_dropout(self, rate: float) -> None:
        """Change the dropout rate; the number of units that are kept was fixed before, so only 0 turns it off."""
        for dropout in self.hidden.dropouts:
            dropout.rate = rate


def mlp_pair(
    column_feature: Tensor,
    n_outputs: int,
    hidden: Sequence[int],
    *,
    shared: bool = False,
    dropout: float = 0.0,
    dropout_by: DropoutBy = "batch",
) -> PolicyPredictor:
    """Perceptrons for a policy and a predictor."""
    n_features = int(column_feature.max()) + 1
    widths = [len(column_feature) + n_features, *hidden]
    trunk = Hidden(widths, dropout, dropout_by)
    predictor = MaskedMLP(column_feature, trunk, n_outputs)
    own = trunk if shared else Hidden(widths, dropout, dropout_by)
    return PolicyPredictor(predictor, MaskedMLP(column_feature, own, n_features))
