"""What a method learns from: rows, prices, and the loss of real roll-outs on the validation rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from askless.acquisition import (
    Cases,
    CostModel,
    Grid,
    MaxFeatures,
    Missing,
    Policy,
    Precedence,
    Predictor,
    Schema,
    State,
    StoppingRule,
    Task,
    Trajectory,
    Uniform,
    cases_at_once,
    rollout,
)
from askless.acquisition.stopping import MaxCost
from askless.exceptions import ParameterError
from askless.tables import sample_rows
from askless.training.augment import VIEWS, Views

__all__ = [
    "Problem",
    "Rows",
    "asked",
    "gain_per_price",
    "rates",
    "row_losses",
    "some_prices",
    "some_rows",
    "static_rates",
    "validation_rollout",
]

VALIDATION_QUESTIONS = 1 << 16  # at most,
FEWEST_ROWS, MOST_ROWS = 1 << 11, 1 << 13  # but rows within these limits


some_rows = partial(sample_rows, seed=0)
"""Rows of a table of n, in order: all of them, or `at_most` random ones, the same each time."""


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
    own_validation: bool = False  # the user chose the validation rows: nothing is trained on them
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

    def views(self, augment: str) -> Views | None:
        """The views of the training images that the setting `augment` names; None for "none"."""
        if augment == "none":
            return None
        if not self.train.present.all():
            message = f"augment={augment!r} needs images without missing pixels"
            raise ParameterError("not_supported", message, name="augment", value=augment)
        return VIEWS[augment](self.grid)

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

    def losses(self, predictions: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(n,) losses of predictions (n, outputs): in nats, or squared in standard deviations of the target."""
        if self.task == "regression":
            return ((predictions[:, 0] - y) / self.target_scale[1]) ** 2
        chance = predictions[np.arange(len(y)), y].astype(np.float64)
        return -np.log(np.maximum(chance, np.finfo(np.float32).tiny))

    @cached_property
    def prior_outputs(self) -> Tensor:
        """(outputs,) what to predict before anything is known, as the loss takes it: log frequencies, or 0."""
        if self.task == "regression":
            return torch.zeros(1)
        counts = np.bincount(self.y_train, minlength=self.n_classes)
        counts = np.maximum(counts, 0.5)  # a fold may lack a class
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


# Prices: by how much a gain counts, given what the question costs

FREE = 0.1  # what is free counts as this share of the lowest price, so that a ratio to it is a number
TEMPER = 0.5  # a full ratio buys many cheap answers, whose small gains are mostly noise
PROBES = 64  # states


def rates(problem: Problem, prices: np.ndarray) -> np.ndarray:
    """What to multiply gains with, more for a cheaper question, from the prices (..., features)."""
    paid = problem.first_prices[problem.first_prices > 0]
    floor = FREE * float(paid.min()) if len(paid) else 1.0
    found: np.ndarray = (problem.mean_price / np.maximum(prices, floor)) ** TEMPER
    return found


def static_rates(problem: Problem, asked: list[int]) -> np.ndarray:
    """(features,) the rates once some features were asked, whatever the answers."""
    if not problem.priced:
        return np.ones(len(problem.schema))
    mask = np.zeros((1, len(problem.schema)), dtype=bool)
    mask[0, asked] = True
    x = np.zeros((1, problem.schema.n_columns), dtype=np.float32)
    return rates(problem, np.asarray(problem.costs.prices(State(x, mask, np.zeros_like(mask))))[0])


def some_prices(problem: Problem) -> np.ndarray:
    """(PROBES, features) what questions cost in some random states: enough to tell two cost models apart."""
    rng = np.random.default_rng(0)
    cases = problem.train[np.arange(PROBES) % len(problem.train)]
    asked = rng.random(cases.present.shape) < rng.random((PROBES, 1))
    return np.asarray(problem.costs.prices(State.of(cases, problem.schema.column_feature, asked)))


def gain_per_price(gain: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Gains times rates; a loss stays what it is, so that no low price flatters it and no high one hides it."""
    return np.where(gain > 0, gain * rates, gain)


# Validation as in use: real roll-outs of the models, without noise, dropout or relaxation

MONEY = (0.125, 0.25, 0.5, 1.0)  # budgets, as shares of what the questions cost on average


def validation_rollout(policy: Policy, predictor: Predictor, problem: Problem, *rules: StoppingRule) -> Trajectory:
    """The validation rows, or a sample of many, asked up to the budget."""
    cases, _ = problem.validation_sample
    return asked(policy, predictor, cases, problem, *rules)


def asked(policy: Policy, predictor: Predictor, cases: Cases, problem: Problem, *rules: StoppingRule) -> Trajectory:
    """The cases, asked up to the budget under the conditions of the problem."""
    stopping = (*rules, MaxFeatures(problem.max_features))
    size = cases_at_once(problem.schema)
    runs = (cases[start : start + size] for start in range(0, len(cases), size))
    parts = [
        rollout(
            policy,
            predictor,
            run,
            problem.schema,
            stopping=stopping,
            costs=problem.costs,
            missing=problem.missing,
            precedence=problem.precedence,
            allow_truth=True,  # training knows it anyway
        )
        for run in runs
    ]
    return Trajectory.join(parts)


def row_losses(policy: Policy, predictor: Predictor, problem: Problem) -> np.ndarray:
    """(n, budgets) the loss of each validation row.

    The budgets are numbers of answers from 1 on, or, where questions have prices, little and more money.
    """
    if not problem.priced:
        predictions = validation_rollout(policy, predictor, problem).predictions
        answered = predictions.shape[1] > 1  # else all rows lack all values, and the first prediction stays
        predictions = predictions[:, 1:] if answered else predictions
    else:
        total = problem.mean_price * problem.max_features
        ends = [validation_rollout(policy, predictor, problem, MaxCost(share * total)) for share in MONEY]
        predictions = np.stack([end.predictions[:, -1] for end in ends], axis=1)
    _, y = problem.validation_sample
    budgets = np.moveaxis(predictions, 1, 0)
    return np.stack([problem.losses(at, y) for at in budgets], axis=1)
