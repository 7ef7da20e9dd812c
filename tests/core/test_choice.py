"""A single case is decided as it is in a batch."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.core import Asker, Progress, Schema, State, decide
from askless.core.choice import ceiling_of, choose, close

SCORES = st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 3e38, -3.4028234663852886e38, 2.5])


class Given:
    def __init__(self, scores):
        self.scores = np.array([scores], dtype=np.float32)

    def score(self, state):
        return self.scores


def slowly(scores, allowed):
    """The first of the best; NaN and minus infinity are as low as can be."""
    low = float(np.finfo(np.float32).min)
    worth = [score if score > low else low for score in scores]
    return max((i for i in range(len(scores)) if allowed[i]), key=lambda i: (worth[i], -i), default=-1)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=6))
def test_both_ways_to_decide_agree_with_a_literal_one(pairs):
    scores, allowed = [float(np.float32(score)) for score, _ in pairs], np.array([can for _, can in pairs])
    nothing = np.zeros((1, len(pairs)), dtype=bool)
    state = State(np.zeros((1, len(pairs)), dtype=np.float32), nothing, nothing)
    policy, expected = Given(scores), slowly(scores, allowed)
    asker = Asker(policy, None, Schema.of_numbers([str(i) for i in range(len(pairs))]))
    ceiling = ceiling_of(allowed[None], state.x)
    progress = Progress(state, np.zeros(1), np.zeros(1), np.zeros((1, 1)), asker, ceiling)
    assert decide(progress, ())[0].tolist() == [expected]
    if allowed.any():
        assert choose(policy.score(state)[0], ceiling[0]) == expected


def test_a_ceiling_closes():
    ceiling = ceiling_of(np.array([[True, True, False], [True, True, True]]), np.zeros(1, dtype=np.float32))
    assert ceiling.dtype == np.float32
    assert (close(ceiling, np.array([-1, 2])) > 0).tolist() == [[True, True, False], [True, True, False]]


def test_a_closed_feature_stays_closed_in_any_memory_order():
    ceiling = np.asfortranarray(np.full((3, 2), np.inf))
    close(ceiling, np.array([1, -1, 0]))
    assert (ceiling == -np.inf).tolist() == [[False, True], [False, False], [True, False]]
