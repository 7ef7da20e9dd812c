"""Policies that do not look at the answers."""

import numpy as np
import pytest

from askless.acquisition import State
from askless.models import RandomOrder, Ranking


def state_of(n, features=3):
    mask = np.zeros((n, features), dtype=bool)
    return State(np.ones((n, features)), mask, mask)


def test_a_ranking_scores_every_case_alike():
    scores = Ranking([3.0, 1.0, 2.0]).score(state_of(2))
    assert scores.tolist() == [[3.0, 1.0, 2.0]] * 2


@pytest.mark.parametrize("scores", [[1.0], [1.0, 2.0], [[1.0, 2.0, 3.0]], 1.0])
def test_a_ranking_fits_its_features(scores):
    with pytest.raises(ValueError, match="for 3 features"):
        Ranking(scores).score(state_of(2))


def test_a_ranking_can_be_made_again():
    ranking = Ranking([3.0, 1.0, 2.0])
    again = Ranking.build(ranking.config(), ranking.arrays())
    assert again.scores.tolist() == [3.0, 1.0, 2.0]


def test_a_random_order_stays_the_same_for_a_case():
    policy = RandomOrder(4)
    first, second = (policy.score(state_of(5)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(first.argmax(axis=1))) > 1
    assert (first != RandomOrder(5).score(state_of(5))).all()


def test_a_random_order_says_that_it_is_stochastic():
    assert RandomOrder.stochastic
    assert not getattr(Ranking, "stochastic", False)


def test_a_random_order_can_be_made_again():
    policy = RandomOrder(4)
    again = RandomOrder.build(policy.config(), policy.arrays())
    np.testing.assert_array_equal(again.score(state_of(3)), policy.score(state_of(3)))
    for seed in ("4", 4.0, None):
        with pytest.raises(TypeError):
            RandomOrder.build({"seed": seed}, {})
