"""Random samples of tables that are too large to train on."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["from_dask", "sample_rows"]


def sample_rows(n: int, at_most: int | None, seed: int) -> np.ndarray:
    """Row numbers of a table of n rows, in order: all, or `at_most` random ones."""
    if at_most is None or n <= at_most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, at_most, replace=False, shuffle=False))


def from_dask(X: Any, y: Any, at_most: int | None, seed: int) -> tuple[Any, Any, int | None]:
    """A sample of a Dask frame and its labels in memory, and the number of rows of the whole frame.

    What is no Dask frame is returned as it is, without a number.
    """
    if not hasattr(X, "map_partitions"):
        return X, y, None
    sizes = X.map_partitions(len).compute().to_numpy()
    total = int(sizes.sum())
    rows = sample_rows(total, at_most, seed)
    ends = np.cumsum(sizes)
    chosen = np.split(rows, np.searchsorted(rows, ends[:-1]))
    places = [part - start for part, start in zip(chosen, ends - sizes, strict=True)]

    def pick(part: Any, partition_info: Any = None) -> Any:
        return part if partition_info is None else part.iloc[places[partition_info["number"]]]

    picked = [each.map_partitions(pick, meta=each._meta).compute() for each in (X, y) if hasattr(each, "dask")]
    if len(picked) == 2:
        return picked[0], picked[1], total
    return picked[0], np.asarray(y)[rows], total
