"""What learners ask of a network over partial records, be it of dense layers or of convolutions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from askless.models import NetworkLike

__all__ = ["Layout", "MaskedNet", "PolicyPredictor", "Run", "TwofoldRun", "mask_gradient", "masked_inputs"]

AT_ONCE = 1 << 11  # states that are evaluated together where each feature is tried


class Run(Protocol):
    """A pass of a batch through a network in training, and its way back."""

    outputs: Tensor  # (b, outputs)

    def backward(self, gradient: Tensor) -> Any:
        """Add the gradients of a loss to the parameters', given that of the outputs (b, outputs).

        Returns rows (b, ...) from some or all of which `input_gradient` goes on, if the pass is one `to_inputs`.
        """
        ...

    def input_gradient(self, g: Any) -> Tensor:
        """(b, inputs) from what `backward` returned."""
        ...


class TwofoldRun(Run, Protocol):
    """A pass of a policy that shares its trunk, through which the predictor answers as well."""

    predictions: Tensor  # (b, outputs) of the predictor

    def teach(self, gradient: Tensor) -> None:
        """Let `backward`, which is to follow, take the predictor's gradient (b, outputs) along."""
        ...


class MaskedNet(nn.Module):
    """A network over masked values and the mask, so that zero and unknown are told apart."""

    n_columns: int
    first_trials: int  # pairs of a row and a feature that finding the first question may take

    @abstractmethod
    def forward(self, inputs: Tensor, dropout: Any = None, *, to_inputs: bool = False) -> Run:
        """A training pass from what `masked_inputs` made; whether its way back is to end at the inputs."""

    @abstractmethod
    def evaluated(self, inputs: Tensor) -> Tensor:
        """(b, outputs) as in use: without dropout, batches or gradients, from what `masked_inputs` made."""

    def roughly(self, inputs: Tensor) -> Tensor:
        """(b, outputs) as `evaluated`, if need be in the precision of training: to compare sets with one another."""
        return self.evaluated(inputs)

    def one_more(self, inputs: Tensor, x: Tensor, features: Tensor, mask: Tensor, layout: Layout) -> Tensor:
        """(b, m, outputs) if one of the features (b, m) were known as well, as `roughly` says it.

        `inputs` (b or 1, inputs) are what is known now, `x` (b, columns) complete values. `mask` (b, m) is 0 where
        asking gives no value.
        """
        b, m = features.shape
        known = inputs[:, self.n_columns :].expand(b, -1)
        parts = []
        for some in torch.split(torch.arange(b), max(1, AT_ONCE // m)):
            told = torch.maximum(known[some].gather(1, features[some]), mask[some])  # (s, m)
            each = known[some][:, None, :].repeat(1, m, 1).scatter_(2, features[some][:, :, None], told[:, :, None])
            values = x[some].repeat_interleave(m, dim=0)
            parts.append(self.roughly(masked_inputs(values, each.view(len(values), -1), layout)))
        return torch.cat(parts).view(b, m, -1)

    @abstractmethod
    def network(self) -> NetworkLike:
        """The same network for the torch-free runtime; it keeps the weights of this moment."""

    @abstractmethod
    def live(self) -> NetworkLike:
        """What answers like `network` while training goes on, as fast as this machine can."""


class PolicyPredictor(nn.Module):
    """The policy and predictor networks, apart or on one trunk."""

    def __init__(self, predictor: MaskedNet, policy: MaskedNet) -> None:
        super().__init__()
        self.predictor = predictor
        self.policy = policy

    def twofold(self, inputs: Tensor) -> TwofoldRun | None:
        """A training pass of both from the same inputs, where a shared trunk makes that as cheap as one."""
        return None


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
