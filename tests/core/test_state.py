"""What is not known is hidden."""

import copy
import pickle
from dataclasses import replace

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.core import Cases, Schema, State
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
    after = start.after(make(np.array([1, 1, -1])), cases, schema)  # a negative pick asks nothing
    assert np.asarray(after.asked).tolist() == [[False, True, False], [False, True, False], [False] * 3]
    assert np.asarray(after.known).tolist() == [[False, True, False], [False] * 3, [False] * 3]
    assert np.asarray(after.x).tolist() == [[0, 2, 3, 0], [0] * 4, [0] * 4]
    assert not np.asarray(start.asked).any()


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
        assert state.nothing_known == (not anew.known.any())
        assert state.unknown_cases.tolist() == np.flatnonzero(~anew.known.any(axis=1)).tolist()


def test_what_led_to_a_state_holds_nothing_that_is_hidden():
    schema = schema_of([1, 2, 1])
    x = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    state = State.of(Cases(x, np.ones((2, 3), dtype=bool)), schema.column_feature, np.zeros((2, 3), dtype=bool))
    after = state.after(np.array([1, 0]), Cases(x, np.ones((2, 3), dtype=bool)), schema)
    assert set(after.told.values.ravel()) <= {0.0, 1.0, 2.0, 3.0, 5.0}  # a one stands before each answer


def test_one_case_after_very_many_answers():
    n = 3000  # deeper than Python's stack
    state = State(np.zeros((1, n), dtype=np.float32), *np.zeros((2, 1, n), dtype=bool))
    for i in range(n):
        state = state.answered(i, i, i + 1, np.ones(1, dtype=np.float32) if i % 2 else None)
    assert state.x.sum() == n // 2
    assert state.known.sum() == n // 2
    assert state.asked.all()


def test_a_corrected_answer_replaces_the_one_before():
    state = State(np.zeros((1, 2), dtype=np.float32), *np.zeros((2, 1, 2), dtype=bool))
    state = state.answered(1, 1, 2, np.array([3.0], dtype=np.float32))
    assert state.x.tolist() == [[0.0, 3.0]]
    again = state.corrected(1, 1, 2, np.array([5.0], dtype=np.float32))
    assert again.x.tolist() == [[0.0, 5.0]]
    gone = again.corrected(1, 1, 2, None)
    assert gone.x.tolist() == [[0.0, 0.0]]
    assert gone.asked.tolist() == [[False, True]]
    assert gone.known.tolist() == [[False, False]]
    assert state.x.tolist() == [[0.0, 3.0]]


@pytest.mark.parametrize("make", [copy.deepcopy, lambda state: pickle.loads(pickle.dumps(state))])
def test_a_state_after_answers_can_be_copied(make):
    schema = Schema.of_numbers(["a", "b"])
    cases = Cases(np.array([[2.0, 3.0]], dtype=np.float32), np.ones((1, 2), dtype=bool))
    state = State.of(cases, schema.column_feature, np.zeros((1, 2), dtype=bool)).after(np.array([1]), cases, schema)
    again = make(state)
    for name in ("x", "asked", "known"):
        np.testing.assert_array_equal(getattr(again, name), getattr(state, name))


def test_replace_begins_anew():
    """What was remembered of a state must not answer for another one."""
    schema = Schema.of_numbers(["a", "b"])
    for n in (1, 3):
        cases = Cases(np.ones((n, 2), dtype=np.float32), np.ones((n, 2), dtype=bool))
        state = State.of(cases, schema.column_feature, np.zeros((n, 2), dtype=bool))
        state.memo["sums"] = 1
        after = state.after(np.zeros(n, dtype=np.int64), cases, schema)
        assert after.told is not None
        after.memo["sums"] = 2
        changed = replace(after, known=np.zeros((n, 2), dtype=bool))
        assert changed.told is None
        assert changed.memo == {}
        assert not changed.known.any()
        np.testing.assert_array_equal(changed.x, after.x)
