"""Scores against budgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import index
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from askless.acquisition.trajectory import Trajectory
from askless.exceptions import ParameterError, TableError
from askless.hints import did_you_mean, listed, nearest
from askless.metrics import scores
from askless.metrics.scores import Metric, checked

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["curve", "metric", "usual_metric"]

BLOCK = 4_000_000  # how many weights of a bootstrap are held at once: resamples times cases


def metric(name: str) -> Metric:
    """The metric of that name; the error names the nearest match.

    >>> metric("log_loss").label, metric("log_loss").greater_is_better
    ('log loss', False)
    """
    if name not in scores.__all__:
        hint = did_you_mean(name, scores.__all__)
        raise ParameterError(
            "unknown_name",
            f"there is no metric {name!r}{hint}; there are {listed(scores.__all__)}",
            name=name,
            nearest=nearest(name, scores.__all__),
            choices=list(scores.__all__),
        )
    return cast(Metric, getattr(scores, name))


def usual_metric(task: str) -> Metric:
    """The metric of a task where none is named.

    >>> usual_metric("classification").label, usual_metric("regression").label
    ('AUROC', 'R²')
    """
    return scores.r2 if task == "regression" else scores.auroc


_by_name = metric  # `curve` calls its argument `metric` too


def curve(
    trajectory: Trajectory,
    y: ArrayLike,
    metric: str | Metric,
    budgets: Iterable[int] | None = None,
    *,
    interval: float | None = None,
    n_boot: int = 200,
    random_state: int | np.random.Generator | None = 0,
) -> pd.DataFrame:
    """The score after each number of answers, 0..k unless `budgets` says which: columns `budget` and `score`.

    `y` holds numbers, or classes: integer codes, or labels where they are text and the trajectory knows them. A case
    that stopped earlier counts with its last prediction. With an `interval`, say 0.95, the columns `low` and `high`
    are added, from the percentile bootstrap over cases. All budgets see the same resamples; those in which the metric
    is undefined (one class only) are left out.

    >>> ages = Trajectory(
    ...     order=np.array([[0], [0]]),
    ...     predictions=np.array([[[0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5], [0.2, 0.8]]]),
    ...     cost=np.array([[0.0, 1.0], [0.0, 1.0]]),
    ...     stop_reason=np.array(["asked 1 feature"] * 2),
    ...     feature_names=("age",),
    ... )
    >>> curve(ages, [0, 1], "auroc")
       budget  score
    0       0    0.5
    1       1    1.0
    """
    import pandas as pd

    of = _by_name(metric) if isinstance(metric, str) else metric
    y = _codes(y, trajectory.outputs) if of.task == "classification" else y
    if budgets is not None and not isinstance(budgets, Iterable):
        raise ParameterError(
            "wrong_type",
            f"budgets must be a list of numbers of answers, such as range(6) or [5], not {budgets!r}",
            name="budgets",
            value=budgets,
        )
    steps = [index(b) for b in (range(trajectory.order.shape[1] + 1) if budgets is None else budgets)]
    frame = pd.DataFrame({"budget": steps, "score": [of(y, trajectory.at(step)) for step in steps]})
    frame.attrs["label"] = of.label  # for the axis of a figure
    if interval is not None:
        if not 0 < interval < 1 or n_boot < 1:
            name, value = ("n_boot", n_boot) if 0 < interval < 1 else ("interval", interval)
            raise ParameterError(
                "out_of_range",
                f"interval={interval} must be between 0 and 1, and n_boot={n_boot} at least 1",
                name=name,
                value=value,
            )
        pairs = [checked(of.task, y, trajectory.at(step)) for step in steps]
        resamples = _resamples(len(trajectory), n_boot, np.random.default_rng(random_state))
        drawn = np.hstack([[of.weighted(*pair, weights) for pair in pairs] for weights in resamples])
        for name, tail in (("low", (1 - interval) / 2), ("high", (1 + interval) / 2)):
            frame[name] = [_quantile(row, tail) for row in drawn]  # (budgets, n_boot), row by row
    return frame


def _codes(y: ArrayLike, classes: tuple[Any, ...]) -> ArrayLike:
    """(n,) text labels by their place among text classes; anything else as it is, for a number may be a code."""
    labels, named = np.asarray(y), bool(classes) and all(isinstance(label, str) for label in classes)
    if not named or labels.ndim != 1 or labels.dtype.kind in "iub":
        return y
    place = {label: code for code, label in enumerate(classes)}
    codes = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        wrong = labels[row : row + 1].tolist()[0]
        raise TableError(
            "unknown_label",
            f"unknown label {wrong!r} in y, row {row} (0-based); the classes are {listed(classes)}",
            name="y",
            label=wrong,
            row=row,
            choices=list(classes),
        )
    return codes


def _resamples(n: int, n_boot: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """(B, n) at a time, how often each case is drawn in each of `n_boot` resamples of n cases."""
    size = max(1, BLOCK // n)
    for start in range(0, n_boot, size):
        rows = np.arange(min(size, n_boot - start))[:, None]
        drawn = rows * n + rng.integers(n, size=(len(rows), n))
        counts = np.bincount(drawn.ravel(), minlength=rows.size * n).reshape(-1, n)
        yield np.ascontiguousarray(counts.T, dtype=np.float64).T  # a case's weights lie together: AUROC sorts cases


def _quantile(sample: np.ndarray, tail: float) -> float:
    """The quantile of what is defined."""
    defined = sample[~np.isnan(sample)]
    return float(np.quantile(defined, tail)) if len(defined) else np.nan
