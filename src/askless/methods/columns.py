"""Which encoded columns of a feature say something of their own, for methods that work column by column."""

from __future__ import annotations

import numpy as np

__all__ = ["telling_columns"]

ROWS = 4096  # that are looked at
FINER = 1.01  # a column with more distinct values than this times those of another is finer


def telling_columns(x: np.ndarray) -> list[int]:
    """The columns of a feature (n, width) without those that rise and fall exactly with the one before.

    A number is encoded by two increasing functions of itself. To whatever splits a column at thresholds or cuts it
    into bins, one of them says as much as both.
    """
    x = x[:: -(-len(x) // ROWS)] if len(x) > ROWS else x  # spread over the table, whatever its order
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
