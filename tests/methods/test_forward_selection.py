"""Forward selection against a literal one, and on planted signals."""

import itertools

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss, mean_squared_error

from askless.acquisition import Cases, Feature, Part, Schema
from askless.exceptions import TrainingError
from askless.methods import ForwardSelection, forward_selection
from askless.methods.forward_selection import _Trees
from askless.training import Checkpoint, Problem, Progress
from tests.coded import raises


def problem_of(schema, x, y, *, task="classification", present=None, max_features=3):
    """The first half of the rows trains, the second validates."""
    present = np.ones((len(x), len(schema)), dtype=bool) if present is None else present
    cases = Cases(np.where(present[:, schema.column_feature], x, 0).astype(np.float32), present)
    n_classes = int(y.max()) + 1 if task == "classification" else 0
    half = len(y) // 2
    return Problem(
        schema=schema,
        train=cases[:half],
        y_train=y[:half],
        valid=cases[half:],
        y_valid=y[half:],
        task=task,
        n_classes=n_classes,
        max_features=max_features,
    )


def order(problem, checkpoint=None, progress=None, **settings):
    method = ForwardSelection(**{"iterations": 5, **settings})
    scores, history = method._scores(problem, 0, progress or Progress(), checkpoint)
    return np.argsort(-scores, kind="stable").tolist(), history


def numbers(count):
    return Schema.of_numbers([f"x{i}" for i in range(count)])


@pytest.fixture
def mixed():
    """Two classes, five features of which one is a group of two columns, values missing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = rng.normal(size=(400, 6)) + y[:, None] * np.array([0.2, 0.5, 0.5, 0.0, 1.0, 0.7])
    parts = (Part("a", "number"), Part("b", "number"))
    singles = [Feature(f"x{i}", (Part(f"x{i}", "number"),), i + 1, i + 2) for i in range(2, 5)]
    schema = Schema((Feature("x0", (Part("x0", "number"),), 0, 1), Feature("g", parts, 1, 3), *singles))
    return problem_of(schema, x, y, present=rng.random((400, 5)) < 0.8)


def literal_losses(problem, chosen, settings):
    """The loss of every set of one more feature, with plain scikit-learn."""
    columns = {0: [0], 1: [1, 2], 2: [3], 3: [4], 4: [5]}
    gaps = [
        np.where(np.repeat(part.present, [1, 2, 1, 1, 1], axis=1), part.x, np.nan)
        for part in (problem.train, problem.valid)
    ]
    losses = {}
    for feature in sorted(set(columns) - set(chosen)):
        used = [column for each in [*chosen, feature] for column in columns[each]]
        model = HistGradientBoostingClassifier(**settings).fit(gaps[0][:, used], problem.y_train)
        losses[feature] = log_loss(problem.y_valid, model.predict_proba(gaps[1][:, used]))
    return losses


def test_is_literal_forward_selection(mixed):
    settings = _Trees(mixed, 5, seed=0).settings
    chosen, losses, best = [], {}, []
    for _ in range(3):
        losses = literal_losses(mixed, chosen, settings)
        chosen.append(min(losses, key=losses.get))
        best.append(losses[chosen[-1]])
    rest = sorted(set(losses) - set(chosen), key=losses.get)
    found, history = order(mixed)
    assert found == chosen + rest
    assert [row["valid_loss"] for row in history] == pytest.approx(best, abs=1e-9)
    assert [row["epoch"] for row in history] == [1, 2, 3]


def test_a_copy_of_what_is_known_is_not_asked():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 2000)
    strong = y + rng.normal(size=2000)
    copy, noise, weak = strong + 0.6 * rng.normal(size=2000), rng.normal(size=2000), 0.6 * y + rng.normal(size=2000)
    x = np.stack([copy, strong, noise, weak], axis=1)
    found, _ = order(problem_of(numbers(4), x, y, max_features=2), iterations=20)
    assert found[:2] == [1, 3]  # the copy, x0, says more than x3, but nothing new


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_group_is_tried_as_a_whole(task):
    rng = np.random.default_rng(0)
    a, b, weak, noise = rng.normal(size=(4, 1200))
    y = ((a > 0) ^ (b > 0)).astype(int)
    x = np.stack([noise, a, b, weak + 0.7 * y], axis=1)
    pair = Feature("pair", (Part("a", "number"), Part("b", "number")), 1, 3)
    one = [Feature(name, (Part(name, "number"),), at, at + 1) for name, at in (("noise", 0), ("weak", 3))]
    target = y if task == "classification" else 5.0 + 2.0 * y
    problem = problem_of(Schema((one[0], pair, one[1])), x, target, task=task, max_features=1)
    found, _ = order(problem, iterations=30)
    assert found == [1, 2, 0]


def test_regression_losses_are_squared_standard_deviations():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = 40.0 * x[:, 1] + rng.normal(size=300)
    problem = problem_of(numbers(2), x, y, task="regression", max_features=1)
    found, history = order(problem)
    assert found == [1, 0]
    trees = _Trees(problem, 5, seed=0)
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(**trees.settings).fit(problem.train.x[:, 1:], problem.y_train)
    expected = mean_squared_error(problem.y_valid, model.predict(problem.valid.x[:, 1:])) / problem.y_train.var()
    assert history[0]["valid_loss"] == pytest.approx(expected)


def test_two_channels_of_a_number_are_one_column(mixed):
    x = np.random.default_rng(0).normal(size=(100, 2))
    x = np.stack([x[:, 0], np.arctan(x[:, 0]), x[:, 1], x[:, 1] ** 3], axis=1)
    schema = Schema(tuple(Feature(n, (Part(n, "number"),), 2 * i, 2 * i + 2) for i, n in enumerate("ab")))
    trees = _Trees(problem_of(schema, x, np.arange(100) % 2), 5, seed=0)
    assert [columns.tolist() for columns in trees.columns] == [[0], [2]]


# Which sets are tried


@pytest.fixture
def table_of_losses(monkeypatch):
    """Losses by hand instead of trees, and the sets that were tried."""
    alone = [0.5, 0.2, 0.6, 0.3, 0.4, 0.1]
    tried = []

    def loss(self, features):
        tried.append(tuple(features))
        redundant = 0.25 if {1, 5} <= set(features) else 0.0  # 1 and 5 say the same
        return sum(alone[feature] for feature in features) / len(features) ** 2 + redundant

    monkeypatch.setattr(_Trees, "loss", loss)
    return tried


def six(max_features=3):
    rng = np.random.default_rng(0)
    return problem_of(numbers(6), rng.normal(size=(40, 6)), rng.integers(0, 2, 40), max_features=max_features)


def test_every_feature_that_is_left_is_tried(table_of_losses):
    found, _ = order(six(), candidates=None)
    # 5 is best alone, 3 best with it (1 is redundant), then 4; the rest by the last round.
    assert found == [5, 3, 4, 0, 2, 1]
    assert [len(features) for features in table_of_losses] == [1] * 6 + [2] * 5 + [3] * 4


def test_only_candidates_are_tried_again(table_of_losses):
    found, _ = order(six(), candidates=4)  # 5, 1, 3, 4; then 0 and 2 as they were alone
    assert found == [5, 3, 4, 1, 0, 2]
    assert [len(features) for features in table_of_losses] == [1] * 6 + [2] * 3 + [3] * 2
    assert all(features[0] == 5 for features in table_of_losses[6:])
    table_of_losses.clear()
    order(six(), candidates=1)  # there are always as many as are to be chosen
    assert [len(features) for features in table_of_losses] == [1] * 6 + [2] * 2 + [3]


def test_a_budget_of_everything(table_of_losses):
    found, _ = order(six(max_features=6))
    assert sorted(found) == list(range(6))
    assert table_of_losses[-1] == tuple(found)


def test_progress_counts_every_fit(table_of_losses):
    class Told(Progress):
        def start(self, total):
            self.total, self.done = total, []

        def epoch(self, done, phase, row):
            self.done.append(done)

    told = Told()
    order(six(), progress=told, candidates=4)
    assert told.done == list(range(1, told.total + 1)) == list(range(1, 12))


class Killed(Exception):
    pass


def test_a_fit_that_was_killed_goes_on(table_of_losses, tmp_path):
    class Kill(Progress):
        def epoch(self, done, phase, row):
            if done == 14:  # in the third step
                raise Killed

    undisturbed = order(six())
    file = tmp_path / "checkpoint"
    with pytest.raises(Killed):
        order(six(), Checkpoint(file, "same"), Kill())
    table_of_losses.clear()
    assert order(six(), Checkpoint(file, "same")) == undisturbed
    assert {len(features) for features in table_of_losses} == {3}  # what was finished is not tried again


def test_large_tables_are_sampled_with_every_class(monkeypatch):
    monkeypatch.setattr(forward_selection, "ROWS", 50)
    rng = np.random.default_rng(0)
    y = np.zeros(2000, dtype=int)
    y[500:510], y[700] = 1, 2
    y[1500:1505] = 1
    trees = _Trees(problem_of(numbers(2), rng.normal(size=(2000, 2)), y), 3, seed=0)
    assert 50 <= len(trees.y) == len(trees.x) <= 53
    assert set(trees.y) == {0, 1, 2}
    assert np.isfinite(trees.loss([0]))


def test_threads_are_left_as_they_were():
    from threadpoolctl import threadpool_info

    before = [pool["num_threads"] for pool in threadpool_info()]
    order(six())
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_a_loss_that_is_not_finite_ends_the_fit(monkeypatch):
    losses = itertools.chain([0.5] * 7, itertools.repeat(float("nan")))  # in the second of the steps
    monkeypatch.setattr(_Trees, "loss", lambda self, features: next(losses))
    with raises(TrainingError, "diverged", method="forward_selection", phase="forward selection", epoch=2):
        ForwardSelection(epochs=1).fit(six(), seed=0, progress=Progress())
