"""The tables of the speed benchmark: real ones where they are at hand, generated ones of the same shape otherwise."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np

from askless.acquisition import Cases, Schema
from askless.datasets import load_dataset
from askless.encoding import TableEncoder
from askless.training import Problem


def spam_table() -> tuple[np.ndarray, np.ndarray, str]:
    """4,601 rows of 57 numbers, their classes, and where they are from."""
    if os.environ.get("ASKLESS_DATA"):
        data = load_dataset("spam")
        return data.frame.to_numpy(), (data.target == "spam").to_numpy().astype(int), "Spambase"
    rng = np.random.default_rng(0)  # skewed numbers, many of them zero, and a label that depends on a dozen
    X = np.where(rng.random((4601, 57)) < 0.7, 0.0, rng.lognormal(size=(4601, 57)))
    logit = 2.0 * np.log1p(X[:, :12]) @ np.linspace(2, -2, 12)
    return X, (logit + rng.logistic(size=len(X)) > 0).astype(int), "generated, of Spambase's shape"


def spam_problem(budget: int, rows: int | None = None, *, standardised: bool = False) -> tuple[Problem, str]:
    """The rows for training and validation of split 0 of `benchmarks/spam.py`.

    They are encoded as askless encodes them or, as in the paper's code, `standardised` and nothing else.
    """
    X, y, source = spam_table()
    order = np.random.default_rng(0).permutation(len(X))
    fifth = len(X) // 5
    train, valid = order[2 * fifth :][:rows], order[fifth : 2 * fifth][:rows]
    if standardised:
        middle, spread = X[train].mean(axis=0), X[train].std(axis=0)
        schema = Schema.of_numbers([f"number {i}" for i in range(X.shape[1])])
        parts = [_complete((X[part] - middle) / np.where(spread > 0, spread, 1.0)) for part in (train, valid)]
    else:
        encoder = TableEncoder.fit(X[train])
        schema, parts = encoder.schema, [encoder.transform(X[part]) for part in (train, valid)]
    return _classification(schema, parts, y[train], y[valid], budget), source


def mnist_problem(budget: int, rows: int | None = None) -> tuple[Problem, str]:
    """50,000 images for training and 10,000 for validation, a pixel from 0 to 1 in one column."""
    folder = Path(os.environ.get("ASKLESS_DATA", ".")) / "mnist"
    if folder.exists():
        X = _idx(folder / "train-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(np.float32) / 255
        y, source = _idx(folder / "train-labels-idx1-ubyte.gz", 8).astype(np.int64), "MNIST"
    else:
        rng = np.random.default_rng(0)  # a pattern for each class, each pixel wrong in a third of the images
        y, source = rng.integers(0, 10, 60_000), "generated, of MNIST's shape"
        patterns = rng.random((10, 784)) < 0.2
        X = (patterns[y] ^ (rng.random((len(y), 784)) < 1 / 3)).astype(np.float32)
    train, valid = slice(0, rows or 50_000), slice(50_000, 50_000 + (rows or 10_000))
    schema = Schema.of_numbers([f"pixel {i}" for i in range(784)])
    parts = [_complete(X[part]) for part in (train, valid)]
    return _classification(schema, parts, y[train], y[valid], budget), source


def _classification(
    schema: Schema, parts: list[Cases], y_train: np.ndarray, y_valid: np.ndarray, budget: int
) -> Problem:
    train, valid = parts
    return Problem(
        schema=schema,
        train=train,
        y_train=y_train,
        valid=valid,
        y_valid=y_valid,
        task="classification",
        n_classes=int(max(y_train.max(), y_valid.max())) + 1,
        max_features=budget,
    )


def _complete(x: np.ndarray) -> Cases:
    return Cases(x.astype(np.float32, copy=False), np.ones(x.shape, dtype=bool))


def _idx(path: Path, header: int) -> np.ndarray:
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)
