"""The base of rankings by the importance of features to one network."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from askless.acquisition import Cases, Schema
from askless.methods.base import Fitted
from askless.methods.static import RankingMethod, Scores
from askless.models import NetPredictor
from askless.models.network import softmax
from askless.networks import MaskedMLP
from askless.training import Checkpoint, Problem, Progress, fit_threads, full_sets, train_predictor


@dataclass(eq=False, repr=False, kw_only=True)
class ImportanceMethod(RankingMethod):
    """Trains one network on all features and ranks them by importance to it; a subclass writes `_importance`."""

    importance_work: ClassVar[float] = 0.3  # expected time of `_importance`, in trainings of one predictor

    def _order_work(self, problem: Problem) -> float:
        return 1.0 + self.importance_work

    @abstractmethod
    def _importance(self, module: MaskedMLP, problem: Problem, seed: int, progress: Progress) -> np.ndarray:
        """(features,) how much each matters to the trained network."""

    def _check(self, problem: Problem) -> None:
        """Refuse, before anything is trained, what the problem or the installed packages do not allow."""

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        self._check(problem)
        return super()._fit(problem, seed, progress, checkpoint)

    def _scores(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Scores:
        training, importance = progress.parts([1.0, self.importance_work])
        # Always dense layers, whatever the later predictor is: importances are computed from them.
        dense = replace(self.net, network="mlp")
        module, history = train_predictor(
            problem, full_sets, dense, seed=seed, progress=training, checkpoint=checkpoint, name="all features"
        )
        assert isinstance(module, MaskedMLP)
        with fit_threads(problem.n_threads):
            return self._importance(module, problem, seed, importance), history


@dataclass(frozen=True)
class Additive:
    """A predictor as a function of its first layer's sums, to which every feature adds a part of its own.

    Exchanging the value of one feature then exchanges its part, and the others are not multiplied again.
    """

    predictor: NetPredictor
    schema: Schema

    @property
    def bias(self) -> np.ndarray:
        """(hidden,) the sums without any feature."""
        return self.predictor.dense.biases[0]

    def part(self, cases: Cases, feature: int, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """(n, hidden) what a feature adds for each of some cases: its columns, and that it is present."""
        network, described = self.predictor.dense, self.schema.features[feature]
        columns = slice(described.start, described.stop)
        present = cases.present[:, feature, None][rows].astype(cases.x.dtype)
        part: np.ndarray = (cases.x[:, columns][rows] * present) @ network.value_weight[columns]
        part += present * network.mask_weight[feature]
        return part

    def parts(self, cases: Cases, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """(features, n, hidden) what each feature adds for each of some cases."""
        return np.stack([self.part(cases, feature, rows) for feature in range(len(self.schema))])

    def sums(self, cases: Cases) -> np.ndarray:
        """(n, hidden) the bias and all parts together."""
        shown = cases.present[:, self.schema.column_feature]
        return self.predictor.dense.first_sums(np.where(shown, cases.x, 0), cases.present)

    def predictions(self, sums: np.ndarray) -> np.ndarray:
        """(n, classes) probabilities, or (n, 1) means in the target's units, from the sums (n, hidden)."""
        outputs = self.predictor.dense.from_sums(sums)
        if self.predictor.classes:
            predictions: np.ndarray = softmax(outputs)
        else:
            predictions = outputs.astype(np.float64) * self.predictor.scale + self.predictor.offset
        return predictions
