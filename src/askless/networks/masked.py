"""Networks over partial records: what training and inference need of them, and multilayer perceptrons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from askless.models import Network, NetworkLike

STATES_AT_ONCE = 1 << 11  # evaluated together where each candidate is tried


class MaskedNetwork(nn.Module, ABC):
    """A network over the values of a record and the mask of its known features.

    `column_feature` (columns,) says which feature each column belongs to.
    """

    first_trials = 1 << 16  # pairs of a row and a feature that finding the first question may take

    column_feature: Tensor

    def __init__(self, column_feature: Tensor, n_outputs: int) -> None:
        super().__init__()
        self.n_columns, self.n_features = len(column_feature), int(column_feature.max()) + 1
        self.n_outputs = n_outputs
        self.register_buffer("column_feature", column_feature, persistent=False)

    @abstractmethod
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(b, outputs) from complete values (b, columns) and the mask (b, features) of what is known, 0 to 1."""

    @torch.no_grad()
    def one_more(self, x: Tensor, mask: Tensor, candidates: Tensor, answered: Tensor) -> Tensor:
        """(b, m, outputs) if one of the candidates (b, m) were known too.

        `answered` (b, m) is 0 where a candidate has no value. `mask` may be (1, features) for all rows.
        """
        b, m = candidates.shape
        parts = []
        for rows in torch.split(torch.arange(b), max(1, STATES_AT_ONCE // m)):
            known = mask.expand(b, -1)[rows]
            new = torch.maximum(known.gather(1, candidates[rows]), answered[rows])
            each = known[:, None, :].repeat(1, m, 1).scatter_(2, candidates[rows][:, :, None], new[:, :, None])
            parts.append(self.evaluate(x[rows].repeat_interleave(m, dim=0), each.flatten(0, 1)))
        return torch.cat(parts).view(b, m, -1)

    @torch.no_grad()
    def evaluate(self, x: Tensor, mask: Tensor) -> Tensor:
        """(b, outputs) without dropout, batch statistics and gradients."""
        if not self.training:
            return self(x, mask)
        self.eval()
        outputs = self(x, mask)
        self.train()
        return outputs

    @abstractmethod
    def exported(self, *, live: bool = False) -> NetworkLike:
        """The network for inference, with a copy of the present weights; a `live` one shares them: not to be kept."""


class PolicyPredictor(nn.Module):
    """The policy and the predictor network; they may share layers."""

    def __init__(self, predictor: MaskedNetwork, policy: MaskedNetwork) -> None:
        super().__init__()
        self.predictor, self.policy = predictor, policy

    def both(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor | None]:
        """The policy's scores (b, features), and the predictor's outputs where they cost nothing more, else None."""
        return self.policy(x, mask), None


def masked_inputs(x: Tensor, mask: Tensor, column_feature: Tensor) -> Tensor:
    """(b, columns + features): values (b, columns) times their features' mask, beside the mask (b, features)."""
    spread = mask if x.shape[1] == mask.shape[1] else mask.index_select(1, column_feature)
    return torch.cat([x * spread, mask], dim=1)


LARGE = 1 << 25  # multiplications of a product, from which on rounding its factors costs next to nothing

DropoutBy = Literal["batch", "row"]


@cache
def bfloat16_is_fast() -> bool:
    """Whether this processor multiplies in bfloat16."""
    capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()  # older versions do not tell
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
        return self.hidden(masked_inputs(x, mask, self.column_feature), self.head)

    @torch.no_grad()
    def one_more(self, x: Tensor, mask: Tensor, candidates: Tensor, answered: Tensor) -> Tensor:
        """(b, m, outputs) if one of the candidates (b, m) were known too.

        The first layer is linear, so that a candidate adds the weights of its columns to the sums of the state.
        """
        b, m = candidates.shape
        first, *later = [*list(self.hidden.layers), self.head]
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

    def exported(self, *, live: bool = False) -> Network:
        first, *later = [*list(self.hidden.layers), self.head]
        parts = [first.weight[:, : self.n_columns].t(), first.weight[:, self.n_columns :].t()]
        parts += [layer.bias for layer in (first, *later)] + [layer.weight.t() for layer in later]
        arrays = [part.detach().numpy() for part in parts]
        if not live:
            arrays = [np.array(array, order="C") for array in arrays]
        depth = 1 + len(later)
        return Network(arrays[0], arrays[1], biases=tuple(arrays[2 : 2 + depth]), weights=tuple(arrays[2 + depth :]))
