"""What is not known is hidden."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.acquisition import Cases, State
from tests.acquisition.linear import schema_of


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


def test_the_next_state_has_one_question_more():
    schema = schema_of([1, 2, 1])
    x, present = np.arange(1.0, 13.0).reshape(3, 4), np.array([[True] * 3, [True, False, True], [True] * 3])
    cases, columns = Cases(x, present), schema.column_feature
    start = State.of(cases, columns, np.zeros((3, 3), dtype=bool))
    after = start.after(np.array([1, 1, -1]), cases, schema)  # a negative pick asks nothing
    assert after.asked.tolist() == [[False, True, False], [False, True, False], [False] * 3]
    assert after.known.tolist() == [[False, True, False], [False] * 3, [False] * 3]
    assert after.x.tolist() == [[0, 2, 3, 0], [0] * 4, [0] * 4]
    assert not start.asked.any()


def test_cases_can_be_cut():
    cases = Cases(np.arange(8.0).reshape(4, 2), np.ones((4, 2), dtype=bool))
    assert len(cases) == 4
    assert cases[1:3].x.tolist() == [[2, 3], [4, 5]]
    assert cases[1:3].present.shape == (2, 2)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 3), min_size=1, max_size=6), st.integers(1, 6))
def test_states_that_follow_one_another_are_those_made_anew(seed, widths, n):
    rng = np.random.default_rng(seed)
    schema = schema_of(widths)
    cases = Cases(rng.normal(size=(n, schema.n_columns)), rng.random((n, len(schema))) < 0.7)
    state = State.of(cases, schema.column_feature, rng.random((n, len(schema))) < 0.2)
    while not state.asked.all():
        left = [np.flatnonzero(~row) for row in state.asked]
        pick = np.array([rng.choice(free) if len(free) and rng.random() < 0.8 else -1 for free in left])
        asked = state.asked.copy()
        asked[pick >= 0, pick[pick >= 0]] = True
        state, anew = state.after(pick, cases, schema), State.of(cases, schema.column_feature, asked)
        for name in ("x", "asked", "known"):
            assert getattr(state, name).tolist() == getattr(anew, name).tolist()
        assert len(state) == n


@pytest.mark.parametrize("widths", [[1, 4, 2], [3, 1], [1, 2, 5, 1]])
def test_an_answer_fills_its_own_columns_only(widths):
    """Features of fewer columns than the widest, also the last one of the table."""
    schema = schema_of(widths)
    n = len(widths)
    cases = Cases(np.arange(1.0, n * schema.n_columns + 1).reshape(n, -1), np.ones((n, n), dtype=bool))
    start = State.of(cases, schema.column_feature, np.zeros((n, n), dtype=bool))
    after = start.after(np.arange(n), cases, schema)  # case i is asked feature i
    for i in range(n):
        inside = schema.column_feature == i
        np.testing.assert_array_equal(after.x[i], np.where(inside, cases.x[i], 0.0))
    np.testing.assert_array_equal(after.known, np.eye(n, dtype=bool))
    assert not start.x.any()
    assert not start.known.any()


def test_a_hidden_answer_stays_hidden_where_the_widest_is_asked_too():
    schema = schema_of([1, 3])
    present = np.array([[True, False], [False, True]])
    cases = Cases(np.full((2, 4), np.nan), present)
    after = State.empty(2, schema).after(np.array([1, 0]), cases, schema)  # neither has a value
    assert not after.x.any()
    assert after.asked.tolist() == [[False, True], [True, False]]
    assert not after.known.any()


def test_answers_to_a_single_case():
    state = State(np.zeros((1, 4), dtype=np.float32), *np.zeros((2, 1, 3), dtype=bool))
    first = state.with_answer(1, 1, 3, np.array([3.0, 4.0], dtype=np.float32))
    assert first.x.tolist() == [[0.0, 3.0, 4.0, 0.0]]
    assert (first.asked.tolist(), first.known.tolist()) == ([[False, True, False]], [[False, True, False]])
    second = first.with_answer(2, 3, 4, None)
    assert second.x.tolist() == first.x.tolist()
    assert (second.asked.tolist(), second.known.tolist()) == ([[False, True, True]], [[False, True, False]])
    assert not state.asked.any()


def test_a_corrected_answer_replaces_the_one_before():
    state = State(np.zeros((1, 2), dtype=np.float32), *np.zeros((2, 1, 2), dtype=bool))
    state = state.with_answer(1, 1, 2, np.array([3.0], dtype=np.float32))
    again = state.with_answer(1, 1, 2, np.array([5.0], dtype=np.float32))
    assert again.x.tolist() == [[0.0, 5.0]]
    gone = again.with_answer(1, 1, 2, None)
    assert gone.x.tolist() == [[0.0, 0.0]]
    assert gone.asked.tolist() == [[False, True]]
    assert gone.known.tolist() == [[False, False]]
    assert state.x.tolist() == [[0.0, 3.0]]
