"""The experiment of the demo: the greedy method, a fixed order and a random order on the same rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.cli.scores import INTERVAL, RESAMPLES, choose_metric
from askless.datasets import Dataset
from askless.exceptions import CheckpointError
from askless.metrics import Metric, curve
from askless.report import Comparison, Contender, ranking
from askless.tables import holdout

if TYPE_CHECKING:
    import pandas as pd

    from askless.estimators import DynamicClassifier, DynamicRegressor
    from askless.methods import Method

__all__ = ["TEST_SHARE", "Split", "compare", "split"]

TEST_SHARE = 0.25


@dataclass(frozen=True)
class Split:
    """A data set with its training and test rows."""

    data: Dataset
    train: np.ndarray  # row numbers
    test: np.ndarray

    def part(self, rows: np.ndarray) -> tuple[pd.DataFrame, pd.Series]:
        """The features and the target of some rows."""
        return self.data.frame.iloc[rows].reset_index(drop=True), self.data.target.iloc[rows].reset_index(drop=True)

    @property
    def truth(self) -> np.ndarray:
        """(n,) the target of the test rows: codes of the sorted classes, or numbers."""
        y = self.part(self.test)[1]
        return y.to_numpy() if self.data.task == "regression" else np.searchsorted(np.unique(self.data.target), y)


def split(data: Dataset, seed: int) -> Split:
    """Hold out a quarter of the rows as test rows, stratified by class."""
    stratify = data.task == "classification"
    y = data.target.to_numpy()
    codes = np.unique(y.astype(str), return_inverse=True)[1] if stratify else y
    return Split(data, *holdout(codes, TEST_SHARE, stratify, seed))


def compare(
    rows: Split, budget: int, seed: int, folder: Path, on_progress: Callable[[str], None]
) -> tuple[Comparison, DynamicClassifier | DynamicRegressor]:
    """Train the three methods and score them on the test rows; returns the greedy estimator, too.

    Interrupted fits continue from the checkpoints in `folder`. They are removed at the end.
    """
    from askless.methods import FixedOrder, Greedy, Random

    start = time.perf_counter()
    metric = choose_metric(None, rows.data.task)
    X_train = rows.part(rows.train)[0]
    checkpoints = [folder / f".{name}.part" for name in ("greedy", "fixed", "random")]

    def contender(name: str, about: str, method: Method, checkpoint: Path) -> tuple[Contender, Any]:
        on_progress(name)
        return _contender(name, about, _estimator(rows.data, method, budget, seed), rows, metric, checkpoint)

    greedy, estimator = contender(
        "greedy", "asks each case the most informative question, given its answers so far", Greedy(), checkpoints[0]
    )
    order = ranking(estimator.rollout(X_train))
    about = "asks everyone the same questions: those that greedy asks most often in the training rows, in that order"
    fixed, _ = contender("fixed order", about, FixedOrder(order=order), checkpoints[1])
    random, _ = contender("random order", "asks each case in a random order", Random(), checkpoints[2])
    for checkpoint in checkpoints:
        checkpoint.unlink(missing_ok=True)
    comparison = Comparison(
        data=rows.data,
        metric=metric,
        contenders=(greedy, fixed, random),
        truth=rows.truth,
        order=tuple(order),
        schema=estimator.schema_,
        n_train=len(rows.train),
        n_test=len(rows.test),
        budget=budget,
        seed=seed,
        seconds=time.perf_counter() - start,
    )
    return comparison, estimator


def _estimator(data: Dataset, method: Method, budget: int, seed: int) -> DynamicClassifier | DynamicRegressor:
    from askless.estimators import DynamicClassifier, DynamicRegressor

    kind = DynamicClassifier if data.task == "classification" else DynamicRegressor
    return kind(budget, method, data.groups or None, data.costs or None, random_state=seed)


def _contender(
    name: str,
    about: str,
    estimator: DynamicClassifier | DynamicRegressor,
    rows: Split,
    metric: Metric,
    checkpoint: Path,
) -> tuple[Contender, DynamicClassifier | DynamicRegressor]:
    start = time.perf_counter()
    _fit(estimator, *rows.part(rows.train), checkpoint)
    seconds = time.perf_counter() - start
    trajectory = estimator.rollout(rows.part(rows.test)[0])
    scores = curve(trajectory, rows.truth, metric, interval=INTERVAL, n_boot=RESAMPLES)
    return Contender(name, about, trajectory, scores, seconds), estimator


def _fit(estimator: Any, X: pd.DataFrame, y: pd.Series, checkpoint: Path) -> None:
    """Fit. A checkpoint of another demo is overwritten."""
    try:
        estimator.fit(X, y, checkpoint=checkpoint)
    except CheckpointError as error:
        if error.code not in ("damaged_file", "other_fit"):
            raise
        checkpoint.unlink()
        estimator.fit(X, y, checkpoint=checkpoint)
