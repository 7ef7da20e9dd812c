"""What a report is made of: several ways to ask the same cases, and how they compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.core import Schema, Trajectory
from askless.datasets import Dataset
from askless.metrics import Metric
from askless.metrics.scores import checked

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Case", "Comparison", "Contender", "Headline", "headline", "lead", "needed", "ranking"]


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
    truth: np.ndarray  # (n,) of the test rows: codes of classes, or numbers
    order: tuple[str, ...]  # of the fixed one
    schema: Schema
    n_train: int
    n_test: int
    budget: int
    seed: int
    seconds: float

    @cached_property
    def headline(self) -> Headline:
        """What was found."""
        return headline(self)

    @property
    def curves(self) -> dict[str, pd.DataFrame]:
        """The curves by name."""
        return {contender.name: contender.curve for contender in self.contenders}


@dataclass(frozen=True)
class Case:
    """One test case, asked by the first contender."""

    row: int  # of the trajectory
    answers: tuple[Any, ...]  # in the order asked; a group's is a mapping
    told: tuple[str, ...]  # the same in words
    truth: str
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

    beyond_chance: bool  # whether the two differ at all, after any number of questions
    asked: int
    score: float
    control: int | None  # None: the control does not get there within the budget
    saved: int  # questions; at least so many where the control does not get there
    cost: float  # the mean, after so many questions
    control_cost: float


def headline(comparison: Comparison) -> Headline:
    """The largest saving in questions; of equals one that the control gets to, and then that with the best score.

    Only those numbers of questions count after which the 95 % interval of the lead is above 0, if there are any.
    """
    ours, theirs = comparison.contenders[:2]
    fewest = needed(ours.curve, theirs.curve, comparison.metric)
    ahead = [int(i) for i in np.flatnonzero(lead(comparison)["low"] > 0.0)]
    last = theirs.trajectory.order.shape[1]
    saved = [(last + 1 if control is None else control) - asked for asked, control in enumerate(fewest)]
    asked = max(ahead or range(1, len(fewest)), key=lambda i: (saved[i], fewest[i] is not None, i))
    control = fewest[asked]
    return Headline(
        beyond_chance=bool(ahead),
        asked=asked,
        score=float(ours.curve["score"].iloc[asked]),
        control=control,
        saved=saved[asked],
        cost=float(ours.trajectory.cost[:, asked].mean()),
        control_cost=float(theirs.trajectory.cost[:, last if control is None else control].mean()),
    )


def lead(comparison: Comparison, n_boot: int = 400) -> pd.DataFrame:
    """How much better the first contender is than the second after each number of questions: score, low, high.

    The 95 % interval is of a bootstrap over cases that draws the same cases for both, so it is far narrower than the
    intervals of the two scores suggest.
    """
    import pandas as pd

    metric, truth = comparison.metric, comparison.truth
    sign = 1.0 if metric.greater_is_better else -1.0
    weights = np.random.default_rng(0).multinomial(len(truth), np.full(len(truth), 1 / len(truth)), size=n_boot)
    rows = []
    for k in comparison.contenders[0].curve["budget"]:
        pairs = [checked(metric.task, truth, contender.trajectory.at(k)) for contender in comparison.contenders[:2]]
        ours, theirs = (sign * metric.weighted(*pair, weights.astype(np.float64)) for pair in pairs)  # (n_boot,)
        point = sign * (metric(truth, pairs[0][1]) - metric(truth, pairs[1][1]))
        rows.append((k, point, *np.nanquantile(ours - theirs, (0.025, 0.975))))
    return pd.DataFrame(rows, columns=["budget", "score", "low", "high"])
