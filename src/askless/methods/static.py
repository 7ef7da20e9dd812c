"""Methods that ask in an order which does not depend on the answers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch

from askless.acquisition import Policy
from askless.methods.base import Fitted, Kind, NetMethod
from askless.models import Ranking
from askless.training.calibration import calibrated
from askless.training.checkpoint import Checkpoint, finished
from askless.training.loop import diverged
from askless.training.predictor import exported_predictor, train_predictor, training_summary
from askless.training.problem import Problem
from askless.training.progress import Progress
from askless.training.subsets import Sampler, paid_sets, prefix_sets

Scores = tuple[np.ndarray, list[dict[str, Any]]]
"""(features,) how much each matters, and the history of finding out."""


class Order(NamedTuple):
    """An order that does not depend on the answers."""

    policy: Policy
    sampler: Sampler  # draws the sets of features that the policy leads to
    history: list[dict[str, Any]]  # of finding it


@dataclass(eq=False, repr=False, kw_only=True)
class StaticMethod(NetMethod):
    """Finds an order, then trains one predictor for all the sets that the order leads to."""

    kind: ClassVar[Kind] = "static"

    def work(self, problem: Problem) -> float:
        return 1.0 + self._order_work(problem)

    def _order_work(self, problem: Problem) -> float:
        """The expected time of finding the order, in trainings of one predictor."""
        return 0.0

    @abstractmethod
    def _order(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Order: ...

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        ordering, training = progress.parts([self._order_work(problem), 1.0])
        policy, sampler, history = self._order(problem, seed, ordering, checkpoint)
        if problem.priced:
            sampler = paid_sets(sampler, problem)
        module, trained = train_predictor(
            problem, sampler, self.net, seed=seed, progress=training, checkpoint=checkpoint
        )
        predictor = calibrated(exported_predictor(module, problem), policy, problem)
        return Fitted(policy, predictor, history + trained, training_summary(trained))


@dataclass(eq=False, repr=False, kw_only=True)
class RankingMethod(StaticMethod):
    """Ranks the features by scores; a new one writes `_scores`."""

    def _order_work(self, problem: Problem) -> float:
        return 1.0

    @abstractmethod
    def _scores(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Scores:
        """At most one training may be run with the checkpoint."""

    def _order(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Order:
        def rank() -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
            scores, history = self._scores(problem, seed, progress, checkpoint)
            if not np.isfinite(scores).all():
                raise diverged("ranking", None, "the scores of the features are not finite")
            return {"scores": torch.from_numpy(np.asarray(scores, dtype=np.float64))}, history

        result, history = finished(checkpoint, "ranking", rank)
        return ranked(result["scores"].numpy(), problem, history)


def ranked_by_leaving(path: np.ndarray, tie: int = 0) -> np.ndarray:
    """(features,) scores from a quantity (stages, features) that is above 0 until a feature leaves.

    The later a feature leaves, the higher. Of those that leave together the larger one wins, `tie` stages after the
    last one in which it stayed.
    """
    stages, features = path.shape
    stayed = np.where(path > 0.0, np.arange(1, stages + 1)[:, None], 0).max(axis=0)  # (features,)
    size = path[np.clip(stayed - 1 + tie, 0, stages - 1), np.arange(features)]
    scores = np.empty(features)
    scores[np.lexsort((size, stayed))] = np.arange(features)
    return scores


def ranked(scores: np.ndarray, problem: Problem, history: list[dict[str, Any]]) -> Order:
    """The order of falling scores (features,); of equal ones the first comes first."""
    order = np.argsort(-scores, kind="stable")
    place = np.empty(len(order))
    place[order] = np.arange(len(order))
    return Order(Ranking(-place), prefix_sets(torch.from_numpy(-place), problem.max_features), history)
