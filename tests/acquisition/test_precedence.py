"""What may be asked only after other features."""

import numpy as np
import pytest

from askless.acquisition import Cases, Precedence, Predictor, Schema, rollout
from askless.exceptions import ParameterError
from askless.models import Ranking
from tests.coded import raises

SCHEMA = Schema.of_numbers(["a", "b", "c", "d"])


class Zero(Predictor):
    def predict(self, state):
        return np.zeros((len(state), 1))


def test_what_waits():
    rule = Precedence.of({"a": ["b", "c"], "b": ["d"]}, SCHEMA)
    asked = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 1]]) > 0
    assert rule.blocked(asked).astype(int).tolist() == [
        [1, 1, 0, 0],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [1, 0, 0, 0],
    ]


def test_nothing_to_wait_for():
    assert Precedence.of(None, SCHEMA) is None
    assert Precedence.of({"a": []}, SCHEMA) is None


@pytest.mark.parametrize(
    ("precedence", "code", "fields"),
    [
        ({"a": ["B"]}, "unknown_name", {"name": "B", "nearest": "b"}),
        ({"x": ["b"]}, "unknown_name", {"name": "x"}),
        ({"a": "b"}, "wrong_type", {"feature": "a", "value": "b"}),
        (["a"], "wrong_type", {"name": "precedence", "value": ["a"]}),
        ({"a": ["a"]}, "conflicting_settings", {"features": ["a", "a"]}),
        ({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}, "conflicting_settings", {"features": list("abca")}),
    ],
)
def test_bad_precedence(precedence, code, fields):
    with raises(ParameterError, code, **fields):
        Precedence.of(precedence, SCHEMA)


def order(policy, known=None, available=None, **how):
    cases = Cases(np.ones((1, 4)), np.ones((1, 4), dtype=bool))
    rule = Precedence.of({"a": ["b"], "b": ["d"]}, SCHEMA)
    mask = lambda row: None if row is None else np.array([row], dtype=bool)  # noqa: E731
    t = rollout(policy, Zero(), cases, SCHEMA, precedence=rule, known=mask(known), available=mask(available), **how)
    return [i for i in t.order[0].tolist() if i >= 0], t.stop_reason[0]


def test_a_rollout_obeys():
    best_first = Ranking([4.0, 3.0, 2.0, 1.0])
    assert order(best_first) == ([2, 3, 1, 0], "nothing left to ask")
    assert order(best_first, known=[0, 0, 0, 1])[0] == [1, 0, 2]
    assert order(best_first, available=[1, 1, 1, 0]) == ([2], "nothing left to ask")  # d never comes
