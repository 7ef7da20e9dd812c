"""Imagined answers."""

import numpy as np
import pytest

from askless.acquisition import State
from askless.acquisition.reference import Reference
from tests.acquisition.linear import schema_of

SCHEMA = schema_of([1, 2])


def stored(y, dtype=np.int64):
    n = len(y)
    x = np.arange(3 * n, dtype=np.float32).reshape(n, 3)
    present = np.ones((n, 2), dtype=bool)
    present[-1, 1] = False
    return Reference(x, present, np.array(y, dtype=dtype))


def test_labels_are_drawn_as_predicted():
    reference = stored([1, 0, 2, 0, 1, 1])
    rows = reference.draw(np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]), None, 8)
    labels = reference.y[rows]
    assert [np.bincount(each, minlength=3).tolist() for each in labels] == [[4, 2, 2], [0, 8, 0]]
    assert set(rows[1].tolist()) == {0, 4, 5}  # each of the class, again and again
    assert (rows == reference.draw(np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]), None, 8)).all()  # no chance


def test_a_case_alone_is_as_in_a_batch():
    reference = stored(list(np.random.default_rng(0).integers(4, size=40)))
    predictions = np.random.default_rng(1).dirichlet(np.ones(4), size=10)
    together = reference.draw(predictions, None, 16)
    assert all((reference.draw(predictions[i : i + 1], None, 16)[0] == together[i]).all() for i in range(10))


def test_a_class_without_rows_takes_any():
    rows = stored([0, 0, 1]).draw(np.array([[0.0, 0.0, 0.0, 1.0]]), None, 6)
    assert rows.tolist() == [[0, 1, 2, 0, 1, 2]]


def test_numbers_are_drawn_near_the_prediction():
    reference = stored(np.linspace(0, 10, 101), np.float64)
    rows = reference.draw(np.array([[5.0], [2.0]]), np.array([1.0, 0.1]), 64)
    drawn = reference.y[rows]
    np.testing.assert_allclose(drawn.mean(axis=1), [5.0, 2.0], atol=0.02)
    np.testing.assert_allclose(drawn.std(axis=1), [1.0, 0.1], rtol=0.1)
    assert reference.draw(np.array([[5.0]]), None, 64).shape == (1, 64)


def test_what_is_answered():
    reference = stored([0, 1, 0])
    asked = np.array([[True, False]])
    state = State(np.array([[7.0, 0, 0]], dtype=np.float32), asked, asked)
    answered = reference.answered(state, np.array([[1, 2]]), np.array([[True, True]]), SCHEMA)
    assert answered.x.tolist() == [[7, 4, 5], [7, 0, 0]]  # what is known stays; the last row has no second feature
    assert answered.asked.tolist() == [[True, True]] * 2
    assert answered.known.tolist() == [[True, True], [True, False]]


@pytest.mark.parametrize(
    "change",
    [
        {"x": np.zeros((3, 2), dtype=np.float32)},
        {"x": np.zeros((3, 3))},
        {"x": np.full((3, 3), np.nan, dtype=np.float32)},
        {"present": np.ones((3, 2))},
        {"present": np.ones((3, 1), dtype=bool)},
        {"y": np.array([0, 1, 2])},
        {"y": np.array([0, 1, -1])},
        {"y": np.array([0.0, 1.0, 0.0])},
        {"y": np.array([0, 1])},
    ],
)
def test_rows_that_do_not_fit(change):
    good = stored([0, 1, 0])
    assert good.checked(SCHEMA, 2) is good
    with pytest.raises(ValueError, match="the stored rows do not fit"):
        Reference(**{**good.arrays(), **change}).checked(SCHEMA, 2)


def test_copies():
    rng = np.random.default_rng(0)
    schema = schema_of([1, 1, 2, 1, 1, 2])
    a, noise = rng.normal(size=300), rng.normal(size=300)
    kind = rng.integers(2, size=300)
    columns = [a, -3 * a + 1, kind, 1 - kind, a + noise, np.zeros(300), 1 - kind, kind]
    x = np.column_stack(columns).astype(np.float32)
    reference = Reference(x, np.ones((300, 6), dtype=bool), kind)
    again = [np.flatnonzero(row).tolist() for row in reference.copies(schema)]
    # other units, categories in another order; not what is only like it, nor what is the same in all rows
    assert again == [[1], [0], [5], [], [], [2]]


def test_gaps_make_no_copies():
    """Only rows that have both features are looked at, and a few of them say nothing."""
    rng = np.random.default_rng(1)
    schema = schema_of([1, 1, 1, 1])
    a, present = rng.normal(size=300), np.ones((300, 4), dtype=bool)
    present[10:, :2] = False  # two independent numbers that few rows have
    present[rng.random(300) < 0.3, 2] = False  # a number and its copy, with gaps of their own
    present[rng.random(300) < 0.3, 3] = False
    columns = [5 + rng.normal(size=300), 5 + rng.normal(size=300), a, 2 * a + 7]
    x = np.where(present, np.column_stack(columns), 0.0).astype(np.float32)
    again = Reference(x, present, np.zeros(300)).copies(schema)
    assert [np.flatnonzero(row).tolist() for row in again] == [[], [], [3], [2]]
