"""Dense layers with one flat parameter, and passes through them, forward and back.

At these sizes torch spends more time around the matrix products than in them: autograd's bookkeeping, dropout masks,
allocations, several microseconds for the call of an operator. A pass that knows its own way back and computes with
numpy on the tensors' own memory, gradients written where the optimiser reads them, and dropout that leaves units out
instead of multiplying them by zero give most of that time back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from askless.nn.products import LayerProducts

__all__ = ["Dropout", "Layers", "Pass", "Units"]

ALIGNED = 8  # matrix products like widths that are multiples of it

Weights = list[tuple[np.ndarray, np.ndarray]]
"""Of each layer the weight (outputs, inputs) and the bias (outputs,)."""


class Layers(nn.Module):
    """The weights of consecutive dense layers in one tensor, with torch's usual initial values."""

    def __init__(self, widths: Sequence[int], generator: torch.Generator) -> None:
        super().__init__()
        self.shapes = list(pairwise(widths))
        drawn = []
        for inputs, outputs in self.shapes:
            bound = 1.0 / math.sqrt(inputs)
            drawn.append(torch.empty((inputs + 1) * outputs).uniform_(-bound, bound, generator=generator))
        self.flat = nn.Parameter(torch.cat(drawn))
        self._views: dict[int, tuple[Tensor, Weights]] = {}
        self._spare: Tensor | None = None

    def weights(self) -> Weights:
        """The layers, as views of the flat parameter."""
        return self._viewed(self.flat.detach())

    def gradients(self) -> Weights:
        """The layers' gradients, as views of the flat one, which must be there."""
        assert self.flat.grad is not None
        return self._viewed(self.flat.grad)

    def spare_gradient(self) -> Tensor:
        """A tensor to write a gradient into: always the same, so that a step allocates none."""
        if self._spare is None or self._spare.dtype != self.flat.dtype or self._spare is self.flat.grad:
            self._spare = torch.empty_like(self.flat)
        return self._spare

    def _viewed(self, flat: Tensor) -> Weights:
        key = flat.data_ptr()
        if key not in self._views:
            if len(self._views) >= 4:  # the parameter, its gradient, and what was there before they were replaced
                self._views.clear()
            ends = np.cumsum([size for i, o in self.shapes for size in (o * i, o)])
            parts = iter(np.split(flat.numpy(), ends[:-1]))
            self._views[key] = flat, [(next(parts).reshape(o, i), next(parts)) for i, o in self.shapes]
        return self._views[key][1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_views": {}, "_spare": None}  # a copy must not write into the original


@dataclass(frozen=True)
class Units:
    """The units of a layer that take part in a batch."""

    kept: np.ndarray  # (k,) which they are
    place: np.ndarray  # (width,) where each unit stands among them; k for those that take no part

    @property
    def scale(self) -> float:
        """How many units each one stands for."""
        return len(self.place) / len(self.kept)


class Dropout:
    """Which units take part: a random choice for all rows of a batch, so that the others cost nothing.

    The choices are drawn once and picked from at random; `generator` only picks, so its state is all that a
    checkpoint needs.
    """

    CHOICES = 256  # for each width

    def __init__(self, rate: float, generator: torch.Generator, seed: int) -> None:
        self.rate, self.generator = rate, generator
        self._seed = seed
        self._choices: dict[int, list[Units]] = {}

    def units(self, width: int) -> Units | None:
        """The units of a layer that take part; None for all of them."""
        kept = max(1, round((1.0 - self.rate) * width))
        if kept == width:
            return None
        if kept >= 8 * ALIGNED and kept % ALIGNED <= (width - kept) // 2:
            kept -= kept % ALIGNED
        if width not in self._choices:
            source = torch.Generator().manual_seed(self._seed + width)
            self._choices[width] = [_drawn(width, kept, source) for _ in range(self.CHOICES)]
        pick = int(torch.randint(self.CHOICES, (), generator=self.generator))
        return self._choices[width][pick]


def _drawn(width: int, kept: int, source: torch.Generator) -> Units:
    order = torch.randperm(width, generator=source)
    return Units(order[:kept].numpy(), order.argsort().clamp_(max=kept).numpy())


class Pass:
    """One pass of a batch through stacks of layers, with rectified units between them, and its way back.

    An `exact` one has its outputs in the precision of its inputs; else large products are rounded where that is
    faster. So are those on the way back.
    """

    def __init__(
        self, stacks: Sequence[Layers], inputs: Tensor, dropout: Dropout | None = None, *, exact: bool = False
    ) -> None:
        self.stacks = stacks
        self._layers = [pair for stack in stacks for pair in stack.weights()]
        widths = [len(bias) for _, bias in self._layers[:-1]]
        self._units = [None, *(None if dropout is None else dropout.units(width) for width in widths), None]
        self._products: list[LayerProducts] = []  # of each layer, between what takes part
        h = inputs.numpy()
        for i, (weight, bias) in enumerate(self._layers):
            weight, bias = _taking_part(weight, bias, self._units[i], self._units[i + 1])
            products = LayerProducts(h, weight)
            self._products.append(products)
            h = h @ weight.T if exact else products.outputs()
            h += bias
            if i + 1 < len(self._layers):
                np.maximum(h, 0, out=h)
        self.outputs = torch.from_numpy(h)  # (b, outputs)

    def backward(self, gradient: Tensor) -> np.ndarray:
        """Add the gradients of a loss to the parameters', given that of the outputs (b, outputs).

        Returns that of the first layer's sums (b, hidden), from which `input_gradient` goes on.
        """
        added = [stack.flat.grad for stack in self.stacks]
        for stack in self.stacks:
            stack.flat.grad = stack.spare_gradient()
        gradients = [pair for stack in self.stacks for pair in stack.gradients()]
        g = gradient.numpy()
        for i in range(len(gradients) - 1, -1, -1):
            products = self._products[i]
            _store(gradients[i], products, g, self._units[i], self._units[i + 1])
            if i > 0:
                g = products.input_gradient(g)
                g *= products.inputs > 0
        for stack, before in zip(self.stacks, added, strict=True):
            if before is not None:
                stack.flat.grad = before + stack.flat.grad  # type: ignore[operator]
        return g

    def input_gradient(self, g: np.ndarray) -> Tensor:
        """(b, inputs) from what `backward` returned."""
        return torch.from_numpy(self._products[0].input_gradient(g))


def _taking_part(
    weight: np.ndarray, bias: np.ndarray, before: Units | None, after: Units | None
) -> tuple[np.ndarray, np.ndarray]:
    """The part of a layer between the units that take part; those before it stand in for all."""
    if after is not None:
        weight, bias = weight.take(after.kept, axis=0), bias.take(after.kept)
    if before is not None:
        weight = weight.take(before.kept, axis=1)
        weight *= before.scale
    return weight, bias


def _store(
    gradient: tuple[np.ndarray, np.ndarray],
    products: LayerProducts,
    g: np.ndarray,
    before: Units | None,
    after: Units | None,
) -> None:
    """Write the gradient of a layer from that of its outputs, g (b, outputs); zero for what took no part."""
    weight, bias = gradient
    sums = g.sum(axis=0)
    if after is None:
        bias[:] = sums
    else:
        bias[:] = 0.0
        bias[after.kept] = sums
    if before is None:
        part = products.weight_gradient(g, out=weight if after is None else None)
    else:  # reading a column of zeros for what took no part is several times faster than writing at given places
        padded = np.zeros((g.shape[1], products.inputs.shape[1] + 1), dtype=g.dtype)
        products.weight_gradient(g, out=padded[:, :-1])
        padded *= before.scale
        part = padded.take(before.place, axis=1)
        if after is None:
            weight[:] = part
    if after is not None:
        weight[:] = 0.0
        weight[after.kept] = part
