"""When to stop asking."""

import array_api_strict
import numpy as np
import pytest
import torch

from askless.core import NOTHING_LEFT, MaxFeatures, Progress, State
from askless.core.stopping import as_rules, first_stop, stop_reason
from tests.core.linear import Spent


def progress_of(make, counts, spent):
    mask = make(np.zeros((len(counts), 1), dtype=bool))
    empty = make(np.zeros((len(counts), 1)))
    return Progress(State(empty, mask, mask), make(np.array(counts)), make(np.array(spent)), empty)


@pytest.mark.parametrize("make", [np.asarray, torch.asarray, array_api_strict.asarray])
def test_the_first_rule_that_fires(make):
    progress = progress_of(make, [0, 1, 2, 3], [0.0, 5.0, 0.0, 5.0])
    assert np.asarray(MaxFeatures(2).stops(progress)).tolist() == [False, False, True, True]
    fired = first_stop([MaxFeatures(2), Spent(5.0)], progress)
    assert np.asarray(fired).tolist() == [-1, 1, 0, 0]
    assert np.asarray(first_stop([], progress)).tolist() == [-1] * 4


def test_reasons():
    rules = [MaxFeatures(1), MaxFeatures(3)]
    assert [stop_reason(rules, i) for i in (-1, 0, 1)] == [NOTHING_LEFT, "asked 1 feature", "asked 3 features"]


def test_what_a_caller_means():
    one = MaxFeatures(1)
    assert as_rules(None) == ()
    assert as_rules(one) == (one,)
    assert as_rules([one, one]) == (one, one)


@pytest.mark.parametrize("limit", [-1, 1.5, True, "3", float("inf"), None, float("nan")])
def test_a_limit_is_a_whole_number(limit):
    with pytest.raises(ValueError, match=r"the number of features to ask is .*; it must be an integer of at least 0"):
        MaxFeatures(limit)


def test_a_limit_can_be_made_again():
    rule = MaxFeatures(np.int64(4))
    assert repr(rule) == "MaxFeatures(4)"
    assert MaxFeatures(**rule.config()).limit == 4
    assert type(rule.config()["limit"]) is int
