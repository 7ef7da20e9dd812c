"""The mean of several policies, boosted trees over partial records, and predictors that blend both with networks."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from askless.acquisition import Cases, State
from askless.models import BlendedPredictor, Forests, MeanPolicy, NetPolicy, NetPredictor, Network
from askless.models.network import LogVariance

COLUMN_FEATURE = np.array([0, 0, 1])  # a feature of two columns and one of one column


def constant_network(outputs):
    """A network with these outputs whatever is known."""
    biases = (np.zeros(4, np.float32), np.array(outputs, np.float32))
    return Network(
        np.zeros((3, 4), np.float32), np.zeros((2, 4), np.float32), biases, (np.zeros((4, len(outputs)), np.float32),)
    )


def state(known, x=((1.0, 2.0, 3.0),)):
    known = np.array(known, dtype=bool)
    return State.of(Cases(np.array(x, np.float32), np.ones_like(known)), COLUMN_FEATURE, known)


def test_the_mean_policy_averages_probabilities_of_what_is_open():
    policy = MeanPolicy([NetPolicy(constant_network([0.0, np.log(3.0)])), NetPolicy(constant_network([0.0, 0.0]))])
    something = State(np.zeros((1, 3), np.float32), np.zeros((1, 2), bool), np.array([[True, False]]))
    assert_allclose(np.exp(policy.score(something)), [[0.375, 0.625]], rtol=1e-6)  # (1/4 + 1/2) / 2, (3/4 + 1/2) / 2
    assert np.exp(policy.score(state([[True, False]])))[0, 1] == pytest.approx(1.0)  # nothing else is open


def test_the_first_question_is_that_of_the_mean_gain():
    members = [NetPolicy(constant_network([9.0, 0.0]), np.array(first)) for first in ([0.1, 0.2], [0.5, 0.2])]
    assert_allclose(MeanPolicy(members).score(state([[False, False]])), [[0.3, 0.2]], rtol=1e-6)


def one_split():
    """If column 0 is at most 0.5, or unknown, 1 is added to the output, else 2; with two features known, 4."""
    return Forests(
        column=np.array([0, -1, -1, -1], np.int32),
        threshold=np.array([0.5, 0.0, 0.0, 0.0]),
        children=np.array([[1, 2], [1, 1], [2, 2], [3, 3]], np.int32),
        unknown_left=np.array([True, False, False, False]),
        value=np.array([0.0, 1.0, 2.0, 4.0], np.float32),
        root=np.array([0, 3], np.int32),
        output=np.array([1, 1], np.int32),
        starts=np.array([0, 1, 2], np.int32),
        known=np.array([1, 2], np.int32),
        baseline=np.array([[0.0, 10.0], [0.5, 20.0]]),
    )


def test_trees_by_hand():
    states = state(
        [[True, False], [True, False], [False, True], [True, True]],
        x=[[0.5, 0, 0], [0.6, 0, 0], [9, 0, 0], [9, 0, 0]],
    )
    expected = [[0.0, 11.0], [0.0, 12.0], [0.0, 11.0], [0.5, 24.0]]
    assert_array_equal(one_split()(states, COLUMN_FEATURE), expected)


@pytest.mark.parametrize(
    "damage",
    [
        {"children": np.array([[1, 0], [1, 1], [2, 2], [3, 3]])},  # a circle
        {"children": np.array([[1, 7], [1, 1], [2, 2], [3, 3]])},
        {"column": np.array([5, -1, -1, -1])},
        {"column": np.array([-1, -1, -1, -1])},  # a leaf with children
        {"root": np.array([0, 4])},
        {"output": np.array([1, 2])},
        {"starts": np.array([0, 2, 1])},
        {"value": np.zeros(3)},
        {"known": np.array([1, 1])},
        {"known": np.array([2, 3])},
    ],
)
def test_damaged_trees_are_refused(damage):
    arrays = one_split().arrays()
    assert Forests.build(arrays, 3) is not None
    with pytest.raises(ValueError, match="trees"):
        Forests.build(arrays | {f"trees.{name}": array for name, array in damage.items()}, 3)


def test_a_forest_predicts_until_the_next_one_begins():
    trees = replace(one_split(), known=np.array([1, 3], np.int32))
    assert trees(state([[True, True]], x=[[0.5, 0, 0]]), COLUMN_FEATURE)[0, 1] == 11.0


def classes(outputs, prior=(0.5, 0.5)):
    return NetPredictor(constant_network(outputs), classes=True, prior=np.array(prior))


def test_a_blend_by_hand():
    members = [classes([0.0, np.log(3.0)], (0.2, 0.8)), classes([0.0, 0.0], (0.4, 0.6))]
    blend = BlendedPredictor(members, one_split(), weight=0.25, column_feature=COLUMN_FEATURE)
    states = state([[False, False], [True, False]], x=[[0, 0, 0], [0.5, 0, 0]])
    trees = softmax([0.0, 11.0])
    assert_allclose(blend.predict(states)[0], [0.3, 0.7], rtol=1e-6)  # nothing is known: the mean prior
    assert_allclose(blend.predict(states)[1], 0.75 * np.array([0.375, 0.625]) + 0.25 * trees, rtol=1e-6)
    assert blend.spread(states) is None
    assert_allclose(BlendedPredictor(members).predict(states)[1], [0.375, 0.625], rtol=1e-6)


def test_the_spread_of_a_blend_counts_how_much_its_members_differ():
    certain = LogVariance(np.zeros(5, np.float32), np.array([-1.0, 1.0], np.float32))  # a variance of 1
    members = [
        NetPredictor(constant_network([mean]), classes=False, prior=np.zeros(1), log_variance=certain)
        for mean in (1.0, 3.0)
    ]
    blend = BlendedPredictor(members)
    assert_allclose(blend.predict(state([[True, False]])), [[2.0]])
    assert_allclose(blend.spread(state([[True, False]])), [np.sqrt(1.0 + 1.0)])


@pytest.mark.parametrize("weight", [0.0, 0.3])
def test_parts_come_back_from_their_arrays(weight):
    members = [classes([0.0, 1.0]), classes([1.0, 0.0])]
    trees = {"forests": one_split(), "column_feature": COLUMN_FEATURE} if weight else {}
    states = state([[True, False], [True, True]], x=[[0.5, 0, 0], [0.6, 1, 2]])
    policy = MeanPolicy([NetPolicy(constant_network([0.0, 1.0]), np.array([0.1, 0.2]))] * 2)
    for part in (BlendedPredictor(members, weight=weight, **trees), policy):
        again = type(part).build(part.config(), part.arrays())
        run = "predict" if hasattr(part, "predict") else "score"
        assert_array_equal(getattr(again, run)(states), getattr(part, run)(states))
        assert again.config() == part.config()


def test_a_blend_of_parts_that_do_not_fit_is_refused():
    blend = BlendedPredictor([classes([0.0, 1.0])], one_split(), weight=0.5, column_feature=COLUMN_FEATURE)
    with pytest.raises(ValueError, match="share"):
        BlendedPredictor.build(blend.config() | {"weight": 2.0}, blend.arrays())
    three = BlendedPredictor([classes([0.0, 1.0, 2.0], (0.2, 0.3, 0.5))])
    with pytest.raises(ValueError, match="predict different things"):
        BlendedPredictor.build(three.config(), blend.arrays() | three.arrays())
    with pytest.raises(ValueError, match="trees"):
        replace(one_split(), root=np.array([-1, 0])).build(replace(one_split(), root=np.array([-1, 0])).arrays(), 3)
