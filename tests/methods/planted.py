"""Rows of which it is known what matters, for rankings of features."""

import numpy as np

from askless.acquisition import Cases
from askless.training import Problem, Progress
from tests.methods.conftest import schema_of_widths

WIDTHS = (1, 2, 1, 3, 1)  # of the five features
BEST, SECOND = 3, 0  # the only ones that matter; of the best no column does without the others


class Silent(Progress):
    """Counts what it is told."""

    def __init__(self):
        self.told = []

    @property
    def phases(self):
        """The phase of each report."""
        return [each[0] for each in self.told if isinstance(each, tuple)]

    def resumed(self, path):
        self.told.append(path)

    def start(self, total):
        self.told.append(total)

    def epoch(self, done, phase, row):
        self.told.append((phase, done))


def planted(task, n=900, gaps=0.0, seed=0, n_classes=2):
    """Two features of five carry the signal; `gaps` is the share of missing values."""
    rng = np.random.default_rng(seed)
    schema = schema_of_widths(WIDTHS)
    x = rng.normal(size=(n, schema.n_columns)).astype(np.float32)
    present = rng.random((n, len(schema))) >= gaps
    signal = 1.5 * (x[:, 4:7] @ [1.0, -1.0, 1.0]) + x[:, 0] + 0.3 * rng.normal(size=n)
    x = np.where(present[:, schema.column_feature], x, np.float32(0.0))
    y = signal
    if task == "classification":
        y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    parts = [(Cases(x[rows], present[rows]), y[rows]) for rows in (slice(n // 3, None), slice(n // 3))]
    (train, y_train), (valid, y_valid) = parts
    return Problem(
        schema=schema,
        train=train,
        y_train=y_train,
        valid=valid,
        y_valid=y_valid,
        task=task,
        n_classes=n_classes if task == "classification" else 0,
        max_features=3,
    )
