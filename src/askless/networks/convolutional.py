"""Residual convolutional networks over partial images."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from askless.acquisition import Grid
from askless.exceptions import ParameterError
from askless.networks.base import PolicyPredictor
from askless.networks.mlp import bfloat16_is_fast
from askless.networks.residual import SIZES, ClassHead, PatchHead, Trunk
from askless.networks.served import ServedByTorch

__all__ = ["ConvNetwork", "SharedConv", "chosen_device", "conv_network", "conv_pair", "conv_predictor"]

ROWS_AT_ONCE = 128  # evaluated together: their maps stay in the processor's cache
ROWS_AT_ONCE_ON_GPU = 4096


def conv_network(grid: Grid, size: str, n_classes: int | None, *, trunk: Trunk | None = None) -> ConvNetwork:
    """A network for `n_classes` numbers, or with None one for each patch, on a given trunk or its own."""
    trunk = Trunk(grid, SIZES[size]) if trunk is None else trunk
    head = PatchHead(trunk, grid) if n_classes is None else ClassHead(trunk.width, n_classes)
    return ConvNetwork(grid, size, trunk, head, grid.n_patches if n_classes is None else n_classes)


def conv_predictor(grid: Grid, n_outputs: int, size: str, device: str = "cpu") -> ConvNetwork:
    """A convolutional network for predictions."""
    return conv_network(grid, size, n_outputs).to(chosen_device(device))


def conv_pair(grid: Grid, n_outputs: int, size: str, *, shared: bool, device: str = "cpu") -> PolicyPredictor:
    """Convolutional networks for a policy and a predictor."""
    predictor = conv_predictor(grid, n_outputs, size, device)
    policy = conv_network(grid, size, None, trunk=predictor.trunk if shared else None).to(chosen_device(device))
    return SharedConv(predictor, policy) if shared else PolicyPredictor(predictor, policy)


def chosen_device(name: str) -> torch.device:
    """The device of that name, if torch has it; "auto" is the first of CUDA, MPS and the processor that it has."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(device for device, available in there.items() if available))
    if not there[name]:
        raise ParameterError(
            "not_supported",
            f"device is {name!r}, but torch finds no such device on this machine",
            name="device",
            value=name,
        )
    return torch.device(name)


class ConvNetwork(ServedByTorch):
    """A trunk over masked pixels and the mask, and a head. Inputs may be on another device; outputs return to it."""

    def __init__(self, grid: Grid, size: str, trunk: Trunk, head: ClassHead | PatchHead, n_outputs: int) -> None:
        column_feature = torch.arange(grid.n_patches).repeat_interleave(grid.patch_columns)
        super().__init__(column_feature, n_outputs)
        self.grid, self.size, self.trunk, self.head = grid, size, trunk, head

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(b, outputs)."""
        return self.heads(x, mask, self.head)[0]

    def heads(self, x: Tensor, mask: Tensor, *heads: ClassHead | PatchHead) -> list[Tensor]:
        """(b, outputs) of each head on this trunk."""
        with self._precision():
            h = self.trunk(self._pixels(x.to(self.device), mask.to(self.device)))
            return [head(h).to(x) for head in heads]  # bfloat16 is too coarse for a loss

    @torch.no_grad()
    def evaluate(self, x: Tensor, mask: Tensor) -> Tensor:
        """(b, outputs) by the running statistics of the normalisation, without gradients."""
        rows = ROWS_AT_ONCE if self.device.type == "cpu" else ROWS_AT_ONCE_ON_GPU
        parts = zip(torch.split(x, rows), torch.split(mask, rows), strict=True)
        return torch.cat([super(ConvNetwork, self).evaluate(*part) for part in parts])

    def _pixels(self, x: Tensor, mask: Tensor) -> Tensor:
        """(b, channels + 1, height, width), channels last in memory."""
        spread = mask.repeat_interleave(self.grid.patch_columns, dim=1)
        values, known = self.grid.to_pixels(x * spread), self.grid.upsample(mask)
        return torch.cat([values, known[..., None]], dim=3).permute(0, 3, 1, 2)

    def _precision(self) -> Any:
        """bfloat16 where the device has it. On a processor only for training, since inference uses single precision,
        and only on one thread: on two, torch 2.13 corrupts memory in the backward pass of few images.
        """
        device = self.device.type
        if device == "cuda":
            supported = torch.cuda.is_bf16_supported()
        else:
            supported = device == "cpu" and self.training and bfloat16_is_fast() and torch.get_num_threads() == 1
        return torch.autocast(device, torch.bfloat16) if supported else nullcontext()

    def description(self) -> dict[str, Any]:
        """The grid, the size, and the head with its number of outputs."""
        head = "classes" if isinstance(self.head, ClassHead) else "patches"
        parts = {"kind": "convolutional", "size": self.size, "grid": asdict(self.grid)}
        return parts | {"head": head, "outputs": self.n_outputs}


class SharedConv(PolicyPredictor):
    """A policy and a predictor on one trunk."""

    predictor: ConvNetwork
    policy: ConvNetwork

    def both(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The policy's scores and the predictor's outputs by one pass through the trunk."""
        scores, outputs = self.policy.heads(x, mask, self.policy.head, self.predictor.head)
        return scores, outputs
