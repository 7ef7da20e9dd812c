"""What a roll-out returns."""

from dataclasses import replace

import numpy as np
import pytest

from askless.acquisition import Trajectory
from askless.exceptions import ParameterError
from tests.coded import raises

NAMES = ("age", "sex", "dose")


def trajectory(order, outputs=("no", "yes"), seed=0):
    """A made-up trajectory: case i's prediction after k answers is told apart from all others."""
    order = np.array(order)
    n, k = order.shape
    steps = np.minimum(np.arange(k + 1), (order >= 0).sum(axis=1, keepdims=True))  # (n, k + 1)
    p = (1.0 + seed + 10.0 * np.arange(n)[:, None] + steps) / 100.0
    predictions = np.stack([p, 1.0 - p], axis=2)[:, :, : len(outputs) or 2]
    return Trajectory(order, predictions, 2.0 * steps, np.array(["done"] * n, dtype=object), NAMES, outputs)


def test_how_many_and_which():
    t = trajectory([[2, 0], [1, -1], [-1, -1]])
    assert len(t) == 3
    assert t.n_asked.tolist() == [2, 1, 0]
    assert [t.names(i) for i in range(3)] == [["dose", "age"], ["sex"], []]


def test_what_was_selected_within_k_questions():
    t = trajectory([[2, 0], [1, -1]])
    assert t.selected(0).tolist() == [[False] * 3] * 2
    assert t.selected(1).tolist() == [[False, False, True], [False, True, False]]
    assert t.selected(2).tolist() == t.selected(9).tolist() == [[True, False, True], [False, True, False]]


def test_predictions_after_k_answers():
    t = trajectory([[2, 0], [1, -1]])
    assert t.at(0)[:, 0].tolist() == [0.01, 0.11]
    assert t.at(1)[:, 0].tolist() == [0.02, 0.12]
    assert t.at(2)[:, 0].tolist() == [0.03, 0.12]  # the second case stopped and keeps its last
    assert t.at(50).tolist() == t.at(2).tolist()
    with raises(ParameterError, "out_of_range", name="k", value=-1, low=0):
        t.at(-1)


def test_joining_batches_of_different_length():
    parts = [trajectory([[2, 0], [1, -1]]), trajectory([[0], [1]], seed=50), trajectory(np.empty((1, 0), dtype=int))]
    t = Trajectory.join(parts)
    assert t.order.tolist() == [[2, 0], [1, -1], [0, -1], [1, -1], [-1, -1]]
    assert t.predictions[:, :, 0].round(2).tolist() == [
        [0.01, 0.02, 0.03],
        [0.11, 0.12, 0.12],
        [0.51, 0.52, 0.52],
        [0.61, 0.62, 0.62],
        [0.01, 0.01, 0.01],
    ]
    assert t.cost.tolist() == [[0, 2, 4], [0, 2, 2], [0, 2, 2], [0, 2, 2], [0, 0, 0]]
    assert t.stop_reason.tolist() == ["done"] * 5
    assert (t.feature_names, t.outputs) == (NAMES, ("no", "yes"))


def test_joining_one_changes_nothing():
    t = trajectory([[2, 0], [1, -1]])
    joined = Trajectory.join([t])
    np.testing.assert_array_equal(joined.order, t.order)
    np.testing.assert_array_equal(joined.predictions, t.predictions)


def test_a_frame_has_a_row_for_each_case_and_answer():
    frame = trajectory([[2, 0], [1, -1]]).frame()
    assert list(frame.columns) == ["case", "step", "feature", "cost", "p(no)", "p(yes)"]
    assert frame["case"].tolist() == [0, 0, 0, 1, 1]
    assert frame["step"].tolist() == [0, 1, 2, 0, 1]
    assert frame["feature"].fillna("nothing").tolist() == ["nothing", "dose", "age", "nothing", "sex"]
    assert frame["cost"].tolist() == [0, 2, 4, 0, 2]
    assert frame["p(no)"].round(2).tolist() == [0.01, 0.02, 0.03, 0.11, 0.12]


def test_a_frame_tells_the_standard_deviation_of_each_last_prediction():
    t = replace(trajectory([[2, 0], [1, -1], [-1, -1]], ("mean",)), sd=np.array([0.5, 2.0, 7.0]))
    frame = t.frame()
    assert list(frame.columns) == ["case", "step", "feature", "cost", "mean", "sd"]
    np.testing.assert_array_equal(frame["sd"], [np.nan, np.nan, 0.5, np.nan, 2.0, 7.0])
    assert frame.groupby("case")["sd"].last().tolist() == [0.5, 2.0, 7.0]


@pytest.mark.parametrize(
    ("outputs", "columns"),
    [
        (("case", "cost"), ["p(case)", "p(cost)"]),  # a class may have any name
        ((0, 1), ["p(0)", "p(1)"]),
        ((False, True), ["p(False)", "p(True)"]),
        ((), ["p(0)", "p(1)"]),
        (("mean",), ["mean"]),
    ],
)
def test_the_columns_of_a_frame(outputs, columns):
    frame = trajectory([[2, 0]], outputs).frame()
    assert list(frame.columns) == ["case", "step", "feature", "cost", *columns]
    assert frame["case"].tolist() == [0, 0, 0]
