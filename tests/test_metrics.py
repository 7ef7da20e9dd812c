"""Formulas against hand arithmetic and against scikit-learn; curves against the trajectory."""

import inspect
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sk

from askless import metrics
from askless.acquisition import Trajectory
from askless.exceptions import ParameterError, TableError
from askless.metrics import accuracy, auroc, brier, curve, log_loss, mae, metric, r2, rmse
from tests.coded import raises

NAMES = ["accuracy", "auroc", "brier", "log_loss", "mae", "r2", "rmse"]


def trajectory_of(predictions, order=None, outputs=()):
    """A trajectory of (n, k + 1, outputs) predictions."""
    n, steps, _ = predictions.shape
    order = np.tile(np.arange(steps - 1), (n, 1)) if order is None else order
    cost = np.tile(np.arange(steps, dtype=float), (n, 1))
    names = tuple(f"f{i}" for i in range(max(steps - 1, 1)))
    return Trajectory(order, predictions, cost, np.array(["done"] * n), names, outputs)


def random_probabilities(rng, *shape, decimals=None):
    p = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
    return p if decimals is None else np.round(p, decimals)


def by_pairs(y, score):
    """AUROC by its definition: every positive against every negative."""
    wins = [(a > b) + (a == b) / 2 for a in score[y == 1] for b in score[y == 0]]
    return np.mean(wins)


class TestAuroc:
    def test_hand_arithmetic(self):
        # Positives 0.8, 0.3; negatives 0.5, 0.3, 0.1: right 3 + 1, tied 1, wrong 1 of 6.
        assert auroc([1, 0, 1, 0, 0], [0.8, 0.5, 0.3, 0.3, 0.1]) == pytest.approx(4.5 / 6)

    @pytest.mark.parametrize("levels", [2, 5, 1000])
    def test_every_pair_counts_and_ties_count_half(self, levels):
        rng = np.random.default_rng(levels)
        y, score = rng.integers(2, size=83), rng.integers(levels, size=83) / levels
        assert auroc(y, score) == pytest.approx(by_pairs(y, score), abs=1e-14)
        assert auroc(y, score) == pytest.approx(sk.roc_auc_score(y, score), abs=1e-14)

    def test_shapes_of_a_binary_prediction_agree(self):
        rng = np.random.default_rng(0)
        y, p = rng.integers(2, size=40), rng.random(40)
        assert auroc(y, p) == auroc(y, p[:, None]) == auroc(y, np.column_stack([1 - p, p]))

    @pytest.mark.parametrize("decimals", [1, None])
    def test_many_classes_as_scikit_learn(self, decimals):
        rng = np.random.default_rng(1)
        y = rng.integers(4, size=120)
        p = random_probabilities(rng, 120, 4, decimals=decimals)
        whole = p / p.sum(axis=1, keepdims=True)
        assert auroc(y, whole) == pytest.approx(sk.roc_auc_score(y, whole, multi_class="ovr", average="macro"))

    def test_a_class_that_y_lacks_is_left_out_of_the_mean(self):
        rng = np.random.default_rng(2)
        y, p = rng.integers(3, size=60), random_probabilities(rng, 60, 5)
        each = [sk.roc_auc_score(y == c, p[:, c]) for c in range(3)]
        assert auroc(y, p) == pytest.approx(np.mean(each))

    @pytest.mark.parametrize("classes", [2, 3])
    def test_one_class_only_is_an_error(self, classes):
        with raises(TableError, "one_class", name="auroc", rows=4):
            auroc([1] * 4, np.full((4, classes), 1 / classes))


class TestOtherClassification:
    P = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.3, 0.4, 0.3]])
    Y = np.array([0, 1, 2])

    def test_hand_arithmetic(self):
        assert accuracy(self.Y, self.P) == pytest.approx(2 / 3)
        assert log_loss(self.Y, self.P) == pytest.approx(-(np.log(0.7) + np.log(0.5) + np.log(0.3)) / 3)
        first, second, third = 0.3**2 + 0.2**2 + 0.1**2, 0.2**2 + 0.5**2 + 0.3**2, 0.3**2 + 0.4**2 + 0.7**2
        assert brier(self.Y, self.P) == pytest.approx((first + second + third) / 3)

    def test_binary_hand_arithmetic(self):
        assert accuracy([0, 1, 1], [0.4, 0.6, 0.2]) == pytest.approx(2 / 3)
        assert log_loss([0, 1], [0.4, 0.9]) == pytest.approx(-(np.log(0.6) + np.log(0.9)) / 2)
        assert brier([0, 1], [0.4, 0.9]) == pytest.approx((0.16 + 0.01) / 2)

    def test_equal_probabilities_mean_the_first_class(self):
        assert accuracy([0, 1], [[0.5, 0.5], [0.5, 0.5]]) == 0.5

    @pytest.mark.parametrize("classes", [2, 4])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_as_scikit_learn(self, classes, dtype):
        rng = np.random.default_rng(classes)
        y, p = rng.integers(classes, size=90), random_probabilities(rng, 90, classes).astype(dtype)
        labels = list(range(classes))
        assert accuracy(y, p) == pytest.approx(sk.accuracy_score(y, p.argmax(axis=1)))
        assert log_loss(y, p) == pytest.approx(sk.log_loss(y, p, labels=labels), rel=1e-6)
        truth = np.eye(classes)[y]
        assert brier(y, p) == pytest.approx(
            ((truth - p) ** 2).sum(axis=1).mean() / (2 if classes == 2 else 1), rel=1e-6
        )
        if classes == 2:
            assert brier(y, p) == pytest.approx(sk.brier_score_loss(y, p[:, 1]), rel=1e-6)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_a_certain_but_wrong_prediction_costs_finitely(self, dtype):
        p = np.array([[1, 0], [0, 1]], dtype=dtype)
        assert log_loss([1, 0], p) == pytest.approx(-np.log(np.finfo(dtype).eps))
        assert log_loss([0, 1], p) == pytest.approx(0, abs=1e-6)

    @pytest.mark.parametrize("of", [log_loss, brier])
    def test_scores_that_are_no_probabilities_are_refused(self, of):
        with raises(TableError, "out_of_range", name="predictions", row=1, value=[2.0, 1.0]):
            of([0, 1], [[0.5, 0.5], [2.0, 1.0]])
        with raises(TableError, "out_of_range", name="predictions", row=1, value=[-0.5, 1.5]):
            of([0, 1], [[0.5, 0.5], [-0.5, 1.5]])
        assert accuracy([0, 1], [[3.0, 1.0], [-2.0, 1.0]]) == 1.0  # which only ranks


class TestRegression:
    def test_hand_arithmetic(self):
        y, mean = [1.0, 2.0, 6.0], [[2.0], [2.0], [4.0]]  # errors 1, 0, 2; y varies by 4 + 1 + 9
        assert mae(y, mean) == pytest.approx(1.0)
        assert rmse(y, mean) == pytest.approx(np.sqrt(5 / 3))
        assert r2(y, mean) == pytest.approx(1 - 5 / 14)

    @pytest.mark.parametrize("offset", [0.0, 1e8])
    def test_as_scikit_learn(self, offset):
        rng = np.random.default_rng(3)
        y = rng.normal(size=70) + offset
        mean = y + rng.normal(size=70)
        assert r2(y, mean) == pytest.approx(sk.r2_score(y, mean))
        assert rmse(y, mean[:, None]) == pytest.approx(sk.root_mean_squared_error(y, mean))
        assert mae(y, mean) == pytest.approx(sk.mean_absolute_error(y, mean))

    @pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
    def test_r2_of_a_constant_is_an_error(self, value):
        with raises(TableError, "one_class", name="r2", rows=7):
            r2(np.full(7, value), np.zeros(7))


class TestWeights:
    @pytest.mark.parametrize("name", NAMES)
    def test_a_weight_of_two_is_a_case_twice(self, name):
        of, rng = metric(name), np.random.default_rng(4)
        if of.task == "classification":
            y, predictions = rng.integers(3, size=50), random_probabilities(rng, 50, 3, decimals=None)
        else:
            y, predictions = rng.normal(size=50), rng.normal(size=(50, 1))
        weights = rng.integers(4, size=(5, 50)).astype(float)
        repeated = [np.repeat(np.arange(50), w.astype(int)) for w in weights]
        expected = [of(y[rows], predictions[rows]) for rows in repeated]
        np.testing.assert_allclose(of.weighted(y, predictions, weights), expected)

    def test_undefined_rows_are_nan(self):
        y, p = np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]])
        weights = np.array([[1.0, 1, 1], [0, 2, 1], [3, 0, 0]])
        np.testing.assert_array_equal(auroc.weighted(y, p, weights), [1.0, np.nan, np.nan])
        far = r2.weighted(np.array([1.0, 1e9, 2.0]), np.zeros((3, 1)), np.array([[0.0, 3, 0], [1, 0, 1]]))
        assert np.isnan(far[0])
        assert far[1] == pytest.approx(1 - 2.5 / 0.25)


class TestErrors:
    @pytest.mark.parametrize(
        ("y", "p", "code", "fields"),
        [
            ([0, 1], [[0.5, 0.5]], "wrong_shape", {"shape": (1, 2), "expected": (2,)}),
            ([], np.zeros((0, 2)), "wrong_shape", {"shape": (0, 2), "expected": (0,)}),
            ([[0], [1]], [0.5, 0.5], "wrong_shape", {"expected": (2, 1)}),
            (["no", "yes"], [0.5, 0.5], "bad_label", {"name": "y", "value": "<U3"}),
            ([0.0, 1.0], [0.5, 0.5], "bad_label", {"name": "y", "value": "float64"}),
            ([0, 2], [0.5, 0.5], "bad_label", {"name": "y", "row": 1, "value": 2}),
            ([0, -1], np.full((2, 3), 1 / 3), "bad_label", {"name": "y", "row": 1, "value": -1}),
            ([0, 1], [0.5, np.nan], "out_of_range", {"name": "predictions", "row": 1}),
        ],
    )
    def test_classification(self, y, p, code, fields):
        with raises(TableError, code, **fields):
            accuracy(y, p)

    def test_regression(self):
        with raises(ParameterError, "wrong_shape", name="predictions", shape=(2, 2), expected=(2, 1)):
            mae([1.0, 2.0], np.ones((2, 2)))
        with raises(TableError, "bad_label", name="y", row=1, value=np.inf):
            mae([1.0, np.inf], [1.0, 1.0])

    def test_booleans_and_unsigned_codes_are_codes(self):
        assert accuracy(np.array([False, True]), [0.1, 0.9]) == 1.0
        assert accuracy(np.array([0, 1], dtype=np.uint8), [0.1, 0.9]) == 1.0


class TestLookUp:
    def test_all_is_the_public_surface(self):
        assert metrics.__all__ == sorted(metrics.__all__)
        assert sorted([*NAMES, "Metric", "curve", "metric", "usual_metric"]) == metrics.__all__

    @pytest.mark.parametrize("name", NAMES)
    def test_a_metric_describes_itself(self, name):
        of = metric(name)
        assert of is getattr(metrics, name)
        assert of.__name__ == name
        assert of.task in ("classification", "regression")
        assert of.label
        assert isinstance(of.greater_is_better, bool)
        assert list(inspect.signature(of).parameters) == ["y", "predictions"]
        assert pickle.loads(pickle.dumps(of)) is of

    def test_what_is_better(self):
        better = {name for name in NAMES if metric(name).greater_is_better}
        assert better == {"accuracy", "auroc", "r2"}

    def test_errors_name_the_nearest(self):
        with raises(ParameterError, "unknown_name", name="auc", nearest="auroc"):
            metric("auc")
        with raises(ParameterError, "unknown_name", name="curve of nothing", nearest=None, choices=NAMES):
            metric("curve of nothing")

    def test_import_is_light(self):
        heavy = "torch", "sklearn", "pandas", "matplotlib"
        code = f"import sys, askless.metrics; print([m for m in {heavy!r} if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


class TestCurve:
    def setup_method(self):
        rng = np.random.default_rng(5)
        self.y = rng.integers(3, size=150)
        noise = rng.normal(size=(150, 5, 3))
        logits = noise + np.arange(5)[None, :, None] * np.eye(3)[self.y][:, None] * 0.7
        p = np.exp(logits)
        self.trajectory = trajectory_of(p / p.sum(axis=2, keepdims=True))

    @pytest.mark.parametrize("name", ["auroc", "accuracy", "log_loss", "brier"])
    def test_each_row_is_the_score_at_its_budget(self, name):
        frame = curve(self.trajectory, self.y, name)
        assert list(frame.columns) == ["budget", "score"]
        assert frame["budget"].tolist() == [0, 1, 2, 3, 4]
        expected = [metric(name)(self.y, self.trajectory.at(k)) for k in range(5)]
        np.testing.assert_array_equal(frame["score"], expected)

    def test_budgets_and_a_metric_itself(self):
        frame = curve(self.trajectory, self.y, accuracy, budgets=np.array([4, 1, 99]))
        assert frame["budget"].tolist() == [4, 1, 99]
        assert frame["score"].tolist() == [accuracy(self.y, self.trajectory.at(k)) for k in (4, 1, 4)]
        assert curve(self.trajectory, self.y, "accuracy", budgets=[]).empty

    def test_the_label_for_the_axis(self):
        assert curve(self.trajectory, self.y, "log_loss").attrs == {"label": "log loss"}

    def test_a_case_that_stopped_keeps_its_last_prediction(self):
        p = np.array([[[0.5, 0.5], [0.9, 0.1], [0.9, 0.1]], [[0.5, 0.5], [0.6, 0.4], [0.2, 0.8]]])
        stopped = trajectory_of(p, order=np.array([[0, -1], [0, 1]]))
        assert curve(stopped, [0, 1], "accuracy")["score"].tolist() == [0.5, 0.5, 1.0]

    @pytest.mark.parametrize("make", [np.array, list, pd.Series, lambda y: pd.Series(y, dtype="category")])
    def test_text_is_looked_up_among_the_classes(self, make):
        t = replace(self.trajectory, outputs=("bad", "good", "ugly"))
        labels = make(np.array(t.outputs)[self.y].tolist())
        codes, text = (curve(t, y, "auroc", interval=0.95, n_boot=20) for y in (self.y, labels))
        pd.testing.assert_frame_equal(codes, text)

    def test_a_label_that_is_no_class(self):
        t = replace(self.trajectory, outputs=("bad", "good", "ugly"))
        labels = np.array(t.outputs)[self.y].tolist()
        for wrong in ("god", None):
            with raises(TableError, "unknown_label", row=7, label=wrong, choices=["bad", "good", "ugly"]) as caught:
                curve(t, [*labels[:7], wrong, *labels[8:]], "auroc")
            assert f"label {wrong!r} in y, row 7 (0-based)" in str(caught.value)
        with raises(TableError, "bad_label", name="y"):
            curve(self.trajectory, labels, "auroc")  # it does not know its classes

    def test_regression(self):
        means = np.array([[[2.0], [1.0]], [[2.0], [3.0]]])
        frame = curve(trajectory_of(means, outputs=("mean",)), [1.0, 3.0], "rmse")
        assert frame["score"].tolist() == [1.0, 0.0]

    @pytest.mark.parametrize("name", ["auroc", "accuracy", "brier"])
    def test_the_interval_is_that_of_resampled_cases(self, name):
        frame = curve(self.trajectory, self.y, name, interval=0.8, n_boot=60, random_state=7)
        assert list(frame.columns) == ["budget", "score", "low", "high"]
        (weights,) = metrics._resamples(150, 60, np.random.default_rng(7))
        assert (weights.sum(axis=1) == 150).all()
        rows = [np.repeat(np.arange(150), w.astype(int)) for w in weights]
        for k in range(5):
            p = self.trajectory.at(k)
            scores = [metric(name)(self.y[r], p[r]) for r in rows]
            assert frame["low"][k] == pytest.approx(np.quantile(scores, 0.1))
            assert frame["high"][k] == pytest.approx(np.quantile(scores, 0.9))

    def test_the_interval_of_a_mean_is_as_wide_as_theory_says(self):
        rng = np.random.default_rng(8)
        y = (rng.random(2000) < 0.7).astype(int)
        always = trajectory_of(np.tile([0.0, 1.0], (2000, 1, 1)))
        frame = curve(always, y, "accuracy", interval=0.95, n_boot=2000)
        wide = (frame["high"] - frame["low"])[0]
        assert wide == pytest.approx(2 * 1.96 * np.sqrt(0.7 * 0.3 / 2000), rel=0.1)

    def test_the_same_seed_gives_the_same_interval(self):
        first = curve(self.trajectory, self.y, "auroc", interval=0.95)
        pd.testing.assert_frame_equal(first, curve(self.trajectory, self.y, "auroc", interval=0.95))
        other = curve(self.trajectory, self.y, "auroc", interval=0.95, random_state=1)
        assert not first["low"].equals(other["low"])

    def test_blocks_of_resamples_change_nothing_but_memory(self, monkeypatch):
        monkeypatch.setattr(metrics, "BLOCK", 150 * 7)
        blocks = list(metrics._resamples(150, 20, np.random.default_rng(0)))
        assert [len(b) for b in blocks] == [7, 7, 6]
        frame = curve(self.trajectory, self.y, "auroc", interval=0.95, n_boot=20)
        assert (frame["low"] <= frame["high"]).all()

    def test_undefined_resamples_are_left_out(self):
        p = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]])[:, None]
        frame = curve(trajectory_of(p), [0, 0, 1], "auroc", interval=0.9)  # 8 in 27 resamples lack the 1
        assert frame[["low", "high"]].to_numpy().tolist() == [[1.0, 1.0]]

    def test_an_interval_without_a_defined_resample_is_nan(self):
        rare, same = np.r_[1, np.zeros(400, dtype=int)], trajectory_of(np.full((401, 1, 2), 0.5))
        outcomes = set()
        for seed in range(8):
            drawn = next(metrics._resamples(401, 1, np.random.default_rng(seed)))[0, 0] > 0
            frame = curve(same, rare, "auroc", interval=0.9, n_boot=1, random_state=seed)
            assert frame["low"].isna()[0] == (not drawn)
            outcomes.add(bool(drawn))
        assert outcomes == {True, False}

    @pytest.mark.parametrize("wrong", [{"interval": 95}, {"interval": 0.0}, {"interval": 0.9, "n_boot": 0}])
    def test_wrong_arguments(self, wrong):
        with raises(ParameterError, "out_of_range", name=list(wrong)[-1], value=list(wrong.values())[-1]):
            curve(self.trajectory, self.y, "auroc", **wrong)

    def test_wrong_lengths_and_names(self):
        with raises(TableError, "wrong_shape", name="predictions"):
            curve(self.trajectory, self.y[1:], "auroc")
        with raises(ParameterError, "unknown_name", name="aurocc", nearest="auroc"):
            curve(self.trajectory, self.y, "aurocc")
        with raises(ParameterError, "out_of_range", name="k", value=-1):
            curve(self.trajectory, self.y, "auroc", budgets=[-1])
