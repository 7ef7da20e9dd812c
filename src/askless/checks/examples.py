"""Cases and tables to run checks on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from askless.acquisition import Cases, Grid, Part, Schema, State, Task
from askless.model import FittedModel

GROUPS = {"pressure": ["upper", "lower"]}  # of `example_table`
IMAGE = (4, 4)  # pixels of those of `example_images`
ABSENT = 0.15  # share of missing values


def example_cases(schema: Schema, n: int = 20, seed: int = 0) -> Cases:
    """Random encoded cases for a schema, some values missing.

    >>> from askless.acquisition import Schema
    >>> cases = example_cases(Schema.of_numbers(["a", "b"]), n=5)
    >>> cases.x.shape, cases.present.shape
    ((5, 2), (5, 2))
    """
    rng = np.random.default_rng(seed)
    present = rng.random((n, len(schema))) >= ABSENT
    x = rng.normal(size=(n, schema.n_columns)).astype(np.float32)
    return Cases(np.where(present[:, schema.column_feature], x, np.float32(0.0)), present)


def example_states(schema: Schema, cases: Cases, seed: int = 0) -> list[State]:
    """States of the cases in which nothing, something, much and everything has been asked."""
    rng = np.random.default_rng(seed)
    draws = rng.random((len(cases), len(schema)))
    return [State.of(cases, schema.column_feature, draws < share) for share in (0.0, 0.3, 0.7, 1.1)]


def swapped_cases(cases: Cases, schema: Schema, asked: np.ndarray, seed: int, *, presence: bool) -> Cases:
    """The cases with every value that was not asked replaced by that of another case.

    With `presence`, whether a value is missing is exchanged too.
    """
    rng = np.random.default_rng(seed)
    x, present = cases.x.copy(), cases.present.copy()
    for i, feature in enumerate(schema.features):
        donors = rng.permutation(len(cases))
        free = ~asked[:, i] if presence else ~asked[:, i] & cases.present[:, i] & cases.present[donors, i]
        x[free, feature.start : feature.stop] = cases.x[donors[free], feature.start : feature.stop]
        present[free, i] = cases.present[donors[free], i]
    return Cases(x, present)


def example_table(task: Task, n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A small table with numbers, a category, a boolean and missing values, and its labels or numbers.

    Its columns "upper" and "lower" are meant to be asked together, as the group "pressure".

    >>> table, labels = example_table("classification")
    >>> list(table.columns), labels.shape
    (['age', 'upper', 'lower', 'colour', 'smoker', 'dose'], (120,))
    """
    rng = np.random.default_rng(seed)
    age, upper, lower = rng.uniform(20, 80, n), rng.normal(130, 15, n), rng.normal(80, 10, n)
    colour, smoker, dose = rng.choice(["blue", "green", "red"], n), rng.random(n) < 0.4, rng.choice([1.0, 5.0], n)
    signal = (age - 50) / 17 + (upper - lower - 50) / 18 + 0.8 * smoker - 0.8 * (colour == "red")
    target = signal + 0.1 * rng.normal(size=n)
    columns = {"age": age, "upper": upper, "lower": lower, "colour": colour, "smoker": smoker, "dose": dose}
    table = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    table = table.mask(rng.random(table.shape) < ABSENT, None)
    if task == "regression":
        return table, target
    return table, np.array(["low", "middle", "high"])[np.digitize(target, np.quantile(target, [0.4, 0.7]))]


def example_images(task: Task, n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Small grey images as a table with a column for each pixel, some missing, and their labels or numbers.

    >>> table, labels = example_images("classification")
    >>> table.shape, table.columns[5]
    ((120, 16), 'row 1, column 1')
    """
    rng = np.random.default_rng(seed)
    grid = Grid(*IMAGE, channels=1, patch_size=1)
    pixels = rng.random((n, grid.n_patches))
    target = pixels[:, 5] - pixels[:, 10] + 0.1 * rng.normal(size=n)
    table = pd.DataFrame(pixels, columns=list(grid.names)).mask(rng.random(pixels.shape) < ABSENT)
    return table, target if task == "regression" else np.array(["dark", "light"])[(target > 0).astype(int)]


def rows_for(model: FittedModel, n: int = 24, seed: int = 0) -> pd.DataFrame:
    """Random rows that a fitted model can read: numbers from their ranges, choices, some values missing."""
    rng = np.random.default_rng(seed)
    parts = [part for feature in model.schema.features for part in feature.parts]
    columns = {}
    for part in parts:
        cells = np.array([None, *_values(part, n, rng)], dtype=object)[1:]
        cells[rng.random(n) < ABSENT] = None
        columns[part.name] = pd.Series(cells, dtype=object)
    return pd.DataFrame(columns)


def _values(part: Part, n: int, rng: np.random.Generator) -> list[Any]:
    if part.kind in ("number", "patch"):
        low, high = part.low or 0.0, part.high or 0.0
        return list(low + (high - low) * rng.random(n))
    choices = (False, True) if part.choices is None else part.choices
    return [choices[i] for i in rng.integers(len(choices), size=n)]
