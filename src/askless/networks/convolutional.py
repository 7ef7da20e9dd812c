"""Residual convolutional networks over partial images."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from askless.acquisition import Grid
from askless.exceptions import bad_value
from askless.networks.masked import PolicyPredictor, bfloat16_is_fast
from askless.networks.served import ServedByTorch


@dataclass(frozen=True)
class Size:
    """How wide and deep a trunk is. Each stage after the first halves the image's sides."""

    stride: int | None  # of the first convolution, which is 3 x 3; None: it reads each patch as a whole
    widths: tuple[int, ...]  # channels of each stage
    blocks: int  # in each stage, of two convolutions each


SIZES = {
    "conv_tiny": Size(stride=1, widths=(8, 16), blocks=1),
    "conv_small": Size(stride=2, widths=(24, 48, 96), blocks=1),
    "conv_medium": Size(stride=2, widths=(24, 64, 192), blocks=1),
    "conv_patches": Size(stride=None, widths=(96, 192), blocks=1),
    "resnet18": Size(stride=1, widths=(64, 128, 256, 512), blocks=2),
}


class Normalised(nn.Module):
    """A convolution without bias and the batch normalisation after it.

    Windows that do not overlap need no zeros around the image.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.kernel, self.stride, self.padding = kernel, stride, 0 if kernel == stride else kernel // 2
        self.weight = _normal((outputs, inputs, kernel, kernel), kernel**2 * outputs)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, h: Tensor) -> Tensor:
        """(b, outputs, height, width), not rectified."""
        h = functional.conv2d(h, self.weight, stride=self.stride, padding=self.padding)
        return self.norm(h)


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = Normalised(inputs, outputs, 3, stride)
        self.second = Normalised(outputs, outputs, 3, 1)
        changes = inputs != outputs or stride != 1
        self.shortcut = Normalised(inputs, outputs, 1, stride) if changes else None

    def forward(self, h: Tensor) -> Tensor:
        """(b, outputs, height, width)"""
        beside = h if self.shortcut is None else self.shortcut(h)
        return functional.relu_(self.second(functional.relu_(self.first(h))) + beside)


class Trunk(nn.Module):
    """From an image's channels and its mask (b, channels + 1, height, width) to a coarse map of many channels."""

    def __init__(self, grid: Grid, size: Size) -> None:
        super().__init__()
        kernel, stride = (grid.patch_size,) * 2 if size.stride is None else (3, size.stride)
        self.stem = Normalised(grid.channels + 1, size.widths[0], kernel, stride)
        self.blocks: Any = nn.ModuleList(_blocks(size))
        self.width = size.widths[-1]
        self.shrinks = [stride, *(2 for _ in size.widths[1:])]  # strides on the way

    def forward(self, pixels: Tensor) -> Tensor:
        """(b, width, rows, columns)"""
        h = functional.relu_(self.stem(pixels))
        for block in self.blocks:
            h = block(h)
        return h

    def side(self, pixels: int) -> int:
        """The side of the map, from that of the image."""
        for stride in self.shrinks:
            pixels = -(-pixels // stride)
        return pixels


def _blocks(size: Size) -> Iterator[Block]:
    widths = [size.widths[0], *size.widths]
    for stage, (inputs, outputs) in enumerate(pairwise(widths)):
        for block in range(size.blocks):
            halves = stage > 0 and block == 0
            yield Block(inputs if block == 0 else outputs, outputs, 2 if halves else 1)


class ClassHead(nn.Module):
    """The mean over the map, then a linear layer."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.weight = _uniform((outputs, width), width)
        self.bias = _uniform((outputs,), width)

    def forward(self, h: Tensor) -> Tensor:
        """(b, outputs)"""
        mean = h.permute(0, 2, 3, 1).mean(dim=(1, 2))  # so that the gradient's channels come last as the map's do
        return functional.linear(mean, self.weight, self.bias)


class PatchHead(nn.Module):
    """One number for each patch: a transposed convolution up to the grid's size, then one of 1 x 1.

    Where the sides do not divide one another, each patch reads the nearest place of the map.
    """

    def __init__(self, trunk: Trunk, grid: Grid) -> None:
        super().__init__()
        sides = trunk.side(grid.height), trunk.side(grid.width)
        self.factor = max(-(-grid.rows // sides[0]), -(-grid.columns // sides[1]))
        hidden = min(trunk.width, 64)
        self.up = _normal((trunk.width, hidden, self.factor, self.factor), trunk.width)
        self.norm = nn.BatchNorm2d(hidden)
        self.weight = _uniform((1, hidden, 1, 1), hidden)
        self.bias = _uniform((1,), hidden)
        large = [side * self.factor for side in sides]
        self.rows, self.columns = _nearest(large[0], grid.rows), _nearest(large[1], grid.columns)

    def forward(self, h: Tensor) -> Tensor:
        """(b, patches)"""
        h = functional.relu_(self.norm(functional.conv_transpose2d(h, self.up, stride=self.factor)))
        h = functional.conv2d(h, self.weight, self.bias)[:, 0]  # (b, rows, columns) of the large map
        if self.rows is not None:
            h = h[:, self.rows]
        if self.columns is not None:
            h = h[:, :, self.columns]
        return h.flatten(1)


def _nearest(have: int, want: int) -> list[int] | None:
    """The place among `have` that is nearest to each of `want` equal parts; None where they are the same."""
    return None if have == want else [int((i + 0.5) * have / want) for i in range(want)]


def _normal(shape: tuple[int, ...], fan: int) -> nn.Parameter:
    """Weights before rectified units (He et al. 2015)."""
    return nn.Parameter(torch.empty(shape).normal_(0.0, math.sqrt(2.0 / fan)))


def _uniform(shape: tuple[int, ...], inputs: int) -> nn.Parameter:
    """Torch's usual initial values of a linear layer."""
    bound = 1.0 / math.sqrt(inputs)
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


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
        raise bad_value("not_supported", "device", name, "a device that torch finds on this machine")
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
        head = "classes" if isinstance(self.head, ClassHead) else "patches"
        parts = {"kind": "convolutional", "size": self.size, "grid": asdict(self.grid)}
        return parts | {"head": head, "outputs": self.n_outputs}


class SharedConv(PolicyPredictor):
    """A policy and a predictor on one trunk."""

    predictor: ConvNetwork
    policy: ConvNetwork

    def both(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        scores, outputs = self.policy.heads(x, mask, self.policy.head, self.predictor.head)
        return scores, outputs
