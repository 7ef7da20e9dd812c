"""When to stop asking."""

import array_api_strict
import numpy as np
import pytest
import torch

from askless.core import NOTHING_LEFT, Asker, MaxFeatures, Progress, Schema, State
from askless.core.choice import ceiling_of, narrowed
from askless.core.stopping import as_rules, stop_reason
from askless.exceptions import ParameterError
from tests.coded import raises
from tests.core.linear import Spent


def progress_of(make, counts, spent):
    mask = make(np.zeros((len(counts), 1), dtype=bool))
    empty = make(np.zeros((len(counts), 1)))
    asker = Asker(None, None, Schema.of_numbers(["a"]))
    state = State(empty, mask, mask)
    return Progress(
        state, make(np.array(counts)), make(np.array(spent)), empty, asker, ceiling_of(~state.asked, state.x)
    )


@pytest.mark.parametrize("make", [np.asarray, torch.asarray, array_api_strict.asarray])
def test_the_first_rule_that_fires(make):
    progress = progress_of(make, [0, 1, 2, 3], [0.0, 5.0, 0.0, 5.0])
    assert np.asarray(MaxFeatures(2).stops(progress)).tolist() == [False, False, True, True]
    ceiling, fired = narrowed(progress, [MaxFeatures(2), Spent(5.0)])
    assert np.asarray(fired).tolist() == [-1, 1, 0, 0]
    assert np.asarray(ceiling > 0).tolist() == [[True], [False], [False], [False]]
    assert np.asarray(narrowed(progress, [])[1]).tolist() == [-1] * 4


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
    with raises(ParameterError, "out_of_range", name="limit", low=0):
        MaxFeatures(limit)


def test_a_limit_can_be_made_again():
    rule = MaxFeatures(np.int64(4))
    assert repr(rule) == "MaxFeatures(4)"
    assert MaxFeatures(**rule.config()).limit == 4
    assert type(rule.config()["limit"]) is int
