"""The base of DeepLIFT and integrated gradients: the network as torch modules, the baseline, sums by feature."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from askless.acquisition import Schema
from askless.methods.base import method_name
from askless.methods.extras import needed
from askless.methods.importance import ImportanceMethod
from askless.networks import MaskedMLP, masked_inputs
from askless.training import Problem, Progress

__all__ = ["AttributionMethod"]

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
    total: np.ndarray = columns + each[:, schema.n_columns :]
    return total


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
