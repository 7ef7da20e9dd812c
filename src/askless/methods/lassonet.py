"""LassoNet: a network whose features leave one after another as a penalty grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from askless.methods.base import needed
from askless.methods.columns import telling_columns
from askless.methods.settings import NETWORK, Number
from askless.methods.static import RankingMethod, Scores, ranked_by_leaving
from askless.training import Checkpoint, Problem, Progress, fit_threads, seeded, some_rows

PATIENCE = 10  # epochs without improvement that end a stage
LAST_PENALTY = 30.0  # the path ends about here, in units of the one that its first penalty is a share of
MOST_STAGES, HIGHEST_PENALTY = 1000, 1e30  # the path has an end, whatever the settings


@dataclass(eq=False, repr=False, kw_only=True)
class Lassonet(RankingMethod):
    """Ranks features by the penalty at which they leave a network.

    The method of Lemhadri, Ruan, Abraham and Tibshirani, "LassoNet: A Neural Network with Feature Sparsity" (2021),
    through their package `lassonet`, which must be installed. A linear connection beside the network bounds what the
    network may use of each feature. A lasso penalty on it grows until every feature has left; the last to leave is
    asked first. Choose it where a mostly linear model fits.

    Parameters
    ----------
    units : hidden units of the network that ranks; it has one hidden layer.
    hierarchy : the paper's M, how much the network may use of a feature for each unit of its linear weight.
    first_penalty : where the path starts, as a share of a penalty at which only the strongest features are left.
    path_multiplier : by how much the penalty grows from stage to stage.
    dense_epochs : passes over the rows without a penalty, at most.
    stage_epochs : passes over the rows at each penalty, at most.
    path_learning_rate : of the stochastic gradient descent along the path.
    rows : how many training rows the path uses, at most.
    hidden, dropout, learning_rate, weight_decay, epochs : of the later predictor, as for `Greedy`.
    batch_size : of the path and of the later predictor.
    """

    limits = NETWORK | {
        "units": Number(1, whole=True),
        "hierarchy": Number(0, 1e6),
        "first_penalty": Number(1e-9, 1),
        "path_multiplier": Number(1.001, 10),
        "dense_epochs": Number(1, whole=True),
        "stage_epochs": Number(1, whole=True),
        "path_learning_rate": Number(1e-6, 1),
        "rows": Number(2, whole=True),
    }

    units: int = 64
    hierarchy: float = 10.0
    first_penalty: float = 0.01
    path_multiplier: float = 1.15
    dense_epochs: int = 100
    stage_epochs: int = 20
    path_learning_rate: float = 3e-3
    rows: int = 10_000

    def _order_work(self, problem: Problem) -> float:
        return 10.0

    def _scores(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Scores:
        library = needed("lassonet", "lassonet", "lassonet")
        (x, x_valid), (y, y_valid), groups = _tables(problem, self.rows)
        kind = library.LassoNetClassifier if problem.task == "classification" else library.LassoNetRegressor
        model = kind(
            hidden_dims=(self.units,),
            M=self.hierarchy,
            groups=groups if max(map(len, groups)) > 1 else None,  # the library's step is much faster without groups
            batch_size=self.batch_size,
            optim=(
                partial(torch.optim.Adam, lr=1e-3),
                partial(torch.optim.SGD, lr=self.path_learning_rate, momentum=0.9),
            ),
            n_iters=(self.dense_epochs, self.stage_epochs),
            patience=(PATIENCE, PATIENCE),
            device=torch.device("cpu"),
            verbose=0,
        )
        expected = math.ceil(math.log(LAST_PENALTY / self.first_penalty, self.path_multiplier)) + 1
        norms: list[np.ndarray] = []  # (features,) after each stage
        history: list[dict[str, Any]] = []

        def note(fitted: Any, path: Sequence[Any]) -> None:
            norms.append(_norms(fitted.model.skip.weight.detach().numpy(), groups))
            history.append(
                {
                    "phase": "lassonet",
                    "epoch": len(path),
                    "penalty": float(path[-1].lambda_),
                    "valid_loss": float(path[-1].val_loss),
                    "features": int((norms[-1] > 0.0).sum()),
                }
            )
            progress.epoch(min(len(path), expected), "lassonet", history[-1])

        start = self.first_penalty * (1.0 + self.hierarchy * self.units) * _null_gradient(x, y, groups, problem)
        progress.start(expected)
        with fit_threads(problem.n_threads), seeded(seed):
            model.path(
                x,
                y,
                X_val=x_valid,
                y_val=y_valid,
                lambda_seq=_path(start, self.path_multiplier),
                callback=note,
                disable_lambda_warning=True,
            )
        return ranked_by_leaving(np.array(norms)), history


def _path(start: float, multiplier: float) -> list[float]:
    """Growing penalties; the last of them leave nothing."""
    stages = min(MOST_STAGES, 1 + int(math.log(HIGHEST_PENALTY / start) / math.log(multiplier)))
    return [start * multiplier**stage for stage in range(stages)]


def _tables(problem: Problem, at_most: int) -> tuple[list[np.ndarray], list[np.ndarray], list[list[int]]]:
    """Inputs and targets of the training and the validation rows, and the columns of each feature.

    A number is encoded by two functions of itself, of which one is enough here. A feature that is missing in some
    rows has one more column, which says where it is present.
    """
    train = some_rows(len(problem.y_train), at_most)
    x, present = problem.train.x[train], problem.train.present[train]
    valid, y_valid = problem.validation_sample
    x_valid, present_valid = valid.x, valid.present
    gaps = np.flatnonzero(~(present.all(axis=0) & present_valid.all(axis=0)))
    groups: list[list[int]] = []
    columns: list[int] = []
    for feature in problem.schema.features:
        own = [feature.start + c for c in telling_columns(x[:, feature.start : feature.stop])]
        groups.append(list(range(len(columns), len(columns) + len(own))))
        columns += own
    inputs = [
        np.concatenate([x[:, columns], present[:, gaps]], axis=1, dtype=np.float32),
        np.concatenate([x_valid[:, columns], present_valid[:, gaps]], axis=1, dtype=np.float32),
    ]
    for column, gap in enumerate(gaps.tolist(), start=len(columns)):
        groups[gap].append(column)
    offset, scale = problem.target_scale
    targets = [problem.y_train[train], y_valid]
    if problem.task == "regression":
        return inputs, [((y - offset) / scale).astype(np.float32) for y in targets], groups
    return inputs, [y.astype(np.int64) for y in targets], groups


def _null_gradient(x: np.ndarray, y: np.ndarray, groups: list[list[int]], problem: Problem) -> float:
    """The penalty at which a linear model loses its last feature: the largest gradient of one's weights at 0."""
    target = np.eye(problem.n_classes)[y] if problem.task == "classification" else 2.0 * y[:, None]
    gradient = x.T.astype(np.float64) @ (target - target.mean(axis=0)) / len(y)  # (columns, outputs)
    return max(float(_norms(gradient.T, groups).max()), 1e-6)


def _norms(weight: np.ndarray, groups: list[list[int]]) -> np.ndarray:
    squares = np.square(weight, dtype=np.float64).sum(axis=0)
    return np.sqrt([squares[group].sum() for group in groups])
