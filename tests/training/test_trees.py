"""Boosted trees that learn from the partial records of a policy."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from askless.acquisition import Cases, State
from askless.models.ensemble import with_gaps
from askless.training import Asked, fit_forests
from askless.training.trees import _Model, _Nodes
from tests.methods.planted import planted


def test_rows_come_to_know_a_feature_when_it_is_answered():
    cases = Cases(np.arange(1, 13, dtype=np.float32).reshape(3, 4), np.array([[1, 1, 1], [0, 1, 1], [0, 1, 0]], bool))
    order = np.array([[2, 0, 1], [0, 2, 1], [0, 1, -1]])
    asked, column_feature = Asked(cases, np.arange(3), order), np.array([0, 0, 1, 2])
    rows, state = asked.at(1, column_feature)
    x = with_gaps(state, column_feature)
    assert_array_equal(rows, [0, 1, 2])
    assert_array_equal(x, [[np.nan] * 3 + [4], [np.nan] * 3 + [8], [np.nan, np.nan, 11, np.nan]])
    rows, state = asked.at(2, column_feature)
    x = with_gaps(state, column_feature)
    assert_array_equal(rows, [0, 1])
    assert_array_equal(x, [[1, 2, np.nan, 4], [np.nan, np.nan, 7, 8]])
    assert_array_equal(asked.at(3, column_feature)[0], [0])


def all_asked(problem, rows, seed):
    """Rows asked for everything in random orders."""
    cases, y = problem.train[rows], problem.y_train[rows]
    orders = np.random.default_rng(seed).permuted(np.tile(np.arange(len(problem.schema)), (len(y), 1)), axis=1)
    return Asked(cases, y, orders)


@pytest.mark.parametrize(("task", "n_classes"), [("classification", 2), ("classification", 3), ("regression", 0)])
def test_numpy_predicts_as_scikit_learn_does(task, n_classes):
    problem = replace(planted(task, gaps=0.1, n_classes=n_classes or 2), max_features=5)
    columns = np.arange(problem.schema.n_columns)
    train, new = all_asked(problem, slice(0, 400), 0), all_asked(problem, slice(400, 600), 1)
    for known in (1, 3):
        model = _Model.of(train, known, problem, columns)
        model.grow(30)
        nodes = _Nodes(problem.n_outputs)
        nodes.add([model], 20, 1)
        rows, state = new.at(known, problem.schema.column_feature)
        x = with_gaps(state, problem.schema.column_feature)
        expected = list(model.staged(x, problem.n_outputs))[19]
        found = nodes.forests()(state, problem.schema.column_feature)
        assert len(rows) > 100
        assert_allclose(found if task == "regression" else softmax(found, axis=1), expected, atol=1e-5)


def test_the_mean_of_several_models_is_that_of_their_logits():
    problem = planted("classification")
    columns = np.arange(problem.schema.n_columns)
    models = [_Model.of(all_asked(problem, slice(a, a + 300), a), 2, problem, columns) for a in (0, 300)]
    for model in models:
        model.grow(10)
    tables = [_Nodes(problem.n_outputs) for _ in range(3)]
    for table, members in zip(tables, (models, models[:1], models[1:]), strict=True):
        table.add(members, 10, 1)
    cases = problem.valid
    state = State.of(cases, problem.schema.column_feature, np.ones_like(cases.present))
    both, first, second = (table.forests()(state, problem.schema.column_feature) for table in tables)
    assert_allclose(both, (first + second) / 2, atol=1e-5)


def test_a_class_without_rows_stays_possible():
    problem = planted("classification", n_classes=3)
    rows = np.flatnonzero(problem.y_train != 1)[:200]
    train = all_asked(problem, rows, 0)
    (mean, _) = fit_forests([(train, train)], problem, np.arange(problem.schema.n_columns))
    state = State.of(train.cases, problem.schema.column_feature, np.ones_like(train.cases.present))
    chances = softmax(mean(state, problem.schema.column_feature), axis=1)[:, 1]
    assert ((chances > 0) & (chances < 0.2)).all()


@pytest.mark.parametrize(("rows", "y"), [(slice(0, 30), None), (slice(0, 300), 0)])
def test_without_rows_enough_there_are_no_trees(rows, y):
    problem = planted("classification")
    train = all_asked(problem, rows, 0)
    train = train if y is None else replace(train, y=np.full(len(train.y), y))
    assert fit_forests([(train, train)], problem, np.arange(problem.schema.n_columns)) is None


def test_large_budgets_share_forests():
    problem = replace(planted("classification"), max_features=5)
    train = all_asked(problem, slice(0, 300), 0)
    columns = np.arange(problem.schema.n_columns)
    (mean, _) = fit_forests([(train, train)], problem, columns)
    assert mean.known.tolist() == [1, 2, 3, 4, 5]
    (mean, _) = fit_forests([(train, train)], replace(problem, max_features=35), columns)
    assert mean.known.tolist() == [1, 2, 3, 4, 5]  # and no more are known of any row
