"""What a report is made of: several ways to ask the same cases, and how they compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.core import Schema, Trajectory
from askless.datasets import Dataset
from askless.metrics import Metric

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Case", "Comparison", "Contender", "Headline", "headline", "needed", "ranking"]


@dataclass(frozen=True)
class Contender:
    """One way to ask, on the test rows."""

    name: str
    about: str  # how it asks, in a few words
    trajectory: Trajectory
    curve: pd.DataFrame  # as `askless.metrics.curve` makes it, with an interval
    seconds: float  # of training


@dataclass(frozen=True)
class Comparison:
    """Several ways to ask the same cases; the first is the one that the report is about, the second its control."""

    data: Dataset
    metric: Metric
    contenders: tuple[Contender, ...]
    order: tuple[str, ...]  # of the fixed one
    schema: Schema
    n_train: int
    n_test: int
    budget: int
    seed: int
    seconds: float

    @property
    def curves(self) -> dict[str, pd.DataFrame]:
        """The curves by name."""
        return {contender.name: contender.curve for contender in self.contenders}


@dataclass(frozen=True)
class Case:
    """One test case, asked by the first contender."""

    row: int  # of the trajectory
    answers: tuple[Any, ...]  # in the order asked; a group's is a mapping
    truth: Any
    choice: str  # how it was chosen

    def values(self, trajectory: Trajectory) -> Mapping[str, Any]:
        """The answers by feature."""
        return dict(zip(trajectory.names(self.row), self.answers, strict=True))


def ranking(trajectory: Trajectory) -> list[str]:
    """The features by how often they were asked, of equals first what was asked sooner; never asked ones last."""
    rows, steps = np.nonzero(trajectory.order >= 0)
    features = trajectory.order[rows, steps]
    asked = np.bincount(features, minlength=len(trajectory.feature_names))
    place = np.bincount(features, weights=steps, minlength=len(asked)) / np.maximum(asked, 1)
    return [trajectory.feature_names[i] for i in np.lexsort((place, -asked))]


def needed(curve: pd.DataFrame, control: pd.DataFrame, metric: Metric) -> list[int | None]:
    """For each row of the curve, the fewest questions with which the control scores as well; None: not with any.

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
    """The largest saving of questions: the fewest with which the control scores as well, if any number does."""

    asked: int
    score: float
    control: int | None  # None: the control does not get there within the budget
    cost: float  # the mean, after so many questions
    control_cost: float

    @property
    def saved(self) -> int:
        """How many questions fewer."""
        return 0 if self.control is None else self.control - self.asked


def headline(comparison: Comparison) -> Headline:
    """The largest saving in questions, of equals that with the best score.

    Where the control never scores as well as the first contender does with one question, that is the saving.
    """
    ours, theirs = comparison.contenders[:2]
    fewest = needed(ours.curve, theirs.curve, comparison.metric)
    reached = [(control - asked, asked) for asked, control in enumerate(fewest) if control is not None and asked]
    asked = max(reached)[1] if reached else 1
    control = fewest[asked] if len(fewest) > asked else None
    last = theirs.trajectory.order.shape[1]
    return Headline(
        asked=asked,
        score=float(ours.curve["score"].iloc[asked]),
        control=control,
        cost=float(ours.trajectory.cost[:, asked].mean()),
        control_cost=float(theirs.trajectory.cost[:, last if control is None else control].mean()),
    )
