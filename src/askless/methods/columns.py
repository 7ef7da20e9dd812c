"""Which encoded columns of a feature say something of their own, for methods that work column by column."""

from __future__ import annotations

import numpy as np

from askless.acquisition.schema import Feature
from askless.models import AnswerBook
from askless.training import Problem, some_rows

LOOKED_AT = 4096  # that are looked at
FINER = 1.01  # a column with more distinct values than this times those of another is finer


def telling_columns(x: np.ndarray) -> list[int]:
    """The columns of a feature (n, width) without those that rise and fall exactly with the one before.

    A number is encoded by two increasing functions of itself. To whatever splits a column at thresholds or cuts it
    into bins, one of them says as much as both.
    """
    x = x[:: -(-len(x) // LOOKED_AT)] if len(x) > LOOKED_AT else x  # spread over the table, whatever its order
    kept = [0]
    for j in range(1, x.shape[1]):
        if not _follows(x[:, kept[-1]], x[:, j]):
            kept.append(j)
    return kept


def _follows(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether the second column is an increasing function of the first, where either is not 0 (which is missing)."""
    there = (first != 0) | (second != 0)
    first, second = first[there], second[there]
    order = np.lexsort((second, first))
    steps = np.diff(second[order])
    distinct, levels = 1 + np.count_nonzero(np.diff(first[order])), 1 + np.count_nonzero(steps)
    # A constant may be a flag that says where there is a value, and is kept.
    return bool((steps >= 0).all() and 1 < levels <= FINER * distinct)


ROWS = 20_000  # of the training table, at most: enough for a distribution
GROUP = 4  # a group has up to so many times as many answers as a number
ROUNDS = 25  # of moving the answers to the middle of those that they stand for


def answer_book(problem: Problem, atoms: int) -> AnswerBook:
    """At most `atoms` answers to each feature, whose weights are the shares of the training rows near them."""
    rows = some_rows(len(problem.train), ROWS)
    x, present = problem.train.x[rows], problem.train.present[rows]
    book = []
    for i, feature in enumerate(problem.schema.features):
        given = x[present[:, i], feature.start : feature.stop]  # (answers, width)
        if not len(given):  # too rare to be among these rows: it will hardly ever be asked
            given = np.zeros((1, feature.stop - feature.start), x.dtype)
        book.append(representatives(given, feature, atoms))
    return AnswerBook.of(book)


def many_valued(problem: Problem, most: int) -> np.ndarray:
    """(features,) bool: numbers that have more than `most` different values."""
    rows = some_rows(len(problem.train), ROWS)
    x, present = problem.train.x[rows], problem.train.present[rows]
    features = enumerate(problem.schema.features)
    return np.array([f.kind == "number" and len(np.unique(x[present[:, i], f.start])) > most for i, f in features])


def answered(problem: Problem) -> np.ndarray:
    """(features,) the chance that a question brings an answer: 1 where nothing is asked that is missing."""
    features = len(problem.schema)
    return np.ones(features) if problem.missing == "skip" else np.asarray(problem.train.present.mean(axis=0))


def representatives(given: np.ndarray, feature: Feature, atoms: int) -> tuple[np.ndarray, np.ndarray]:
    """Some of the answers (n, width) to a feature, and the share of all that each stands for.

    Every distinct answer stands for itself where they are few, and always in a category. Else there are `atoms` of
    them, and more for a group, about where k-means puts its centres.
    """
    distinct, of, counts = np.unique(given, axis=0, return_inverse=True, return_counts=True)
    most = min(GROUP, len(feature.parts)) * atoms
    if len(distinct) > most and feature.kind != "category":
        of, counts = of.reshape(-1), counts.astype(np.float64)
        centres = _centres(distinct.astype(np.float64), counts, most)
        chosen = np.unique(nearest(centres, distinct))  # answers that occur, so that they are possible
        counts = np.bincount(nearest(distinct, distinct[chosen]), weights=counts, minlength=len(chosen))
        distinct = distinct[chosen]
    return distinct, (counts / counts.sum()).astype(given.dtype)


def nearest(rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n,) which of the points (m, width) is the nearest to each row (n, width); the first of equally near ones."""
    rows, points = rows.astype(np.float64), points.astype(np.float64)
    distance = (points * points).sum(axis=1) - 2.0 * rows @ points.T
    return distance.argmin(axis=1)


def _centres(rows: np.ndarray, counts: np.ndarray, k: int) -> np.ndarray:
    """(k or fewer, width) centres of distinct rows (n, width) that occur `counts` times: Lloyd's algorithm."""
    centres = rows[np.unique(np.linspace(0, len(rows) - 1, k).round().astype(np.intp))]  # rows are sorted
    for _ in range(ROUNDS):
        of = nearest(rows, centres)
        weight = np.bincount(of, weights=counts, minlength=len(centres))
        total = np.stack([np.bincount(of, weights=counts * column, minlength=len(centres)) for column in rows.T], 1)
        centres = (total / np.maximum(weight, 1.0)[:, None])[weight > 0]
    return centres
