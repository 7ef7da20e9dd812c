"""LassoNet: the fast step against the library's own, ranks by hand and against planted signals."""

import sys

import numpy as np
import pytest
import torch

from askless import DynamicClassifier
from askless.exceptions import ParameterError
from askless.methods import Lassonet
from askless.methods.lassonet import _padded, _prox_of_all_groups, ranked_by_leaving
from tests.coded import raises
from tests.methods.given_rows import first, problem_of
from tests.methods.planted import BEST, SECOND, Silent, planted

lassonet = pytest.importorskip("lassonet")

QUICK = {"units": 16, "dense_epochs": 40, "stage_epochs": 8, "path_multiplier": 1.3, "batch_size": 128}


def scores_of(method, problem, seed=0):
    return method._scores(problem, seed, Silent(), None)[0]


@pytest.mark.parametrize("penalty", [0.0, 0.05, 1.0])
def test_one_step_for_all_groups_is_the_librarys_step_for_each(penalty):
    from lassonet.model import LassoNet
    from lassonet.prox import prox

    groups = [[0], [1, 2, 6], [3, 4], [5]]
    mine, theirs = (LassoNet(7, 9, 3, groups=groups) for _ in range(2))
    source = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for own, other in zip(mine.parameters(), theirs.parameters(), strict=True):
            own.copy_(0.3 * torch.randn(own.shape, generator=source))
            other.copy_(own)
    before = mine.skip.weight.detach().clone()
    _prox_of_all_groups(mine, prox, *_padded(groups), lambda_=penalty, M=2.0)
    theirs.prox(lambda_=penalty, M=2.0)
    assert not torch.equal(before, mine.skip.weight)
    for own, other in zip(mine.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=0, atol=1e-6)
    gone = mine.skip.weight.detach().abs().sum(dim=0) == 0
    assert torch.equal(gone[[1, 2, 6]], gone[[1, 1, 1]])  # a group leaves as a whole


def test_the_rank_is_how_long_a_feature_stays():
    norms = np.array([[0.3, 0.2, 0.5, 0.1], [0.3, 0.0, 0.4, 0.2], [0.2, 0.0, 0.0, 0.0]])
    assert ranked_by_leaving(norms).tolist() == [3, 0, 2, 1]  # the last two leave together


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_what_matters_leaves_last_and_groups_are_whole(task):
    problem = planted(task, gaps=0.1)
    told = Silent()
    scores, history = Lassonet(**QUICK)._scores(problem, 0, told, None)
    assert first(scores, 2) == [BEST, SECOND]
    assert sorted(scores) == list(range(len(problem.schema)))  # no two are equal: every budget is met
    assert history[0]["features"] == 5
    assert history[-1]["features"] == 0
    assert len(told.told) == len(history) + 1


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
