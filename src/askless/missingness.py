"""Checks whether the pattern of missing values predicts the label: a policy must not learn who was tested."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from askless.acquisition import Cases
from askless.encoding import Encoder
from askless.exceptions import MissingnessWarning

__all__ = ["missingness_score", "warn_of_telling_gaps"]

ROWS = 50_000  # at most, of those that it learns from and of those that it is scored on
RARE = 0.01  # a feature that is missing, or present, in a smaller share of the rows is left out
FEWEST = 20  # validation rows of a class, and of the others
AUROC, R2 = 0.6, 0.05  # from here on it matters,
SURE = 4.0  # if chance is so many standard errors away
RIDGE = 1.0  # rows
SHOWN, SHARE = 3, 0.5  # features are named, if they are at least so telling as the most telling one


def warn_of_telling_gaps(
    encoder: Encoder, train: Cases, y: np.ndarray, valid: Cases, y_valid: np.ndarray, classes: Sequence[Any]
) -> None:
    """Warn if missing values, in a model of the training rows, predict the labels (codes, or numbers) of others."""
    rows, held = _some(len(y)), _some(len(y_valid))
    (names, present), y = _presence(encoder, train, rows), y[rows]
    score = missingness_score(present, y, _presence(encoder, valid, held)[1], y_valid[held], len(classes))
    if score is None:
        return
    gaps, telling = ~present, _contrasts(~present, y, len(classes))
    strength = np.abs(telling).max(axis=0)
    worst = [i for i in np.argsort(-strength, kind="stable")[:SHOWN] if strength[i] >= SHARE * strength.max()]
    told = "; ".join(_said(names[i], gaps[:, i], y, telling[:, i], classes) for i in worst)
    name = "AUROC" if classes else "R²"
    warnings.warn(
        MissingnessWarning(
            "informative_missingness",
            f"which values are missing predicts the label ({name} {score:.2f} on held-out rows); the model may learn "
            f"who was tested instead of what was found: {told}. If values will be missing for other reasons in use, "
            "drop or fill these columns",
            column=names[worst[0]],
            columns=[names[i] for i in worst],
            value=score,
        ),
        stacklevel=3,
    )


def missingness_score(
    present: np.ndarray, y: np.ndarray, present_valid: np.ndarray, y_valid: np.ndarray, n_classes: int
) -> float | None:
    """AUROC of the class that the gaps (n, features) tell best, or R² of a regression; None where it is near chance.

    A linear model of the gaps is fitted on the training rows and scored on the others.
    """
    share = present.mean(axis=0)
    some = (share >= RARE) & (share <= 1.0 - RARE)
    if not some.any():
        return None
    predicted = _linear(~present[:, some], _targets(y, n_classes), ~present_valid[:, some])
    truth = _targets(y_valid, n_classes)  # (n, outputs)
    if not n_classes:
        total = float(((truth - truth.mean()) ** 2).sum())
        r2 = 1.0 - float(((truth - predicted) ** 2).sum()) / total if total > 0 else 0.0
        return r2 if r2 > R2 and r2 * len(truth) > SURE**2 else None
    found = [_auroc(truth[:, j] > 0.5, predicted[:, j]) for j in range(n_classes)]
    telling = [area for area, error in found if area >= AUROC and area - 0.5 > SURE * error]
    return max(telling, default=None)


def _some(n: int) -> np.ndarray:
    """The rows that are looked at, in order."""
    if n <= ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, ROWS, replace=False, shuffle=False))


def _presence(encoder: Encoder, cases: Cases, rows: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The table's columns by name, and where these rows have values (n, columns): parts of groups one by one."""
    flags = encoder.part_flags
    alone = np.flatnonzero([not feature.is_group for feature in encoder.schema.features])
    names = [*(encoder.schema.names[i] for i in alone), *flags]
    parts = cases.x[np.ix_(rows, np.array([*flags.values()], dtype=np.intp))] > 0.0
    return names, np.hstack([cases.present[np.ix_(rows, alone)], parts])


def _targets(y: np.ndarray, n_classes: int) -> np.ndarray:
    """(n, classes) ones and zeros, or (n, 1) numbers."""
    return np.eye(n_classes)[y] if n_classes else y.astype(np.float64)[:, None]


def _linear(gaps: np.ndarray, targets: np.ndarray, gaps_valid: np.ndarray) -> np.ndarray:
    """(m, outputs) predictions of ridge regression."""
    centre, mean = gaps.mean(axis=0), targets.mean(axis=0)
    x = gaps - centre
    weight = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ (targets - mean))
    return np.asarray((gaps_valid - centre) @ weight + mean)


def _auroc(positive: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """The area under the ROC curve, and its standard error if there were nothing to it."""
    from scipy.stats import rankdata

    count, rest = int(positive.sum()), int((~positive).sum())
    if min(count, rest) < FEWEST:
        return 0.5, np.inf
    area = (rankdata(scores)[positive].sum() - count * (count + 1) / 2) / (count * rest)
    return float(area), float(np.sqrt((count + rest + 1) / (12.0 * count * rest)))


def _contrasts(gaps: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """(classes, features) by how much more often each is missing in a class than elsewhere.

    Of numbers, (1, features), it is the difference of the standardised means of rows with and without the value.
    """
    if not n_classes:
        z = (y - y.mean()) / (y.std() or 1.0)
        counts = gaps.sum(axis=0)
        with_gap, without = z @ gaps / np.maximum(counts, 1), z @ ~gaps / np.maximum(len(y) - counts, 1)
        return np.where((counts == 0) | (counts == len(y)), 0.0, with_gap - without)[None]
    member = np.eye(n_classes, dtype=np.float64)[y].T  # (classes, n)
    inside = member @ gaps / np.maximum(member.sum(axis=1, keepdims=True), 1.0)
    outside = (1 - member) @ gaps / np.maximum((1 - member).sum(axis=1, keepdims=True), 1.0)
    return np.asarray(inside - outside)


def _said(name: str, gap: np.ndarray, y: np.ndarray, telling: np.ndarray, classes: Sequence[Any]) -> str:
    if not classes:
        return f"{name!r}, without which the mean is {y[gap].mean():.4g}, with it {y[~gap].mean():.4g}"
    j = int(np.abs(telling).argmax())
    inside, outside = gap[y == j].mean(), gap[y != j].mean()
    return f"{name!r}, missing in {inside:.0%} of class {classes[j]!r} and {outside:.0%} of the others"
