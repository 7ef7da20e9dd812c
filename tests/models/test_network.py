"""The forward pass of fitted networks, against torch and by hand."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from askless.acquisition import State
from askless.models import NetPolicy, NetPredictor, Network
from askless.models.network import LogVariance, softmax


def network(rng, columns=3, features=2, hidden=(5, 4), outputs=2):
    normal = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    widths = [*hidden, outputs]
    return Network(
        normal(columns, hidden[0]),
        normal(features, hidden[0]),
        tuple(normal(width) for width in widths),
        tuple(normal(a, b) for a, b in pairwise(widths)),
    )


def states(rng, n=6):
    """Half of the rows know nothing."""
    known = rng.random((n, 2)) < 0.6
    known[::2] = False
    x = np.where(known[:, [0, 0, 1]], rng.normal(size=(n, 3)), 0.0).astype(np.float32)
    return State(x, known, known)


def test_against_torch():
    rng = np.random.default_rng(0)
    net, state = network(rng), states(rng)
    joined = torch.from_numpy(np.column_stack([state.x, state.known]).astype(np.float32))
    layers = [(np.concatenate([net.value_weight, net.mask_weight]), net.biases[0])]
    layers += list(zip(net.weights, net.biases[1:], strict=True))
    h = joined
    for i, (weight, bias) in enumerate(layers):
        h = torch.nn.functional.linear(h if i == 0 else torch.relu(h), torch.tensor(weight.T), torch.tensor(bias))
    np.testing.assert_allclose(net.outputs(state), h.numpy(), rtol=1e-5, atol=1e-5)


def test_by_hand():
    net = Network(
        np.array([[1.0], [2.0]]), np.array([[10.0]]), (np.array([-1.0]), np.array([0.5])), (np.array([[3.0]]),)
    )
    x, known = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[True], [False]])
    assert net.first_sums(x, known).tolist() == [[12.0], [-1.0]]  # 1 + 2 + 10 - 1
    assert net.outputs(State(x, known, known)).tolist() == [[36.5], [0.5]]


def test_where_nothing_is_known_the_first_scores_and_the_prior_speak():
    rng = np.random.default_rng(0)
    net, state = network(rng), states(rng)
    empty = ~state.known.any(axis=1)
    policy = NetPolicy(net, np.array([0.5, -0.5], dtype=np.float32))
    assert policy.score(state)[empty].tolist() == [[0.5, -0.5]] * int(empty.sum())
    np.testing.assert_array_equal(policy.score(state)[~empty], net.outputs(state)[~empty])
    np.testing.assert_array_equal(NetPolicy(net).score(state), net.outputs(state))
    predictor = NetPredictor(net, classes=True, prior=np.array([0.25, 0.75], dtype=np.float32))
    assert predictor.predict(state)[empty].tolist() == [[0.25, 0.75]] * int(empty.sum())
    np.testing.assert_allclose(predictor.predict(state).sum(axis=1), 1.0, rtol=1e-6)


def test_large_outputs_do_not_overflow():
    net = network(np.random.default_rng(0))
    big = Network(net.value_weight * 1e4, net.mask_weight, net.biases, net.weights)
    state = states(np.random.default_rng(1))
    predictor = NetPredictor(big, classes=True, prior=np.array([0.5, 0.5], dtype=np.float32))
    assert np.isfinite(predictor.predict(state)).all()


def test_a_regression_has_an_offset_a_scale_and_a_spread():
    rng = np.random.default_rng(0)
    net, state = network(rng, outputs=1), states(rng)
    told = LogVariance(np.array([-1.0, -2.0, 0.5, 0.25, 1.0]), np.array([-1.5, 2.0]))
    predictor = NetPredictor(net, classes=False, prior=np.array([3.0]), offset=3.0, scale=4.0, log_variance=told)
    informed = state.known.any(axis=1)
    mean = net.outputs(state)[:, 0]
    np.testing.assert_allclose(predictor.predict(state)[informed, 0], 4.0 * mean[informed] + 3.0, rtol=1e-6)
    first, second = state.known.T
    expected = np.clip(1.0 - first - 2.0 * second + 0.5 * mean + 0.25 * mean**2, -1.5, 2.0)
    found = predictor.spread(state)
    np.testing.assert_allclose(found[informed], 4.0 * np.exp(0.5 * expected[informed]), rtol=1e-5)
    assert found[~informed].tolist() == [4.0] * int((~informed).sum())  # the target's own
    assert len(np.unique(expected.clip(-1.49, 1.99))) > 2  # not all at the limits
    assert NetPredictor(net, classes=False, prior=np.array([3.0])).spread(state) is None


def test_networks_can_be_made_again():
    rng = np.random.default_rng(0)
    state = states(rng)
    policy = NetPolicy(network(rng), np.array([0.5, -0.5], dtype=np.float32))
    again = NetPolicy.build(policy.config(), policy.arrays())
    np.testing.assert_array_equal(again.score(state), policy.score(state))
    bare = NetPolicy(network(rng))
    assert NetPolicy.build(bare.config(), bare.arrays()).first is None
    predictor = NetPredictor(
        network(rng, outputs=1),
        classes=False,
        prior=np.zeros(1, dtype=np.float32),
        offset=1.5,
        scale=0.1,
        log_variance=LogVariance(np.ones(5, dtype=np.float32), np.array([-9.0, 9.0], dtype=np.float32)),
    )
    again = NetPredictor.build(predictor.config(), predictor.arrays())
    np.testing.assert_array_equal(again.predict(state), predictor.predict(state))
    np.testing.assert_array_equal(again.spread(state), predictor.spread(state))


@pytest.mark.parametrize(
    "spoil",
    [
        {"value_weight": np.zeros((3, 4))},
        {"mask_weight": np.zeros((2, 6))},
        {"mask_weight": np.zeros(5)},
        {"bias0": np.zeros(4)},
        {"bias1": np.zeros((4, 1))},
        {"bias2": np.zeros(3)},
        {"weight1": np.zeros((4, 5))},
        {"weight2": np.zeros(4)},
        {"weight2": np.zeros((4, 2), dtype=np.int64)},
        {"weight2": None},
        {"bias3": np.zeros(2)},
    ],
)
def test_layers_that_do_not_fit_are_refused(spoil):
    arrays = {**network(np.random.default_rng(0)).arrays(), **spoil}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    with pytest.raises((ValueError, KeyError, IndexError)):
        Network.build(arrays)


def test_a_policy_and_a_predictor_that_do_not_fit_their_network_are_refused():
    arrays = network(np.random.default_rng(0)).arrays()
    config = {"classes": True, "offset": 0.0, "scale": 1.0}
    with pytest.raises(ValueError, match=r"first scores of shape \(3,\)"):
        NetPolicy.build({}, {**arrays, "first": np.zeros(3)})
    with pytest.raises(ValueError, match=r"a prior of \(3,\)"):
        NetPredictor.build(config, {**arrays, "prior": np.zeros(3)})
    with pytest.raises(ValueError, match=r"a prior of \(2,\)"):  # two outputs are classes
        NetPredictor.build({**config, "classes": False}, {**arrays, "prior": np.zeros(2)})
    for weights, limits in ((np.zeros(4), np.zeros(2)), (np.zeros(5), np.zeros(1)), (np.zeros(5), np.array([1, 0]))):
        spread = {"log_variance": weights, "log_variance_limits": limits}
        with pytest.raises(ValueError, match="the log variance"):
            NetPredictor.build(config, {**arrays, "prior": np.zeros(2)} | spread)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_softmax_of_large_logits(classes):
    logits = np.random.default_rng(0).normal(size=(50, classes), scale=5.0).astype(np.float32)
    logits[0], logits[1], logits[2] = 0.0, 90.0, np.linspace(-90, 90, classes)
    found = softmax(logits)
    assert found.dtype == np.float32
    expected = torch.softmax(torch.from_numpy(logits).double(), dim=1).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-12)


def test_temperatures_by_how_many_are_known():
    rng = np.random.default_rng(0)
    net, state = network(rng), states(rng)
    temperatures = np.array([9.0, 0.5, 3.0], dtype=np.float32)
    predictor = NetPredictor(net, classes=True, prior=np.array([0.5, 0.5]), temperatures=temperatures)
    informed = state.known.any(axis=1)
    divided = net.outputs(state) / temperatures[state.known.sum(axis=1), None]
    np.testing.assert_allclose(predictor.predict(state)[informed], softmax(divided)[informed], rtol=1e-6)
