import numpy as np
import pytest

from askless.acquisition import Cases, Feature, Part, Schema
from askless.methods import Greedy
from askless.training import Problem, new_policy_predictor, seeded


def schema_of_widths(widths):
    features, start = [], 0
    for i, width in enumerate(widths):
        features.append(Feature(f"f{i}", (Part(f"f{i}", "number"),), start, start + width))
        start += width
    return Schema(tuple(features))


@pytest.fixture
def make_problem():
    """Random rows in float64 (the package trains in float32; the comparisons here need more digits)."""

    def make(widths, task="classification", n=12, max_features=3, missing="skip", gaps=False, seed=0):
        rng = np.random.default_rng(seed)
        schema = schema_of_widths(widths)

        def cases(count):
            x = rng.normal(size=(count, schema.n_columns))
            present = rng.random((count, len(widths))) < (0.7 if gaps else 2.0)
            present[:, 0] = True
            return Cases(x, present)

        def target(count):
            return rng.integers(0, 3, count) if task == "classification" else rng.normal(size=count)

        n_classes = 3 if task == "classification" else 0
        return Problem(
            schema=schema,
            train=cases(n),
            y_train=target(n),
            valid=cases(7),
            y_valid=target(7),
            task=task,
            n_classes=n_classes,
            max_features=max_features,
            missing=missing,
        )

    return make


@pytest.fixture
def make_module():
    def make(problem, shared=False, dropout=0.0):
        with seeded(1):
            net = Greedy(hidden=(16, 8), dropout=dropout).net
            pair = new_policy_predictor(problem, net, shared=shared)
        return pair.double()

    return make
