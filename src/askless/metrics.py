"""How good predictions are, and how good they are after each answer.

A metric is a function of the truth and the predictions. It says which `task` it is for, its `label` in a
figure, and whether `greater_is_better`. Classes are given as codes 0..K-1 and predicted as (n, K)
probabilities; of two classes the second one's alone, (n,) or (n, 1), will do. A regression predicts (n,) or
(n, 1).

Each formula is written once, for weighted cases, so that a bootstrap over cases is the same formula with many
rows of weights. To add a metric, write its weighted formula here, and its name into `METRICS` and `__all__`.

>>> accuracy([0, 1, 1], [0.2, 0.9, 0.6]), accuracy.label, accuracy.task
(1.0, 'accuracy', 'classification')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import signature
from operator import index
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from askless.acquisition.trajectory import Trajectory
from askless.exceptions import ParameterError, TableError, bad_value, unknown_name
from askless.hints import listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Metric", "accuracy", "auroc", "brier", "curve", "log_loss", "mae", "metric", "r2", "rmse", "usual_metric"]

Weighted = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

BLOCK = 4_000_000  # how many weights of a bootstrap are held at once: resamples times cases


class Metric(Protocol):
    """A score of predictions, and what it says of itself."""

    __name__: str
    task: str  # "classification" or "regression"
    label: str  # on an axis
    greater_is_better: bool
    weighted: Weighted  # (n,), (n, outputs) and weights (B, n) give (B,), nan where undefined

    def __call__(self, y: ArrayLike, predictions: ArrayLike) -> float:
        """The score of all cases together."""
        ...


def _metric(task: str, label: str, *, greater_is_better: bool) -> Callable[[Weighted], Metric]:
    def decorate(weighted: Weighted) -> Metric:
        @wraps(weighted, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
        def score(y: ArrayLike, predictions: ArrayLike) -> float:
            truth, given = checked(task, y, predictions)
            value = float(weighted(truth, given, np.ones((1, len(truth))))[0])
            if np.isnan(value):
                message = f"{label} is undefined: all {len(truth)} values of y are the same"
                raise TableError("one_class", message, name=weighted.__name__, rows=len(truth))
            return value

        vars(score).update(task=task, label=label, greater_is_better=greater_is_better, weighted=weighted)
        vars(score)["__signature__"] = signature(score, follow_wrapped=False)  # without the weights
        return cast(Metric, score)

    return decorate


def checked(task: str, y: ArrayLike, predictions: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(n,) and (n, outputs), or an error that says what does not fit."""
    truth, given = np.asarray(y), np.asarray(predictions)
    given = given[:, None] if given.ndim == 1 else given
    if truth.ndim != 1 or given.ndim != 2 or len(truth) != len(given) or not given.size:
        message = f"y of shape {truth.shape} and predictions of shape {given.shape} do not fit together"
        raise TableError("wrong_shape", message, name="predictions", shape=given.shape, expected=truth.shape)
    given = given if given.dtype.kind == "f" else given.astype(np.float64)
    _refuse(~np.isfinite(given).all(axis=1), given, "the predictions are not finite", "predictions")
    if task == "regression":
        if given.shape[1] > 1:
            message = f"the predictions have {given.shape[1]} columns; those of a regression have one"
            raise ParameterError(
                "wrong_shape", message, name="predictions", shape=given.shape, expected=(len(given), 1)
            )
        truth = truth.astype(np.float64)
        _refuse(~np.isfinite(truth), truth, "y is not finite", "y")
        return truth, given.astype(np.float64)
    if given.shape[1] == 1:
        given = np.column_stack([1 - given, given])
    if truth.dtype.kind not in "iub":
        message = (
            f"y is of type {truth.dtype}; classes are given as integer codes from 0 on: each label's place in "
            "model.classes_, np.searchsorted(model.classes_, y)"
        )
        raise TableError("bad_label", message, name="y", value=str(truth.dtype))
    _refuse((truth < 0) | (truth >= given.shape[1]), truth, f"y is not one of the codes 0..{given.shape[1] - 1}", "y")
    return truth.astype(np.int64), given


def _refuse(wrong: np.ndarray, rows: np.ndarray, why: str, name: str) -> None:
    """Raise an error that shows the first wrong row, if there is one."""
    if wrong.any():
        row = int(np.argmax(wrong))
        value = rows[row].tolist()
        code = "bad_label" if name == "y" else "out_of_range"
        raise TableError(code, f"{why}: row {row} (0-based) has {value}", name=name, row=row, value=value)


def _mean(losses: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(B,), the weighted mean of (n,)."""
    return weights @ losses / weights.sum(axis=1)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """`part / whole`, nan where the whole is not above 0."""
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)


def _distributions(p: np.ndarray) -> np.ndarray:
    """`p` in float64, if its rows are probabilities: some formulas mean nothing for other scores."""
    wrong = (p < 0).any(axis=1) | (np.abs(p.sum(axis=1, dtype=np.float64) - 1) > 1e-3)
    _refuse(wrong, p, "the predictions are not probabilities that sum to 1", "predictions")
    return p.astype(np.float64)


def _area(positive: np.ndarray, score: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(B,), the share of (positive, negative) pairs that the score ranks rightly; a tie is half right."""
    rows = np.flatnonzero(~positive)
    rows = rows[np.argsort(score[rows], kind="stable")]
    below = np.zeros((len(rows) + 1, len(weights)))  # the weight of the negatives with the lowest 0, 1, 2, ... scores
    np.cumsum(weights.T[rows], axis=0, out=below[1:])
    fewer, more = (np.searchsorted(score[rows], score[positive], side) for side in ("left", "right"))
    wins, own = below[fewer] + below[more], weights.T[positive]  # (positives, B), wins twice
    return _ratio(np.einsum("ib,ib->b", wins, own) / 2, own.sum(axis=0) * below[-1])


@_metric("classification", "AUROC", greater_is_better=True)
def auroc(y: np.ndarray, p: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The area under the ROC curve; for more than two classes the mean of each class against the rest.

    A class that `y` lacks has no area and is left out of the mean; a `y` of one class raises `ValueError`.

    >>> auroc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])  # of four pairs three are right, one is a tie
    0.875
    """
    classes = [1] if p.shape[1] == 2 else np.unique(y).tolist()
    areas = np.stack([_area(y == c, p[:, c], weights) for c in classes])  # (classes, B)
    absent = np.isnan(areas)
    return _ratio(np.where(absent, 0.0, areas).sum(axis=0), (~absent).sum(axis=0))


@_metric("classification", "accuracy", greater_is_better=True)
def accuracy(y: np.ndarray, p: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The share of cases whose most probable class (of equals the first) is the true one.

    >>> accuracy([0, 1, 2, 2], [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.2, 0.5, 0.3], [0.0, 0.0, 1.0]])
    0.75
    """
    return _mean(np.argmax(p, axis=1) == y, weights)


@_metric("classification", "log loss", greater_is_better=False)
def log_loss(y: np.ndarray, p: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The mean of -log of the true class's probability, which is kept a machine epsilon away from 0 and 1.

    >>> round(log_loss([0, 1], [[0.5, 0.5], [0.75, 0.25]]), 4)  # (log 2 + log 4) / 2
    1.0397
    """
    tiny = float(np.finfo(p.dtype).eps)
    return _mean(-np.log(np.clip(_distributions(p)[np.arange(len(y)), y], tiny, 1 - tiny)), weights)


@_metric("classification", "Brier score", greater_is_better=False)
def brier(y: np.ndarray, p: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The mean squared error of the probabilities, summed over classes; of two classes that of the second.

    >>> brier([0, 1], [[0.5, 0.5], [0.75, 0.25]])  # (0.25 + 0.5625) / 2
    0.40625
    """
    errors = ((_distributions(p) - np.eye(p.shape[1])[y]) ** 2).sum(axis=1)
    return _mean(errors / 2 if p.shape[1] == 2 else errors, weights)


@_metric("regression", "R²", greater_is_better=True)
def r2(y: np.ndarray, mean: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The share of the variance of `y` that is explained; `ValueError` if `y` does not vary.

    >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    0.5
    """
    drawn = weights > 0
    varies = np.where(drawn, y, np.inf).min(axis=1) < np.where(drawn, y, -np.inf).max(axis=1)  # (B,)
    squares = (weights * (y - _mean(y, weights)[:, None]) ** 2).sum(axis=1)
    return 1 - _ratio(weights @ (y - mean[:, 0]) ** 2, np.where(varies, squares, 0.0))


@_metric("regression", "RMSE", greater_is_better=False)
def rmse(y: np.ndarray, mean: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The root of the mean squared error.

    >>> rmse([0.0, 0.0], [[1.0], [7.0]])
    5.0
    """
    return np.sqrt(_mean((y - mean[:, 0]) ** 2, weights))


@_metric("regression", "MAE", greater_is_better=False)
def mae(y: np.ndarray, mean: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The mean absolute error.

    >>> mae([0.0, 0.0], [[1.0], [-7.0]])
    4.0
    """
    return _mean(np.abs(y - mean[:, 0]), weights)


METRICS = {each.__name__: each for each in (accuracy, auroc, brier, log_loss, mae, r2, rmse)}


def metric(name: str) -> Metric:
    """The metric of that name; the error names the nearest match.

    >>> metric("log_loss").label, metric("log_loss").greater_is_better
    ('log loss', False)
    """
    if name not in METRICS:
        raise unknown_name("metric", name, METRICS)
    return METRICS[name]


def usual_metric(task: str) -> Metric:
    """The metric of a task where none is named.

    >>> usual_metric("classification").label, usual_metric("regression").label
    ('AUROC', 'R²')
    """
    return r2 if task == "regression" else auroc


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
        raise bad_value("wrong_type", "budgets", budgets, "a list of numbers of answers, such as range(6) or [5]")
    steps = [index(b) for b in (range(trajectory.order.shape[1] + 1) if budgets is None else budgets)]
    frame = pd.DataFrame({"budget": steps, "score": [of(y, trajectory.at(step)) for step in steps]})
    frame.attrs["label"] = of.label  # for the axis of a figure
    if interval is not None:
        if not 0 < interval < 1:
            raise bad_value("out_of_range", "interval", interval, "between 0 and 1")
        if n_boot < 1:
            raise bad_value("out_of_range", "n_boot", n_boot, "at least 1")
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
        message = f"unknown label {wrong!r} in y, row {row} (0-based); the classes are {listed(classes)}"
        raise TableError("unknown_label", message, name="y", label=wrong, row=row, choices=list(classes))
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
