"""What a method learns from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from askless.acquisition import Cases, CostModel, Grid, Missing, Precedence, Schema, State, Task, Uniform

__all__ = ["Problem", "Rows", "some_rows"]

VALIDATION_QUESTIONS = 1 << 16  # at most,
FEWEST_ROWS, MOST_ROWS = 1 << 11, 1 << 13  # but rows within these limits


def some_rows(n: int, at_most: int) -> np.ndarray:
    """Rows of a table of n, in order: all of them, or random ones, the same each time."""
    if n <= at_most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, at_most, replace=False))


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What a method learns from: encoded training and validation rows, the task, the budget and the costs."""

    schema: Schema
    train: Cases  # numpy arrays
    y_train: np.ndarray  # (n,) class codes 0..classes-1, or numbers
    valid: Cases
    y_valid: np.ndarray
    task: Task
    n_classes: int  # 0 for a regression
    max_features: int
    missing: Missing = "skip"
    costs: CostModel = field(default_factory=Uniform)
    precedence: Precedence | None = None  # validation asks as in use
    device: str = "cpu"  # where convolutional networks are trained; "auto" takes a GPU if there is one
    n_threads: int | None = 1  # of torch; None for as many as it has by default

    @property
    def n_outputs(self) -> int:
        """One for each class, or one mean."""
        return self.n_classes or 1

    @property
    def grid(self) -> Grid:
        """How images are cut into patches; `Method.fit` refuses tables where a method needs it."""
        assert self.schema.grid is not None
        return self.schema.grid

    @property
    def column_feature(self) -> Tensor:
        """(columns,) which feature each column belongs to."""
        return torch.from_numpy(self.schema.column_feature)

    @property
    def priced(self) -> bool:
        """Whether questions have prices that training should heed."""
        return not self.costs.equal

    @cached_property
    def first_prices(self) -> np.ndarray:
        """(features,) the price of each question where nothing is known yet."""
        return np.array(self.costs.prices(State.empty(1, self.schema))[0], dtype=np.float64)

    @property
    def mean_price(self) -> float:
        """What a first question costs on average; 1 where all are free."""
        return float(self.first_prices.mean()) or 1.0

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

    @cached_property
    def validation_sample(self) -> tuple[Cases, np.ndarray]:
        """The validation rows that are asked to choose the best weights: all of them, or random ones of many."""
        wanted = min(max(FEWEST_ROWS, VALIDATION_QUESTIONS // self.max_features), MOST_ROWS)
        rows = some_rows(len(self.y_valid), wanted)
        if len(rows) == len(self.y_valid):
            return self.valid, self.y_valid
        return self.valid[rows], self.y_valid[rows]

    def rows(self, part: Literal["train", "valid", "sample"]) -> Rows:
        """The training rows, the validation rows, or the sample of these, as torch tensors."""
        if part == "train":
            cases, y = self.train, self.y_train
        else:
            cases, y = (self.valid, self.y_valid) if part == "valid" else self.validation_sample
        present = torch.from_numpy(cases.present)
        everything = torch.ones((), dtype=torch.bool).expand(present.shape)  # of no size of its own
        offset, scale = self.target_scale
        target = (
            torch.from_numpy(y.astype(np.int64))
            if self.task == "classification"
            else torch.from_numpy(((y - offset) / scale).astype(np.float32))
        )
        able = present if self.missing == "skip" else everything
        return Rows(torch.from_numpy(cases.x), present, able, target, self)


@dataclass(frozen=True)
class Rows:
    """Rows as torch tensors, and their losses."""

    x: Tensor  # (n, columns)
    present: Tensor  # (n, features) bool
    askable: Tensor  # (n, features) bool
    y: Tensor  # (n,) codes, or standardised numbers
    problem: Problem

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def complete(self) -> bool:
        """Whether no value is missing."""
        return bool(self.present.all())

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """(b,) cross-entropy in nats, or the squared error of the standardised target."""
        if self.problem.task == "classification":
            return functional.cross_entropy(outputs, y, reduction="none")
        return (outputs[:, 0] - y).square()

    def divergence(self, then: Tensor, now: Tensor) -> Tensor:
        """(...) how far apart two predictions (..., outputs) are, by the losses that the former expects."""
        if self.problem.task == "regression":
            return (then - now).square()[..., 0]
        then, now = torch.log_softmax(then, dim=-1), torch.log_softmax(now, dim=-1)
        return (then.exp() * (then - now)).sum(dim=-1)
