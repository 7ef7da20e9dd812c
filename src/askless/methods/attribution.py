"""DeepLIFT and integrated gradients: rankings by the attributions of single predictions, computed by captum."""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from askless.acquisition import Schema
from askless.methods.base import method_name, needed
from askless.methods.importance import ImportanceMethod
from askless.methods.settings import NETWORK, Number
from askless.networks import MaskedMLP, masked_inputs
from askless.training import Problem, Progress

RUN = 256  # rows at once


@dataclass(eq=False, repr=False, kw_only=True)
class AttributionMethod(ImportanceMethod):
    """Ranks features by the mean absolute attribution of single predictions; a subclass writes `_attributions`."""

    @abstractmethod
    def _attributions(self, network: nn.Sequential, inputs: Tensor, baseline: Tensor, y: Tensor | None) -> Tensor:
        """(b, inputs) what each of the inputs (b, inputs) adds to a prediction, beyond the baseline (1, inputs).

        The prediction is the probability of the classes y (b,), or without them the only output of the network.
        """

    def _check(self, problem: Problem) -> None:
        self._captum()

    def _captum(self) -> Any:
        return needed("captum.attr", "captum", method_name(type(self)))

    def _importance(self, module: MaskedMLP, problem: Problem, seed: int, progress: Progress) -> np.ndarray:
        network, baseline = sequential(module), mean_inputs(problem)
        rows = problem.rows("valid")
        total = np.zeros(len(problem.schema))
        runs = [slice(start, start + RUN) for start in range(0, len(rows), RUN)]
        progress.start(len(runs))
        for done, run in enumerate(runs, start=1):
            x = rows.x[run]
            inputs = masked_inputs(x, rows.present[run].to(x.dtype), problem.column_feature).requires_grad_()
            y = rows.y[run] if problem.task == "classification" else None
            each = self._attributions(network, inputs, baseline, y).detach().numpy()
            total += np.abs(by_feature(each, problem.schema)).sum(axis=0, dtype=np.float64)
            progress.epoch(done, "attribution", {"epoch": done})
        return total / len(rows)


def by_feature(each: np.ndarray, schema: Schema) -> np.ndarray:
    """(n, features) the attributions (n, columns + features) of a feature's columns and of its mask, summed."""
    columns = np.add.reduceat(each[:, : schema.n_columns], schema.starts, axis=1)
    return columns + each[:, schema.n_columns :]


def mean_inputs(problem: Problem) -> Tensor:
    """(1, columns + features) the mean of what the network sees of the training rows, values and mask."""
    rows = problem.rows("train")
    total = torch.zeros(1, problem.schema.n_columns + len(problem.schema), dtype=torch.float64)
    for start in range(0, len(rows), RUN):
        x, present = rows.x[start : start + RUN], rows.present[start : start + RUN]
        total += masked_inputs(x, present.to(x.dtype), problem.column_feature).sum(dim=0)
    return (total / len(rows)).to(rows.x.dtype)


def sequential(module: MaskedMLP) -> nn.Sequential:
    """The network as modules of torch, each used once, as captum needs them."""
    module = copy.deepcopy(module)
    layers = [part for layer in module.hidden.layers for part in (layer, nn.ReLU())]
    return nn.Sequential(*layers, module.head).eval()


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
            return (self.network(inputs) * weights).sum(dim=1)

    return Weighted()


AT_ONCE = 4096


@dataclass(eq=False, repr=False, kw_only=True)
class IntegratedGradients(AttributionMethod):
    """Ranks features by a network's gradients on the line from the mean row to each row.

    The method of Sundararajan, Taly and Yan, "Axiomatic Attribution for Deep Networks" (2017). One network is trained
    on all features. Each prediction's difference from the prediction for the mean training row is the integral of the
    gradient on the straight line between the two rows, with a part for each feature. The mean absolute part for the
    true class ranks them. It needs the package captum.

    Parameters
    ----------
    steps : points on the line at which the gradient is taken.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the networks, as for `Greedy`.
    """

    limits = NETWORK | {"steps": Number(1, whole=True)}

    steps: int = 50

    def _attributions(self, network: nn.Sequential, inputs: Tensor, baseline: Tensor, y: Tensor | None) -> Tensor:
        model = network if y is None else nn.Sequential(*network, nn.Softmax(dim=1))
        integrated = self._captum().IntegratedGradients(model)
        target = 0 if y is None else y
        rows = max(len(inputs), AT_ONCE)  # of all the points between, which bounds the memory
        return integrated.attribute(inputs, baseline, target=target, n_steps=self.steps, internal_batch_size=rows)
