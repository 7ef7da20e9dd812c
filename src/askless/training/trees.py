"""Boosted trees that predict from the partial records of a policy: a small model for each number of known features.

A policy leads to few of the sets of each size, so one model for each size learns them better than one model for all
sets. The models are scikit-learn's HistGradientBoosting. They learn from the training rows as the policy sees them,
and what is not known is missing. The rows that were held out decide how many trees are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from askless.acquisition import Cases, Policy, Predictor, State
from askless.models import Forests
from askless.models.ensemble import with_gaps
from askless.training.problem import Problem, asked

FEWEST_ROWS = 40  # that a model learns from
FORESTS = 12  # at most: for large budgets one predicts for several numbers of known features
ITERATIONS, MOST_ITERATIONS = 40, 160  # grown at once, and in all
ENOUGH = 0.8  # share of the iterations: if the best number is below it, more would not help
LEARNING_RATE, BINS = 0.1, 128
ABSENT = 3.0  # a class without rows is so much less likely than the rarest, in logits


@dataclass(frozen=True)
class Asked:
    """Rows and what a policy asked of them."""

    cases: Cases
    y: np.ndarray  # (n,)
    order: np.ndarray  # (n, steps) features in the order they were asked; -1 after the end

    @classmethod
    def by(cls, policy: Policy, predictor: Predictor, cases: Cases, y: np.ndarray, problem: Problem) -> Asked:
        """What a policy asks of these rows."""
        return cls(cases, y, asked(policy, predictor, cases, problem).order)

    def at(self, known: int, column_feature: np.ndarray) -> tuple[np.ndarray, State]:
        """The rows (m,) of which so many features come to be known, and their state then."""
        answered = np.take_along_axis(self.cases.present, np.maximum(self.order, 0), axis=1) & (self.order >= 0)
        count = answered.cumsum(axis=1)  # (n, steps)
        rows = np.flatnonzero(count[:, -1] >= known) if self.order.shape[1] else np.arange(0)
        before = (count - answered)[rows] < known  # (m, steps) asked until so many are known
        before &= self.order[rows] >= 0
        asked = np.zeros((len(rows), self.cases.present.shape[1]), dtype=bool)
        row, step = np.nonzero(before)
        asked[row, self.order[rows[row], step]] = True
        return rows, State.of(self.cases[rows], column_feature, asked)


def fit_forests(
    splits: Sequence[tuple[Asked, Asked]], problem: Problem, columns: np.ndarray
) -> tuple[Forests, list[Forests]] | None:
    """The forests of splits (training rows, held-out rows): the mean of all splits' models, and those of each split.

    All have the number of iterations that is best on the held-out rows. `columns` are those that trees may look at.
    None if there are too few rows.
    """
    mean, each = _Nodes(problem.n_outputs), [_Nodes(problem.n_outputs) for _ in splits]
    most = problem.max_features
    numbers = np.geomspace(1, most, FORESTS).round() if most > FORESTS else np.arange(1, most + 1)
    for known in np.unique(numbers).astype(int).tolist():
        fitted = [_Model.of(train, known, problem, columns) for train, _ in splits]
        models = [model for model in fitted if model is not None]
        if len(models) < len(splits):
            break
        with threadpool_limits(problem.n_threads, user_api="openmp"):  # all threads of two fits would wait
            iterations = _best_iterations(models, [held for _, held in splits], known, problem)
        mean.add(models, iterations, known)
        for nodes, model in zip(each, models, strict=True):
            nodes.add([model], iterations, known)
    return (mean.forests(), [nodes.forests() for nodes in each]) if mean.baselines else None


@dataclass(frozen=True)
class _Model:
    """A HistGradientBoosting model, what it learns from, and what its outputs are."""

    trees: Any
    x: np.ndarray  # (n, columns) NaN where it is not known
    y: np.ndarray
    columns: np.ndarray  # (columns,) of the encoded table
    outputs: np.ndarray  # the output of each class that it knows

    @classmethod
    def of(cls, asked: Asked, known: int, problem: Problem, columns: np.ndarray) -> _Model | None:
        """A model for so many known features; None where there are too few rows, or rows of one class only."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        column_feature = problem.schema.column_feature
        rows, state = asked.at(known, column_feature)
        x, y = with_gaps(state, column_feature), asked.y[rows]
        if len(y) < FEWEST_ROWS or (problem.task == "classification" and len(np.unique(y)) < 2):
            return None
        columns = columns[~np.isnan(x[:, columns]).all(axis=0)]
        kind = HistGradientBoostingRegressor if problem.task == "regression" else HistGradientBoostingClassifier
        trees = kind(
            learning_rate=LEARNING_RATE,
            max_leaf_nodes=6 if len(y) < 3000 else 15 if len(y) < 8000 else 31,
            max_bins=BINS,
            early_stopping=False,
            random_state=0,
            warm_start=True,
        )
        outputs = np.unique(y) if problem.task == "classification" else np.zeros(1, dtype=np.int64)
        return cls(trees, x[:, columns], y, columns, outputs)

    def grow(self, iterations: int) -> None:
        """Add trees until there are so many iterations."""
        self.trees.set_params(max_iter=iterations).fit(self.x, self.y)

    def staged(self, x: np.ndarray, n_outputs: int) -> Iterator[np.ndarray]:
        """(n, outputs) predictions after each iteration."""
        if n_outputs == 1:
            yield from (mean[:, None] for mean in self.trees.staged_predict(x[:, self.columns]))
            return
        for chances in self.trees.staged_predict_proba(x[:, self.columns]):
            every = np.zeros((len(x), n_outputs))
            every[:, self.outputs] = chances
            yield every


def _best_iterations(models: Sequence[_Model], held: Sequence[Asked], known: int, problem: Problem) -> int:
    """The number of iterations with the lowest loss on all held-out rows; grows the models while more trees help."""
    for grown in range(ITERATIONS, MOST_ITERATIONS + 1, ITERATIONS):
        for model in models:
            model.grow(grown)
        losses = [_staged_losses(model, rows, known, problem) for model, rows in zip(models, held, strict=True)]
        best = int(np.argmin(np.sum(losses, axis=0))) + 1
        if best < ENOUGH * grown:
            break
    return best


def _staged_losses(model: _Model, held: Asked, known: int, problem: Problem) -> np.ndarray:
    """(iterations,) the summed loss on the held-out rows after each iteration."""
    rows, state = held.at(known, problem.schema.column_feature)
    x = with_gaps(state, problem.schema.column_feature)
    staged = model.staged(x, problem.n_outputs)
    return np.array([problem.losses(predictions, held.y[rows]).sum() for predictions in staged])


class _Nodes:
    """Collects the nodes of all trees in one table."""

    def __init__(self, n_outputs: int) -> None:
        self.n_outputs, self.n_nodes = n_outputs, 0
        self.nodes: dict[str, list[np.ndarray]] = {
            name: [] for name in ("column", "threshold", "children", "unknown_left", "value")
        }
        self.roots: list[int] = []
        self.outputs: list[int] = []
        self.starts = [0]
        self.known: list[int] = []
        self.baselines: list[np.ndarray] = []

    def add(self, models: Sequence[_Model], iterations: int, known: int) -> None:
        """A forest from so many known features on: the mean of the models, each cut after so many iterations."""
        baseline = np.zeros(self.n_outputs)
        for model in models:
            begin = model.trees._baseline_prediction.ravel()
            single = len(begin) < len(model.outputs)  # two classes: the trees add to the logit of the second one
            outputs = model.outputs[-1:] if single else model.outputs
            own = np.full(self.n_outputs, begin.min() - ABSENT)
            own[model.outputs] = 0.0
            own[outputs] = begin
            baseline += own / len(models)
            for trees in model.trees._predictors[:iterations]:
                for output, tree in zip(outputs, trees, strict=True):
                    self._add_tree(tree.nodes, int(output), model.columns, len(models))
        self.starts.append(len(self.roots))
        self.known.append(known)
        self.baselines.append(baseline)

    def _add_tree(self, nodes: np.ndarray, output: int, columns: np.ndarray, n_models: int) -> None:
        leaf = nodes["is_leaf"].astype(bool)
        own = self.n_nodes + np.arange(len(nodes))
        children = self.n_nodes + np.stack([nodes["left"], nodes["right"]], axis=1).astype(np.int64)
        self.nodes["column"].append(np.where(leaf, -1, columns[nodes["feature_idx"]]).astype(np.int32))
        self.nodes["threshold"].append(np.where(leaf, 0.0, nodes["num_threshold"]))
        self.nodes["children"].append(np.where(leaf[:, None], own[:, None], children).astype(np.int32))
        self.nodes["unknown_left"].append(nodes["missing_go_to_left"].astype(bool))
        self.nodes["value"].append((nodes["value"] / n_models).astype(np.float32))
        self.roots.append(self.n_nodes)
        self.outputs.append(output)
        self.n_nodes += len(nodes)

    def forests(self) -> Forests:
        """All that was added."""
        return Forests(
            **{name: np.concatenate(parts) for name, parts in self.nodes.items()},
            root=np.array(self.roots, dtype=np.int32),
            output=np.array(self.outputs, dtype=np.int32),
            starts=np.array(self.starts, dtype=np.int32),
            known=np.array(self.known, dtype=np.int32),
            baseline=np.stack(self.baselines),
        )
