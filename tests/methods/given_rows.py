"""Problems made of given rows, for methods that choose features."""

import numpy as np

from askless.acquisition import Cases
from askless.training import Chains, Problem, seeded
from tests.methods.conftest import schema_of_widths


def problem_of(x, y, max_features, widths=None, present=None):
    """A problem whose last third validates; whole numbers are classes. Every column is a feature, unless told."""
    schema = schema_of_widths(widths or [1] * x.shape[1])
    present = np.ones((len(x), len(schema)), dtype=bool) if present is None else present
    x = np.where(present[:, schema.column_feature], x, 0.0).astype(np.float32)
    task = "classification" if np.issubdtype(y.dtype, np.integer) else "regression"
    n_classes = int(y.max()) + 1 if task == "classification" else 0
    cut = 2 * len(x) // 3
    (train, y_train), (valid, y_valid) = (
        (Cases(x[part], present[part]), y[part]) for part in (slice(cut), slice(cut, None))
    )
    return Problem(
        schema=schema,
        train=train,
        y_train=y_train,
        valid=valid,
        y_valid=y_valid,
        task=task,
        n_classes=n_classes,
        max_features=max_features,
    )


def chains_of(problem, epochs=1, depths="early"):
    """One state for each row, or fewer if epochs are, in batches of twelve."""
    with seeded(0):
        return Chains(
            problem,
            batch_size=12,
            states_per_row=1,
            epochs=epochs,
            depths=depths,
            random_subsets=False,
            random_starts=0.0,
        )


def xor_rows(n=900, features=6, seed=0):
    """Features 2 and 4 tell the class together, and nothing alone."""
    x = np.random.default_rng(seed).normal(size=(n, features))
    return x, ((x[:, 2] > 0) ^ (x[:, 4] > 0)).astype(int)


def copied_rows(n=900, seed=0):
    """Feature 1 is feature 0 again, which matters most; feature 4 matters less, the others do not."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6))
    x[:, 1] = x[:, 0]
    return x, (2.0 * x[:, 0] + 1.2 * x[:, 4] + 0.5 * rng.normal(size=n) > 0).astype(int)


def first(scores, count):
    """The features asked first, in order."""
    return np.argsort(-scores, kind="stable")[:count].tolist()
