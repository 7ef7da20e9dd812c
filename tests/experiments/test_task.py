import hashlib
import json
import math

import numpy as np
import pytest

from askless.experiments import ExperimentError, Task
from askless.experiments.results import pack, pack_loss, pack_order, unpack_loss, unpack_order
from askless.experiments.running import split_rows
from askless.experiments.scoring import calibration_error, case_losses, scored_budgets
from askless.metrics import log_loss
from tests.coded import raises


def test_the_key_is_a_hash_of_the_canonical_json():
    task = Task(dataset="wine", method="greedy", method_options={"hidden": (8, 8)}, max_features=3)
    text = json.dumps(task.to_json(), sort_keys=True, separators=(",", ":"))
    assert task.key == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert task.label == "greedy (hidden=(8, 8))"
    assert Task.from_json(json.loads(json.dumps(task.to_json()))).key == task.key


@pytest.mark.parametrize("change", [{"seed": 1}, {"rows": 100}, {"missing": "answer"}, {"dataset_options": {"n": 9}}])
def test_whatever_changes_the_result_changes_the_key(change):
    task = Task(dataset="wine", method="greedy", max_features=3)
    assert Task(**{**task.to_json(), **change}).key != task.key


def test_a_task_that_is_none():
    whole = {"dataset": "wine", "method": "greedy", "max_features": 3}
    for data, code, fields in (
        ([], "wrong_type", {"name": "task", "value": []}),
        ({"dataset": "wine"}, "required", {"name": "method"}),
        ({**whole, "sede": 1}, "unknown_name", {"name": "sede", "nearest": "seed"}),
        ({**whole, "test_fraction": "much"}, "wrong_type", {}),
    ):
        with raises(ExperimentError, code, **fields):
            Task.from_json(data)


def test_the_split_is_the_benchmarks():
    task = Task(dataset="spam", method="greedy", max_features=3, split_seed=2)
    order = np.random.default_rng(2).permutation(4601)
    rows = split_rows(4601, task)
    assert rows.test.tolist() == order[:920].tolist()
    assert rows.valid.tolist() == order[920:1840].tolist()
    assert rows.train.tolist() == order[1840:].tolist()
    fewer = split_rows(4601, Task(**{**task.to_json(), "rows": 1000}))
    assert fewer.test.tolist() == order[:200].tolist()
    assert sorted([*fewer.test, *fewer.valid, *fewer.train]) == sorted(order[:1000])


def test_a_seventh_of_mnist_is_ten_thousand_rows():
    share = {"test_fraction": 0.142857142857, "validation_fraction": 0.142857142857}
    rows = split_rows(70_000, Task(dataset="mnist", method="greedy", max_features=3, **share))
    assert (len(rows.test), len(rows.valid), len(rows.train)) == (10_000, 10_000, 50_000)


def test_too_few_rows():
    with raises(ExperimentError, "too_few_rows", rows=4):
        split_rows(4, Task(dataset="wine", method="greedy", max_features=3))


@pytest.mark.parametrize(("n_features", "dtype"), [(20, "uint8"), (254, "uint8"), (255, "uint16"), (784, "uint16")])
def test_orders_come_back(n_features, dtype):
    order = np.random.default_rng(0).integers(-1, n_features, size=(50, 7))
    order[0, 0] = n_features - 1
    packed = pack_order(order, n_features)
    assert packed["dtype"] == dtype
    assert (unpack_order({"order": packed}) == order).all()


@pytest.mark.parametrize("largest", [1.0, 16.0, 7e4, 1e9])
def test_losses_come_back(largest):
    loss = np.random.default_rng(0).random((50, 4)) * largest
    result = {"per_case": pack_loss(loss), "data": {"rows": {"test": 50}}, "curves": {"budget": [0, 1, 2, 3]}}
    assert np.allclose(unpack_loss(result), loss, rtol=1e-3, atol=largest * 1e-6)


@pytest.mark.parametrize("largest", [3e-310, 1e-12, 1e-4, 1.0, 16.0, 7e4, 1e300])
def test_the_scale_makes_the_best_of_half_precision(largest):
    loss = largest * np.array([[1.0, 0.3], [1e-3, 1e-6]])
    packed = pack_loss(loss)
    scale = packed["scale"]
    assert math.frexp(scale)[0] == 0.5  # a power of two
    assert largest / scale < 32_768
    result = {"per_case": packed, "data": {"rows": {"test": 2}}, "curves": {"budget": [0, 1]}}
    if largest > 1e-300:  # below, the scale itself has its limit
        assert largest / scale >= 16_384
        assert unpack_loss(result) == pytest.approx(loss, rel=1e-3)


def test_losses_without_a_scale_of_their_own():
    result = {"data": {"rows": {"test": 2}}, "curves": {"budget": [0]}}
    nothing = pack_loss(np.zeros((2, 1)))
    assert nothing["scale"] == 1.0
    assert (unpack_loss({**result, "per_case": nothing}) == 0.0).all()
    endless = pack_loss(np.array([[2.0], [np.inf]]))
    assert unpack_loss({**result, "per_case": endless}).tolist() == [[2.0], [np.inf]]
    of_before = {"loss": pack(np.array([[0.5], [2.0]], dtype=np.float16))}
    assert unpack_loss({**result, "per_case": of_before}).tolist() == [[0.5], [2.0]]
    assert unpack_loss({**result, "per_case": {**of_before, "scale": 4.0}}).tolist() == [[2.0], [8.0]]


class Path:
    """A trajectory of three cases and one question."""

    order = np.array([[0], [1], [0]])
    predictions = np.array([[[0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5], [0.2, 0.8]], [[0.5, 0.5], [0.6, 0.4]]])

    def at(self, k):
        return self.predictions[:, min(k, 1)]


def test_the_mean_of_the_cases_losses_is_the_metric():
    y = np.array([0, 1, 1])
    losses = case_losses("classification", Path(), y, [0, 1])
    assert losses.shape == (3, 2)
    assert losses[:, 1].tolist() == pytest.approx((-np.log([0.9, 0.8, 0.4])).tolist())
    assert losses[:, 1].mean() == pytest.approx(log_loss(y, Path().at(1)))


def test_budgets_are_those_of_the_task_and_the_end_of_a_longer_path():
    assert scored_budgets(3, Path()) == [0, 1, 2, 3]
    assert scored_budgets(0, Path()) == [0, 1]


def test_calibration_of_a_calibrated_forecast_goes_to_zero():
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.5, 1.0, 60_000)
    p = np.column_stack([chance, 1 - chance])
    y = (rng.random(60_000) > chance).astype(int)
    assert calibration_error(y, p) < 0.01
    assert calibration_error(1 - y, p) == pytest.approx(0.5, abs=0.01)  # mean of |2 chance - 1|
