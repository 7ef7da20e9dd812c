"""The rows of a table, encoded some at a time, so that no second copy of the whole is made on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from askless.acquisition import Cases, Grid, Reference
from askless.encoding import Encoder, ImageEncoder, TableEncoder
from askless.tables import ParquetTable, Scratch, row_chunks, take_rows

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


def encode_rows(
    encoder: Encoder, table: Any, rows: np.ndarray, scratch: Scratch, seed: int
) -> tuple[Cases, np.ndarray]:
    """The given rows (increasing) as the encoder sees them, and the rows in the order in which they stand there.

    In memory that order is the same. On disk it is a random one, so that any run of consecutive rows is a random
    batch: the table is read from front to back, each row is put at the end of a random block, and the blocks, which
    fit in memory, are shuffled one by one.
    """
    n, schema = len(rows), encoder.schema
    x = scratch.empty((n, schema.n_columns), np.float32)
    present = scratch.empty((n, len(schema)), np.bool_)
    size = rows_at_once(encoder)
    rng = np.random.default_rng(seed)
    blocks = _Blocks(n, size, rng) if scratch.on_disk else None
    for run, part in row_chunks(table, size, None if n == len(table) else rows):
        numbers: Any = rows[run]
        cases = encoder.transform(part, numbers)
        places: Any = run if blocks is None else blocks.places[run]
        x[places], present[places] = cases.x, cases.present
    if blocks is None:
        return Cases(x, present), rows
    return Cases(x, present), rows[blocks.shuffle(x, present, rng)]


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
    rows = np.sort(order[:n])  # front to back: they may be on disk
    back = np.argsort(np.argsort(order[:n]))
    labels = y[rows].astype(np.int64 if task == "classification" else np.float64)
    return Reference(np.array(cases.x[rows])[back], np.array(cases.present[rows])[back], labels[back])


class _Blocks:
    """Rows dealt to random blocks."""

    def __init__(self, n: int, size: int, rng: np.random.Generator) -> None:
        block = rng.integers(-(-n // size), size=n, dtype=np.uint32)  # (n,) the block of each row
        self._order = np.argsort(block, kind="stable")  # (n,) the row at each place
        self._ends = np.cumsum(np.bincount(block))
        self.places = np.empty_like(self._order)  # (n,) the place of each row
        self.places[self._order] = np.arange(n)

    def shuffle(self, x: np.ndarray, present: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Shuffle what stands in each block; returns the row that each place has then (n,)."""
        for start, end in zip([0, *self._ends], self._ends, strict=False):
            drawn = start + rng.permutation(end - start)
            for array in (x, present, self._order):
                array[start:end] = array[drawn]
        return self._order
