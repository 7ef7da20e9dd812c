"""The choice of the next feature against a literal one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.acquisition import Context, Policy, Predictor, Progress, Schema, State, decide

SCORES = st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 3e38, -3.4028234663852886e38, 2.5])


class Given(Policy):
    def __init__(self, scores):
        self.scores = np.array(scores, dtype=np.float32)

    def score(self, state):
        return self.scores


class Zero(Predictor):
    def predict(self, state):
        return np.zeros((len(state), 1))


def slowly(scores, allowed):
    """The first of the best; NaN and minus infinity are as low as can be."""
    low = float(np.finfo(np.float32).min)
    worth = [score if score > low else low for score in scores]
    return max((i for i in range(len(scores)) if allowed[i]), key=lambda i: (worth[i], -i), default=-1)


def decided(scores, allowed, postponed=()):
    allowed = np.array(allowed)
    n, features = allowed.shape
    nothing = np.zeros((n, features), dtype=bool)
    state = State(np.zeros((n, features), dtype=np.float32), nothing, nothing)
    progress = Progress(
        state=state,
        count=np.zeros(n),
        spent=np.zeros(n),
        prediction=np.zeros((n, 1)),
        context=Context(Given(scores), Zero(), Schema.of_numbers([str(i) for i in range(features)])),
        allowed=allowed,
    )
    return decide(progress, (), postponed)[0].tolist()


@settings(deadline=None, max_examples=300)
@given(
    st.integers(1, 6).flatmap(
        lambda k: st.lists(st.lists(st.tuples(SCORES, st.booleans()), min_size=k, max_size=k), min_size=1, max_size=3)
    )
)
def test_a_literal_choice_agrees(rows):
    scores = [[float(np.float32(score)) for score, _ in row] for row in rows]
    allowed = [[can for _, can in row] for row in rows]
    assert decided(scores, allowed) == [slowly(*pair) for pair in zip(scores, allowed, strict=True)]


def test_what_was_postponed_waits_until_nothing_else_is_left():
    scores = [[4.0, 3.0, 2.0]] * 4
    allowed = [[True, True, True], [True, True, False], [False, True, False], [False, False, False]]
    assert decided(scores, allowed, postponed=(1, 0)) == [2, 1, 1, -1]
