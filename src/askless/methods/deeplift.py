"""DeepLIFT."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from askless.methods.attribution import AttributionMethod

__all__ = ["Deeplift"]

POINTS = 64  # at which slopes are taken


@dataclass(eq=False, repr=False, kw_only=True)
class Deeplift(AttributionMethod):
    """Ranks features by the differences that they make to single predictions, passed back through the units.

    DeepLIFT, with the rescale rule, of Shrikumar, Greenside and Kundaje, "Learning Important Features Through
    Propagating Activation Differences" (2017). One network is trained on all features. Each prediction's difference
    from the prediction for the mean training row is divided among the features. The mean absolute share for the true
    class ranks them. It is quick, one pass for each validation row, and needs the package captum.

    Parameters
    ----------
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the networks, as for `Greedy`.
    """

    def _attributions(self, network: nn.Sequential, inputs: Tensor, baseline: Tensor, y: Tensor | None) -> Tensor:
        with torch.no_grad():
            start, end = network(baseline), network(inputs)
        weights = torch.ones_like(end) if y is None else mean_slopes(start, end, y)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"\s*Setting forward, backward hooks", category=UserWarning)
            each: Tensor = (
                self._captum()
                .DeepLift(weighted(network))
                .attribute(inputs, baseline, additional_forward_args=(weights,))
            )
        return each


def mean_slopes(start: Tensor, end: Tensor, y: Tensor) -> Tensor:
    """(b, classes) the mean slope of the probability of class y (b,) in each output, from `start` to `end`.

    With them, the outputs' differences (b, classes) add up to that of the probability. For a unit with one input, and
    for a probability of two classes, the mean slope is the difference quotient, which is the rescale rule.
    """
    points, shares = (torch.from_numpy(a).to(end.dtype) / 2.0 for a in np.polynomial.legendre.leggauss(POINTS))
    between = start + (points[:, None, None] + 0.5) * (end - start)  # (points, b, classes)
    p = torch.softmax(between, dim=2)
    own = functional.one_hot(y, end.shape[1]).to(end.dtype)  # (b, classes)
    slopes = (p * own).sum(dim=2, keepdim=True) * (own - p)
    return (shares[:, None, None] * slopes).sum(dim=0)


def weighted(network: nn.Sequential) -> nn.Module:
    """The network with one output for each row: the sum of its outputs, times weights of the row's own."""

    class Weighted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, inputs: Tensor, weights: Tensor) -> Tensor:
            total: Tensor = (self.network(inputs) * weights).sum(dim=1)
            return total

    return Weighted()
