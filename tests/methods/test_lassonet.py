"""LassoNet: ranks by hand and against planted signals."""

import sys

import numpy as np
import pytest
import torch

from askless import DynamicClassifier
from askless.exceptions import ParameterError
from askless.methods import Lassonet
from askless.methods.lassonet import _tables
from askless.methods.static import ranked_by_leaving
from tests.coded import raises
from tests.methods.given_rows import copied_rows, first, problem_of
from tests.methods.planted import BEST, SECOND, Silent, planted

lassonet = pytest.importorskip("lassonet")

QUICK = {"units": 16, "dense_epochs": 40, "stage_epochs": 8, "path_multiplier": 1.3, "batch_size": 128}


def scores_of(method, problem, seed=0):
    return method._scores(problem, seed, Silent(), None)[0]


def test_without_groups_the_ranking_is_the_same(monkeypatch):
    """The library is given groups only where a feature has several columns."""
    problem = problem_of(*copied_rows(n=300), 3)
    given = []

    class InGroups(lassonet.LassoNetClassifier):
        def __init__(self, *, groups, **settings):
            given.append(groups)
            super().__init__(groups=[[i] for i in range(6)], **settings)

    alone = scores_of(Lassonet(**QUICK), problem)
    monkeypatch.setattr(lassonet, "LassoNetClassifier", InGroups)
    assert scores_of(Lassonet(**QUICK), problem).tolist() == alone.tolist()
    assert given == [None]


def test_numbers_have_one_column_and_gaps_one_more():
    x = np.random.default_rng(0).normal(size=(90, 5))
    x[:, 2] = np.tanh(x[:, 1])  # a number in two columns; the last feature is a group
    present = np.ones((90, 3), dtype=bool)
    present[:40, 2] = False
    problem = problem_of(x, (x[:, 0] > 0).astype(int), 2, widths=[1, 2, 2], present=present)
    (train, valid), _, groups = _tables(problem, 50)
    assert groups == [[0], [1], [2, 3, 4]]
    assert train.shape == (50, 5)
    np.testing.assert_array_equal(valid[:, :4], problem.valid.x[:, [0, 1, 3, 4]])
    assert valid[:, 4].all()


def test_the_rank_is_how_long_a_feature_stays():
    norms = np.array([[0.3, 0.2, 0.5, 0.1], [0.3, 0.0, 0.4, 0.2], [0.2, 0.0, 0.0, 0.0]])
    assert ranked_by_leaving(norms).tolist() == [3, 0, 2, 1]  # the last two leave together


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_what_matters_leaves_last_and_groups_are_whole(task):
    problem = planted(task, gaps=0.1)
    progress = Silent()
    scores, history = Lassonet(**QUICK)._scores(problem, 0, progress, None)
    assert first(scores, 2) == [BEST, SECOND]
    assert sorted(scores) == list(range(len(problem.schema)))  # no two are equal: every budget is met
    assert history[0]["features"] == 5
    assert history[-1]["features"] == 0
    assert len(progress.told) == len(history) + 1


def test_that_a_value_is_missing_can_matter():
    rng = np.random.default_rng(0)
    x, present = rng.normal(size=(600, 4)), rng.random((600, 4)) > 0.3
    problem = problem_of(x, present[:, 2].astype(int), 1, present=present)
    assert first(scores_of(Lassonet(**QUICK), problem), 1) == [2]


def test_neither_reads_nor_moves_the_global_random_state():
    problem = planted("classification", n=90)
    method = Lassonet(**(QUICK | {"stage_epochs": 1}))
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one = scores_of(method, problem)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert scores_of(method, problem).tolist() == one.tolist()


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lassonet", None)
    x = np.random.default_rng(0).normal(size=(60, 3))
    requirement = "lassonet>=0.0.21,<0.1"
    with raises(ParameterError, "missing_package", name="lassonet", package="lassonet", requirement=requirement):
        DynamicClassifier(2, method="lassonet").fit(x, x[:, 0] > 0)
