"""Permutation tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless import metrics
from askless.exceptions import ParameterError
from askless.methods.importance import Additive, ImportanceMethod
from askless.methods.settings import NETWORK, Number, Text
from askless.networks import MaskedMLP
from askless.training import Problem, Progress, exported_predictor

RUN = 4096  # validation rows that are predicted at once


@dataclass(eq=False, repr=False, kw_only=True)
class Permutation(ImportanceMethod):
    """Ranks features by how much worse a network gets when a feature's values are exchanged at random.

    The test of Breiman, "Random Forests" (2001), with a network trained on all features. It measures the drop of a
    score on the validation rows when a feature's values are replaced by those of random training rows. Choose it for
    a quick look at what one model relies on. Features that say the same may each seem worthless, because the other
    one stands in.

    Parameters
    ----------
    metric : the score that drops, one of `askless.metrics` for the task; None: AUROC for a classification (log loss
        where the validation rows are of one class), RMSE for a regression.
    repeats : how often each feature is exchanged; the drops are averaged.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the networks, as for `Greedy`.
    """

    limits = NETWORK | {"metric": Text(), "repeats": Number(1, whole=True)}

    metric: str | None = None
    repeats: int = 10

    def _check(self, problem: Problem) -> None:
        guess = np.full((len(problem.y_valid), problem.n_outputs), 1.0 / problem.n_outputs)
        self._metric(problem)(problem.y_valid, guess)  # refuses what it is undefined for

    def _metric(self, problem: Problem) -> metrics.Metric:
        if self.metric is None:
            if problem.task == "regression":
                return metrics.rmse
            return metrics.auroc if len(np.unique(problem.y_valid)) > 1 else metrics.log_loss
        chosen = metrics.metric(self.metric)
        if chosen.task != problem.task:
            raise ParameterError(
                "invalid_choice",
                f"metric is {self.metric!r}, which is for a {chosen.task}; this is a {problem.task}",
                name="metric",
                value=self.metric,
                expected=problem.task,
            )
        return chosen

    def _importance(self, module: MaskedMLP, problem: Problem, seed: int, progress: Progress) -> np.ndarray:
        model = Additive(exported_predictor(module, problem), problem.schema)
        return metric_drops(model, problem, self._metric(problem), self.repeats, seed, progress)


def metric_drops(
    model: Additive, problem: Problem, metric: metrics.Metric, repeats: int, seed: int, progress: Progress
) -> np.ndarray:
    """(features,) how much worse the metric is on the validation rows with each feature exchanged, on average."""
    rng = np.random.default_rng(seed)
    train, valid, y = problem.train, problem.valid, problem.y_valid
    runs = [slice(start, start + RUN) for start in range(0, len(valid), RUN)]
    sums = model.sums(valid)  # (n, hidden)

    def score(feature: int, donors: np.ndarray) -> float:
        """The metric when the training rows `donors` (n,) give the feature's values."""
        parts = ((run, model.part(valid, feature, run), model.part(train, feature, donors[run])) for run in runs)
        return metric(y, np.concatenate([model.predictions(sums[run] - own + given) for run, own, given in parts]))

    before = metric(y, np.concatenate([model.predictions(sums[run]) for run in runs]))
    drops = np.zeros(len(problem.schema))
    progress.start(len(drops))
    for feature in range(len(drops)):
        after = [score(feature, rng.integers(len(train), size=len(valid))) for _ in range(repeats)]
        drops[feature] = before - np.mean(after)
        progress.epoch(feature + 1, "permutation", {"epoch": feature + 1})
    return drops if metric.greater_is_better else -drops
