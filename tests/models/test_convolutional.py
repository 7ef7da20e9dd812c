"""Convolutions in numpy, by hand; and what a file may not hold."""

import numpy as np
import pytest
import torch

from askless.acquisition import Grid
from askless.models import ConvNetwork, NetPolicy
from askless.models.convolutional import Convolution
from askless.networks import conv_pair

GRID = Grid(height=8, width=8, channels=1, patch_size=4)


@pytest.mark.parametrize(("kernel", "stride"), [(3, 1), (3, 2), (1, 1), (1, 2), (3, 4), (5, 2)])
def test_a_convolution_is_a_sum_over_windows(kernel, stride):
    rng = np.random.default_rng(0)
    h, weight, bias = rng.normal(size=(2, 5, 4, 3)), rng.normal(size=(kernel * kernel * 3, 2)), rng.normal(size=2)
    found = Convolution(weight, bias, kernel, stride)(h)
    edge = kernel // 2
    for row in range(-(-5 // stride)):
        for column in range(-(-4 // stride)):
            total = np.tile(bias, (2, 1))
            for i in range(kernel):
                for j in range(kernel):
                    r, c = row * stride + i - edge, column * stride + j - edge
                    if 0 <= r < 5 and 0 <= c < 4:
                        start = 3 * (kernel * i + j)
                        total += h[:, r, c] @ weight[start : start + 3]
            np.testing.assert_allclose(found[:, row, column], total, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("height", "width"), [(4, 6), (5, 7)])
def test_windows_that_do_not_overlap_have_no_zeros_around(height, width):
    rng = np.random.default_rng(0)
    h, weight, bias = rng.normal(size=(2, height, width, 3)), rng.normal(size=(12, 5)), rng.normal(size=5)
    found = Convolution(weight, bias, kernel=2, stride=2)(h)
    assert found.shape == (2, 2, 3, 5)  # what is left over at an edge is not read
    for row in range(2):
        for column in range(3):
            window = h[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2].reshape(2, 12)
            np.testing.assert_allclose(found[:, row, column], window @ weight + bias, rtol=0, atol=1e-12)


@pytest.fixture
def parts():
    """A policy's configuration and arrays."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = conv_pair(GRID, 2, "conv_tiny", shared=True)
    policy = NetPolicy(module.policy.exported())
    return policy.config(), policy.arrays()


def test_what_was_taken_apart_is_built_again(parts):
    config, arrays = parts
    again = NetPolicy.build(config, arrays)
    assert isinstance(again.network, ConvNetwork)
    assert again.config() == config
    assert again.arrays().keys() == arrays.keys()
    assert again.network.n_outputs == again.network.n_features == 4


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("trunk.stem.weight", lambda a: a[:-1], "the convolution 'stem' has weights of shape"),
        ("trunk.1.shortcut.bias", lambda a: a[:-1], "the convolution '1.shortcut'"),
        ("head.up_weight", lambda a: a[:, :-1], "the head of the network has arrays of the shapes"),
        ("head.weight", lambda a: a.astype(int), "floating-point numbers"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(parts, name, spoil, message):
    config, arrays = parts
    with pytest.raises(ValueError, match=message):
        NetPolicy.build(config, arrays | {name: spoil(arrays[name])})


def test_configurations_that_do_not_fit_are_refused(parts):
    config, arrays = parts
    for wrong, message in (
        ({"head": "pets"}, "no head for 'pets'"),
        ({"stem": 0}, "the stride 0"),
        ({"kernel": -3}, "the kernel -3"),
        ({"kernel": 2}, "the kernel 2"),
        ({"blocks": [[1, False], [2, False]]}, "block 1 do not fit"),
    ):
        with pytest.raises(ValueError, match=message):
            NetPolicy.build({"network": config["network"] | wrong}, arrays)
