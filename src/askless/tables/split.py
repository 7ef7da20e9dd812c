"""Holding rows out."""

from __future__ import annotations

import numpy as np

__all__ = ["holdout"]


def holdout(y: np.ndarray, fraction: float, stratify: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the rows to train on and of those to validate on.

    Stratified, each class gives its share, and one row of every class stays for training. Where every class has too
    few for that, some of them, drawn by chance, give one. Where there are too few rows to hold any out, training and
    validation are the same.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    if stratify:
        sorted_ = order[np.argsort(y[order], kind="stable")]
        starts = np.flatnonzero(np.r_[True, np.diff(y[sorted_]) != 0])
        parts = np.split(sorted_, starts[1:])
    else:
        parts = [order]
    held = [part[: min(round(fraction * len(part)), len(part) - 1)] for part in parts]
    valid = np.sort(np.concatenate(held))
    if len(valid) == 0:
        spare = rng.permutation(np.array([part[1] for part in parts if len(part) > 1], dtype=np.int64))
        valid = np.sort(spare[: round(fraction * len(y))])
    if len(valid) == 0:
        return np.arange(len(y)), np.arange(len(y))
    kept = np.ones(len(y), dtype=bool)
    kept[valid] = False
    return np.flatnonzero(kept), valid
