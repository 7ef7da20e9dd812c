"""What training takes of a problem."""

import numpy as np

from askless.acquisition import Cases, Schema
from askless.training import Problem, some_rows


def problem(n, max_features, missing="skip"):
    def cases(rows):
        return Cases(np.zeros((rows, 3), dtype=np.float32), np.ones((rows, 3), dtype=bool))

    y = np.arange(n) % 2  # the classes alternate
    schema = Schema.of_numbers(["a", "b", "c"])
    return Problem(
        schema=schema,
        train=cases(4),
        y_train=y[:4],
        valid=cases(n),
        y_valid=y,
        task="classification",
        n_classes=2,
        max_features=max_features,
        missing=missing,
    )


def test_the_validation_sample_is_random_and_large_enough():
    cases, y = problem(5000, 20).validation_sample
    assert len(cases) == len(y) == (1 << 16) // 20
    assert abs(y.mean() - 0.5) < 0.05  # not every n-th row, which would all be of one class
    assert len(problem(5000, 784).validation_sample[1]) == 2048
    assert len(problem(50_000, 2).validation_sample[1]) == 8192
    small = problem(900, 10)
    assert small.validation_sample[0] is small.valid


def test_some_rows():
    assert some_rows(4, 4).tolist() == [0, 1, 2, 3]
    rows = some_rows(1000, 10)
    assert len(set(rows.tolist())) == 10
    assert (np.diff(rows) > 0).all()
    assert some_rows(1000, 10).tolist() == rows.tolist()


def test_what_can_always_be_asked_takes_no_memory():
    rows = problem(10, 2, "answer").rows("valid")
    assert bool(rows.askable.all())
    assert rows.askable.untyped_storage().nbytes() == 1
