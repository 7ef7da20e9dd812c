"""Compare several methods on the same cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.acquisition import Schema, Trajectory
from askless.datasets import Dataset
from askless.metrics import Metric, checked

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Case", "Comparison", "Contender", "Headline", "ahead", "headline", "lead", "needed", "ranking"]

RESAMPLES = 400


@dataclass(frozen=True)
class Contender:
    """One method on the test rows."""

    name: str
    about: str  # what it does, in a few words
    trajectory: Trajectory
    curve: pd.DataFrame  # of `askless.metrics.curve`, with an interval
    seconds: float  # training time


@dataclass(frozen=True)
class Comparison:
    """Several methods on the same cases. The report is about the first; the second is its control."""

    data: Dataset
    metric: Metric
    contenders: tuple[Contender, ...]
    truth: np.ndarray  # (n,) targets of the test rows: codes of classes, or numbers
    order: tuple[str, ...]  # the fixed order
    schema: Schema
    n_train: int
    n_test: int
    budget: int
    seed: int
    seconds: float

    @cached_property
    def headline(self) -> Headline:
        """The main result."""
        return headline(self)

    @cached_property
    def resampled(self) -> tuple[np.ndarray, np.ndarray]:
        """(budgets, 1 + RESAMPLES) scores of the first method and of its control; higher is better.

        The first column is the score. The other columns are scores of bootstrap samples of the cases; the samples are
        the same for both methods and for all budgets.
        """
        n, metric = len(self.truth), self.metric
        drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
        weights = np.vstack([np.ones((1, n)), drawn])
        sign = 1.0 if metric.greater_is_better else -1.0

        def scores(contender: Contender) -> np.ndarray:
            pairs = (checked(metric.task, self.truth, contender.trajectory.at(k)) for k in contender.curve["budget"])
            return sign * np.array([metric.weighted(*pair, weights) for pair in pairs])

        ours, theirs = self.contenders[:2]
        return scores(ours), scores(theirs)

    @property
    def curves(self) -> dict[str, pd.DataFrame]:
        """The curves by method."""
        return {contender.name: contender.curve for contender in self.contenders}


@dataclass(frozen=True)
class Case:
    """One test case and what the first method asked."""

    row: int  # its row in the trajectory
    answers: tuple[Any, ...]  # in the order asked; those of groups are mappings
    shown: tuple[str, ...]  # the answers as text
    truth: str
    choice: str  # how the case was chosen

    def values(self, trajectory: Trajectory) -> Mapping[str, Any]:
        """The answers by feature."""
        return dict(zip(trajectory.names(self.row), self.answers, strict=True))


def ranking(trajectory: Trajectory) -> list[str]:
    """The features by how often they were asked; ties by how early. Features that were never asked come last."""
    rows, steps = np.nonzero(trajectory.order >= 0)
    features = trajectory.order[rows, steps]
    asked = np.bincount(features, minlength=len(trajectory.feature_names))
    place = np.bincount(features, weights=steps, minlength=len(asked)) / np.maximum(asked, 1)
    return [trajectory.feature_names[i] for i in np.lexsort((place, -asked))]


def needed(curve: pd.DataFrame, control: pd.DataFrame, metric: Metric) -> list[int | None]:
    """For each row of the curve, the fewest questions with which the control scores at least as well, or None.

    >>> import pandas as pd
    >>> from askless.metrics import auroc
    >>> greedy = pd.DataFrame({"budget": [0, 1, 2], "score": [0.5, 0.8, 0.9]})
    >>> control = pd.DataFrame({"budget": [0, 1, 2], "score": [0.5, 0.7, 0.8]})
    >>> needed(greedy, control, auroc)
    [0, 2, None]
    """
    sign = 1.0 if metric.greater_is_better else -1.0
    theirs = sign * control["score"].to_numpy()
    enough = [np.flatnonzero(theirs >= sign * score) for score in curve["score"]]
    return [int(control["budget"].iloc[rows[0]]) if len(rows) else None for rows in enough]


@dataclass(frozen=True)
class Headline:
    """The largest saving of questions that is statistically significant."""

    significant: bool  # whether the first method is better than its control with any number of questions
    asked: int
    score: float
    beaten: int  # the first method is significantly better than the control with up to this many questions
    reached: bool  # whether the control scores as well with one more question
    cost: float  # mean cost of `asked` questions
    control_cost: (
        float  # mean cost of the control, with `needed` or, if it never reaches the score, `beaten` questions
    )

    @property
    def needed(self) -> int:
        """The number of questions that the control needs at least for the same score."""
        return self.beaten + 1

    @property
    def saved(self) -> int:
        """The number of questions saved, at least."""
        return self.needed - self.asked


def headline(comparison: Comparison) -> Headline:
    """The largest saving in questions. Ties prefer a score that the control reaches, and then the best score.

    k questions are compared with k questions of the control, and with each larger number up to the claimed one. A
    comparison counts if its 95 % interval is above 0.
    """
    ours, theirs = comparison.contenders[:2]
    fewest = needed(ours.curve, theirs.curve, comparison.metric)
    beaten = [_beaten(comparison, asked) for asked in range(len(fewest))]
    leading = [asked for asked in range(1, len(beaten)) if beaten[asked] >= asked]

    def rank(asked: int) -> tuple[int, bool, int]:
        return beaten[asked] - asked, fewest[asked] == beaten[asked] + 1, asked

    asked = max(leading, key=rank) if leading else len(fewest) - 1
    reached = fewest[asked] == beaten[asked] + 1
    return Headline(
        significant=bool(leading),
        asked=asked,
        score=float(ours.curve["score"].iloc[asked]),
        beaten=beaten[asked],
        reached=reached,
        cost=float(ours.trajectory.cost[:, asked].mean()),
        control_cost=float(theirs.trajectory.cost[:, beaten[asked] + reached].mean()),
    )


def _beaten(comparison: Comparison, asked: int) -> int:
    """The first method with `asked` questions is better than the control with `asked` up to this many questions."""
    most = len(comparison.contenders[1].curve) - 1
    level = (k for k in range(asked, most + 1) if not ahead(comparison, asked, k)[1] > 0.0)
    return next(level, most + 1) - 1


def ahead(comparison: Comparison, asked: int, control: int) -> tuple[float, float, float]:
    """The lead of the first method with `asked` questions over its control with `control`: score, low, high.

    The 95 % interval is a paired bootstrap over cases. It is much narrower than the intervals of the two scores.
    """
    ours, theirs = comparison.resampled
    gain = ours[asked] - theirs[min(control, len(theirs) - 1)]  # a case that has stopped keeps its last prediction
    low, high = np.nanquantile(gain[1:], (0.025, 0.975))
    return float(gain[0]), float(low), float(high)


def lead(comparison: Comparison) -> pd.DataFrame:
    """The lead of the first method over its control after each number of questions: score, low, high."""
    import pandas as pd

    rows = [(k, *ahead(comparison, k, k)) for k in comparison.contenders[0].curve["budget"]]
    return pd.DataFrame(rows, columns=["budget", "score", "low", "high"])
