"""What a method learns from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from askless.core import Cases, Missing, Schema, askable

__all__ = ["Problem", "Task", "Tensors"]

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Problem:
    """Encoded training and validation rows, and what is wanted of a model."""

    schema: Schema
    train: Cases  # numpy arrays
    y_train: np.ndarray  # (n,) class codes 0..classes-1, or numbers
    valid: Cases
    y_valid: np.ndarray
    task: Task
    n_classes: int  # 0 for a regression
    max_features: int
    missing: Missing = "skip"

    @property
    def n_outputs(self) -> int:
        """One for each class, or one mean."""
        return self.n_classes or 1

    @cached_property
    def target_scale(self) -> tuple[float, float]:
        """Mean and standard deviation of a regression's target in the training rows."""
        if self.task == "classification":
            return 0.0, 1.0
        y = self.y_train.astype(np.float64)
        return float(y.mean()), float(y.std()) or 1.0

    @cached_property
    def prior_outputs(self) -> Tensor:
        """(outputs,) what to predict before anything is known, as the loss takes it: log frequencies, or 0."""
        if self.task == "regression":
            return torch.zeros(1)
        counts = np.bincount(self.y_train, minlength=self.n_classes)
        return torch.from_numpy(np.log(counts / counts.sum())).float()

    def tensors(self, part: Literal["train", "valid"]) -> Tensors:
        """The rows of one part as torch tensors."""
        cases, y = (self.train, self.y_train) if part == "train" else (self.valid, self.y_valid)
        present = torch.from_numpy(cases.present)
        offset, scale = self.target_scale
        target = (
            torch.from_numpy(y.astype(np.int64))
            if self.task == "classification"
            else torch.from_numpy(((y - offset) / scale).astype(np.float32))
        )
        return Tensors(torch.from_numpy(cases.x), present, askable(present, self.missing), target, self)


@dataclass(frozen=True)
class Tensors:
    """Rows as torch tensors, and how to mask them."""

    x: Tensor  # (n, columns)
    present: Tensor  # (n, features) bool
    askable: Tensor  # (n, features) bool
    y: Tensor  # (n,) codes, or standardised numbers
    problem: Problem

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def column_feature(self) -> Tensor:
        """(columns,) the feature of each column."""
        return torch.from_numpy(self.problem.schema.column_feature)

    @cached_property
    def _width(self) -> int | None:
        """The number of columns of every feature, if it is the same for all."""
        counts = np.bincount(self.problem.schema.column_feature)
        return int(counts[0]) if (counts == counts[0]).all() else None

    def masked(self, x: Tensor, mask: Tensor) -> Tensor:
        """Values (b, columns) times the mask (b, features) of their features."""
        if self._width == 1:
            return x * mask
        if self._width is not None:  # broadcasting is several times faster than indexing, above all backward
            b, features = mask.shape
            return (x.view(b, features, self._width) * mask.unsqueeze(2)).view(b, -1)
        return x * mask.index_select(1, self.column_feature)

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """(b,) cross-entropy in nats, or the squared error of the standardised target."""
        if self.problem.task == "classification":
            return functional.cross_entropy(outputs, y, reduction="none")
        return (outputs[:, 0] - y).square()
