"""What is not known is hidden."""

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.core import Cases, State
from tests.core.linear import schema_of


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 3), min_size=1, max_size=5), st.integers(0, 5))
def test_a_state_shows_what_was_asked_and_is_there_and_nothing_else(seed, widths, n):
    rng = np.random.default_rng(seed)
    schema = schema_of(widths)
    x = rng.normal(size=(n, schema.n_columns))
    present, asked = rng.random((2, n, len(schema))) < 0.5
    state = State.of(Cases(x, present), schema.column_feature, asked)
    for i in range(n):
        for j, feature in enumerate(schema.features):
            shown = asked[i, j] and present[i, j]
            columns = slice(feature.start, feature.stop)
            assert state.x[i, columns].tolist() == (x[i, columns].tolist() if shown else [0.0] * widths[j])
            assert state.known[i, j] == shown
    assert state.asked.tolist() == asked.tolist()
    assert len(state) == n


def test_hidden_values_cannot_come_through_infinity():
    cases = Cases(np.array([[np.inf, np.nan, 1.0]]), np.ones((1, 3), dtype=bool))
    state = State.of(cases, np.arange(3), np.array([[False, False, True]]))
    assert state.x.tolist() == [[0.0, 0.0, 1.0]]


@pytest.mark.parametrize("make", [np.asarray, torch.asarray, array_api_strict.asarray])
def test_the_next_state_has_one_question_more(make):
    schema = schema_of([1, 2, 1])
    x, present = np.arange(1.0, 13.0).reshape(3, 4), np.array([[True] * 3, [True, False, True], [True] * 3])
    cases, columns = Cases(make(x), make(present)), make(schema.column_feature)
    start = State.of(cases, columns, make(np.zeros((3, 3), dtype=bool)))
    after = start.after(make(np.array([1, 1, -1])), cases, columns)  # a negative pick asks nothing
    assert np.asarray(after.asked).tolist() == [[False, True, False], [False, True, False], [False] * 3]
    assert np.asarray(after.known).tolist() == [[False, True, False], [False] * 3, [False] * 3]
    assert np.asarray(after.x).tolist() == [[0, 2, 3, 0], [0] * 4, [0] * 4]
    assert not np.asarray(start.asked).any()


def test_cases_can_be_cut():
    cases = Cases(np.arange(8.0).reshape(4, 2), np.ones((4, 2), dtype=bool))
    assert len(cases) == 4
    assert cases[1:3].x.tolist() == [[2, 3], [4, 5]]
    assert cases[1:3].present.shape == (2, 2)
