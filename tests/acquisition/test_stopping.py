"""When to stop asking."""

import numpy as np
import pytest

from askless.acquisition import NOTHING_LEFT, Context, MaxFeatures, Progress, Schema, State
from askless.acquisition.choice import narrowed
from askless.acquisition.stopping import as_rules, stop_reason
from askless.exceptions import ParameterError
from tests.acquisition.linear import Linear, Spent
from tests.coded import raises

SCHEMA = Schema.of_numbers(["a"])


def progress_of(counts, spent):
    mask, empty = np.zeros((len(counts), 1), dtype=bool), np.zeros((len(counts), 1))
    linear = Linear(np.random.default_rng(0), SCHEMA)
    state = State(empty, mask, mask)
    return Progress(
        state=state,
        count=np.array(counts),
        spent=np.array(spent),
        prediction=empty,
        context=Context(linear, linear, SCHEMA),
    )


def test_the_first_rule_that_fires():
    progress = progress_of([0, 1, 2, 3], [0.0, 5.0, 0.0, 5.0])
    assert MaxFeatures(2).stops(progress).tolist() == [False, False, True, True]
    allowed, fired = narrowed(progress, [MaxFeatures(2), Spent(5.0)])
    assert fired.tolist() == [-1, 1, 0, 0]
    assert allowed.tolist() == [[True], [False], [False], [False]]
    assert narrowed(progress, [])[1].tolist() == [-1] * 4


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
