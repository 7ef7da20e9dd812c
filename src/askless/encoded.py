"""The rows of a table, encoded some at a time, so that no second copy of the whole is made on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from askless.acquisition import Cases, Grid, Reference
from askless.encoding import Encoder, ImageEncoder, TableEncoder
from askless.tables import ParquetTable, row_chunks, take_rows

__all__ = ["SAMPLE", "encode_rows", "learn_encoder", "reference_sample", "rows_at_once"]

SAMPLE = 200_000  # rows are enough to learn ranks, medians and categories from
ROWS_AT_ONCE = 65_536  # at most so many rows are encoded together,
VALUES_AT_ONCE = 1 << 22  # and so many encoded numbers: 16 MiB
REFERENCE_VALUES = 1 << 18  # encoded numbers that a model stores of training rows: 1 MiB,
REFERENCE_LEAST = 32  # but of so many rows


def learn_encoder(
    table: Any,
    rows: np.ndarray,
    *,
    groups: Mapping[str, Sequence[Any]] | None,
    costs: Mapping[str, float] | None,
    grid: Grid | None = None,
    seed: int,
    numbers: np.ndarray | None = None,
) -> Encoder:
    """An encoder learned from the given rows (increasing), or from a random sample of them where they are many.

    With a `grid` the rows are images. `numbers` (n,) say where the table's rows stand in a larger one, for errors to
    name.
    """
    if len(rows) > SAMPLE:
        drawn = np.random.default_rng(seed).choice(len(rows), SAMPLE, replace=False, shuffle=False)
        rows = rows[np.sort(drawn)]
    whole = len(rows) == len(table) and not isinstance(table, ParquetTable)
    part = table if whole else take_rows(table, rows)
    named: Any = rows if numbers is None else numbers[rows]
    if grid is not None:
        return ImageEncoder.fit(part, grid, costs, row_numbers=named)
    return TableEncoder.fit(part, groups=groups, costs=costs, row_numbers=named)


def rows_at_once(encoder: Encoder) -> int:
    """How many rows are encoded together."""
    return max(1, min(ROWS_AT_ONCE, VALUES_AT_ONCE // encoder.schema.n_columns))


def encode_rows(encoder: Encoder, table: Any, rows: np.ndarray) -> Cases:
    """The given rows (increasing) as the encoder sees them, encoded some at a time."""
    n, schema = len(rows), encoder.schema
    x, present = np.empty((n, schema.n_columns), np.float32), np.empty((n, len(schema)), np.bool_)
    for run, part in row_chunks(table, rows_at_once(encoder), None if n == len(table) else rows):
        numbers: Any = rows[run]
        cases = encoder.transform(part, numbers)
        x[run], present[run] = cases.x, cases.present
    return Cases(x, present)


def reference_sample(cases: Cases, y: np.ndarray, task: str, n: int, seed: int) -> Reference | None:
    """At most n training rows in random order, as many of each class as there are; None for none."""
    n = min(n, max(REFERENCE_LEAST, REFERENCE_VALUES // cases.x.shape[1])) if n else 0
    if not n:
        return None
    order = np.random.default_rng(seed).permutation(len(y))
    if task == "classification":
        place = np.empty(len(y), dtype=np.int64)  # how many of its class come before a row
        for code in np.unique(y):
            own = order[y[order] == code]
            place[own] = np.arange(len(own))
        order = order[np.argsort(place[order], kind="stable")]
    rows = order[:n]
    labels = y[rows].astype(np.int64 if task == "classification" else np.float64)
    return Reference(cases.x[rows], cases.present[rows], labels)
