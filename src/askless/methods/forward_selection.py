"""Sequential forward selection with boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from torch import Tensor

from askless.methods.columns import telling_columns
from askless.methods.settings import NETWORK, Number
from askless.methods.static import RankingMethod, Scores
from askless.training import (
    Checkpoint,
    Problem,
    Progress,
    diverged,
    finished,
    gain_per_price,
    some_rows,
    static_rates,
)

ROWS = 1 << 13  # of training, at most, that a model learns from
LEAVES, BINS, LEARNING_RATE = 4, 64, 0.2  # of the trees: small ones, for features one by one overfit soon
SMALLEST = 1e-7  # a probability below this counts as this
FIT_WORK = 5e-4  # expected time of one iteration of boosting, in trainings of one predictor


@dataclass(eq=False, repr=False, kw_only=True)
class ForwardSelection(RankingMethod):
    """Asks in the order in which features help a model most, each given those before it.

    Sequential forward selection, first described by Whitney, "A direct method of nonparametric measurement
    selection" (1971), as a wrapper in the sense of Kohavi and John, "Wrappers for feature subset selection" (1997).
    Each step adds every remaining feature to those chosen, trains boosted trees (scikit-learn's
    HistGradientBoosting), and keeps the feature with the lowest validation loss. It is the strongest static order
    here, and the fairest opponent of a dynamic policy; it costs features times budget trainings. Where features have
    prices, it keeps the one that lowers the loss most for its price.

    Parameters
    ----------
    iterations : of boosting, in each model.
    candidates : how many features are tried again after the first step, the best ones by their loss alone; None tries
        all of them in every step.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for `Greedy`.
    """

    limits = NETWORK | {"iterations": Number(1, whole=True), "candidates": Number(1, whole=True, or_none=True)}

    iterations: int = 30
    candidates: int | None = 64

    def _order_work(self, problem: Problem) -> float:
        trees = problem.n_classes if problem.n_classes > 2 else 1
        return FIT_WORK * trees * self.iterations * sum(self._fits(problem))

    def _fits(self, problem: Problem) -> list[int]:
        features = len(problem.schema)
        return [features, *(self._again(problem) - step for step in range(1, problem.max_features))]

    def _again(self, problem: Problem) -> int:
        features = len(problem.schema)
        return features if self.candidates is None else min(max(self.candidates, problem.max_features), features)

    def _scores(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Scores:
        features, steps = len(problem.schema), problem.max_features
        again, fits = self._again(problem), self._fits(problem)
        trees = _Trees(problem, self.iterations, seed)
        now = trees.loss_of_nothing() if problem.priced else 0.0
        chosen: list[int] = []
        candidates = list(range(features))
        place = np.empty(features)
        history: list[dict[str, Any]] = []
        progress.start(sum(fits))
        with threadpool_limits(1, user_api="openmp"):
            for step in range(steps):
                report = partial(_report, progress, sum(fits[:step]), step)
                attempt = partial(_step, trees, chosen, candidates, report)
                result, rows = finished(checkpoint, f"step {step + 1}", attempt)
                losses = result["losses"].numpy()
                if not np.isfinite(losses).all():
                    raise diverged("forward selection", step + 1, "a validation loss is not finite")
                gain = gain_per_price(now - losses, static_rates(problem, chosen)[candidates])
                order = np.argsort(-gain if problem.priced else losses, kind="stable")
                now, ranked = losses[order[0]], [candidates[j] for j in order]
                place[ranked] = step + np.arange(len(ranked))  # the next step writes over what it tries again
                history += rows
                chosen = [*chosen, ranked[0]]
                candidates = ranked[1:again] if step == 0 else ranked[1:]
        return -place, history


def _report(progress: Progress, before: int, step: int, done: int, best: float) -> None:
    progress.epoch(before + done, "forward selection", {"epoch": step + 1, "valid_loss": best})


def _step(
    trees: _Trees, chosen: Sequence[int], candidates: Sequence[int], report: Callable[[int, float], None]
) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """The losses (candidates,) with each candidate added to the chosen features, and a row of the history."""
    losses: list[float] = []
    for candidate in candidates:
        losses.append(trees.loss([*chosen, candidate]))
        report(len(losses), min(losses))
    row = {"phase": "forward selection", "epoch": len(chosen) + 1, "valid_loss": min(losses)}
    return {"losses": torch.tensor(losses, dtype=torch.float64)}, [row]


class _Trees:
    """Boosted trees on any set of features: how well do they predict?"""

    def __init__(self, problem: Problem, iterations: int, seed: int) -> None:
        self.problem = problem
        self.y = problem.y_train
        rows: Any = slice(None)
        if len(self.y) > ROWS:
            rows = some_rows(len(self.y), ROWS)
            if problem.task == "classification":  # of every class, be it ever so rare
                rows = np.union1d(rows, np.unique(self.y, return_index=True)[1])
        self.y = self.y[rows]
        x = problem.train.x[rows]
        starts, stops = problem.schema.starts, problem.schema.starts + problem.schema.widths
        self.columns = [
            start + np.array(telling_columns(x[:, start:stop])) for start, stop in zip(starts, stops, strict=True)
        ]
        self.x = self._with_gaps(x, problem.train.present[rows])
        cases, self.y_valid = problem.validation_sample
        self.x_valid = self._with_gaps(cases.x, cases.present)
        self.settings: dict[str, Any] = {
            "max_iter": iterations,
            "learning_rate": LEARNING_RATE,
            "max_leaf_nodes": LEAVES,
            "max_bins": BINS,
            "early_stopping": False,
            "random_state": seed % 2**32,  # as far as scikit-learn counts
        }

    def _with_gaps(self, x: np.ndarray, present: np.ndarray) -> np.ndarray:
        """The columns (n, columns) with NaN for what is missing: trees learn where that belongs."""
        return np.where(present[:, self.problem.schema.column_feature], x, np.float32(np.nan))

    def loss(self, features: Sequence[int]) -> float:
        """The mean validation loss of trees that know these features: in nats, or squared in standard deviations."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        columns = np.concatenate([self.columns[feature] for feature in features])
        if self.problem.task == "regression":
            model = HistGradientBoostingRegressor(**self.settings).fit(self.x[:, columns], self.y)
            off = model.predict(self.x_valid[:, columns]) - self.y_valid
            return float(np.mean((off / self.problem.target_scale[1]) ** 2))
        model = HistGradientBoostingClassifier(**self.settings).fit(self.x[:, columns], self.y)
        chance = model.predict_proba(self.x_valid[:, columns])[np.arange(len(self.y_valid)), self.y_valid]
        return float(-np.log(np.maximum(chance, SMALLEST)).mean())

    def loss_of_nothing(self) -> float:
        """The mean validation loss before anything is known."""
        if self.problem.task == "regression":
            mean, scale = self.problem.target_scale
            return float(np.mean(((self.y_valid - mean) / scale) ** 2))
        return float(-self.problem.prior_outputs.numpy()[self.y_valid].mean())
