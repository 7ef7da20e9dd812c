"""A warning where the gaps tell the label, and none where they do not."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest

from askless import DynamicClassifier, DynamicRegressor
from askless.acquisition import Cases
from askless.encoding import TableEncoder
from askless.exceptions import MissingnessWarning
from askless.methods import MutualInformation
from askless.remarks import missingness_score, warn_of_telling_gaps
from tests.coded import warns

QUICK = MutualInformation(epochs=1, hidden=(8,))


def table(n=2000, seed=0, telling=0.0):
    """Three columns; "lab" is missing more often where the label is 1, by so much."""
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(n, 3)), columns=["age", "lab", "scan"])
    y = (x["age"] + rng.normal(size=n) > 0).astype(int).to_numpy()
    x.loc[rng.random(n) < 0.3 + telling * (y - 0.5), "lab"] = np.nan
    x.loc[rng.random(n) < 0.4, "scan"] = np.nan
    return x, y


def test_gaps_that_tell_the_label_are_named():
    with pytest.warns(MissingnessWarning) as caught:
        DynamicClassifier(max_features=2, method=QUICK).fit(*table(telling=0.5))
    told = str(caught[0].message)
    assert "AUROC 0.7" in told  # 0.5 + 0.5 / 2
    assert "'lab', missing in 5" in told
    assert "of class 1 and" in told or "of class 0 and" in told
    assert "'scan'" not in told


def test_gaps_by_chance_are_nothing_to_warn_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DynamicClassifier(max_features=2, method=QUICK).fit(*table())


def test_a_regression_too():
    x, _ = table()
    y = np.where(x["lab"].isna(), 2.0, 0.0) + np.random.default_rng(1).normal(size=len(x))
    with warns(MissingnessWarning, "informative_missingness", column="lab") as caught:
        DynamicRegressor(max_features=2, method=QUICK).fit(x, y)
    assert caught[0].message.fields["value"] == pytest.approx(0.45, abs=0.05)  # R²


def test_the_score_is_the_auroc_of_the_gap():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 4000)
    present = rng.random((4000, 1)) < np.where(y == 1, 0.9, 0.5)[:, None]
    half = slice(0, 2000), slice(2000, 4000)
    score = missingness_score(present[half[0]], y[half[0]], present[half[1]], y[half[1]], 2)
    there = present[half[1], 0]
    exact = 0.5 + 0.5 * (there[y[half[1]] == 1].mean() - there[y[half[1]] == 0].mean())  # of two values
    assert score == pytest.approx(exact)


def test_nothing_missing():
    present = np.ones((100, 3), dtype=bool)
    assert missingness_score(present, np.arange(100) % 2, present, np.arange(100) % 2, 2) is None


def test_gaps_within_a_group_are_seen():
    groups = {"panel": ["lab", "age"]}
    with warns(MissingnessWarning, "informative_missingness", column="lab"):
        DynamicClassifier(max_features=2, method=QUICK, groups=groups).fit(*table(telling=0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DynamicClassifier(max_features=2, method=QUICK, groups=groups).fit(*table())


def test_a_large_table_is_looked_at_in_part():
    n, features = 400_000, 50
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    present = np.ones((n, features), dtype=bool)
    present[:, 3] = rng.random(n) < np.where(y == 1, 0.2, 0.8)
    cases = Cases(np.zeros((n, features), dtype=np.float32), present)
    encoder = TableEncoder.fit(pd.DataFrame(np.eye(features), columns=[f"c{i}" for i in range(features)]))
    tracemalloc.start()
    with warns(MissingnessWarning, "informative_missingness", columns=["c3"]):
        warn_of_telling_gaps(encoder, cases, y, cases, y, [0, 1])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * n * features / 2  # not even half of the gaps as numbers
