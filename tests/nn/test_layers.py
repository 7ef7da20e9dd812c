"""Passes through layers against autograd."""

import copy

import numpy as np
import pytest
import torch
from askless.nn import Dropout, Layers, Layout, Pass, masked_inputs
from askless.nn.layers import ALIGNED
from askless.nn.masked import mlp_pair
from askless.nn.products import LayerProducts, product, sixteen_bits

from tests.methods.algorithm_1 import layers


def stacks(*widths):
    generator = torch.Generator().manual_seed(0)
    return [Layers(each, generator).double() for each in widths]


def literal(stacks_, inputs, masks):
    """The layers one after another; hidden units are multiplied by masks (width,)."""
    h = inputs
    pairs = [pair for stack in stacks_ for pair in layers(stack)]
    for i, (weight, bias) in enumerate(pairs):
        h = h @ weight.T + bias
        if i + 1 < len(pairs):
            h = torch.relu(h) * masks[i]
    return h


def taking_part(run):
    """The masks that say the same as the units of a pass."""
    masks = []
    for units, (_, bias) in zip(run._units[1:-1], run._layers[:-1], strict=True):
        mask = torch.ones(len(bias), dtype=torch.float64)
        if units is not None:
            mask = torch.zeros_like(mask)
            mask[torch.from_numpy(units.kept)] = len(bias) / len(units.kept)
        masks.append(mask)
    return masks


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("widths", [[(5, 8, 4), (4, 3)], [(5, 3)], [(5, 80, 9), (9, 7, 2)]])
def test_a_pass_and_its_way_back(widths, dropout):
    nets = stacks(*widths)
    random = torch.Generator().manual_seed(1)
    inputs = torch.randn(6, 5, generator=random, dtype=torch.float64).requires_grad_()
    outside = torch.randn(6, widths[-1][-1], generator=random, dtype=torch.float64)
    run = Pass(nets, inputs.detach(), Dropout(dropout, random, 0))
    expected = literal(nets, inputs, taking_part(run))
    torch.testing.assert_close(run.outputs, expected.detach(), rtol=0, atol=1e-12)
    wanted = torch.autograd.grad((expected * outside).sum(), [inputs, *(net.flat for net in nets)])
    sums = run.backward(outside)
    for net, gradient in zip(nets, wanted[1:], strict=True):
        torch.testing.assert_close(net.flat.grad, gradient, rtol=0, atol=1e-12)
    torch.testing.assert_close(run.input_gradient(sums), wanted[0], rtol=0, atol=1e-12)


def test_gradients_add_up_until_they_are_forgotten():
    (net,) = stacks((4, 3))
    inputs, outside = torch.ones(2, 4, dtype=torch.float64), torch.ones(2, 3, dtype=torch.float64)
    Pass([net], inputs).backward(outside)
    once = net.flat.grad.clone()
    Pass([net], inputs).backward(outside)
    torch.testing.assert_close(net.flat.grad, 2 * once)
    net.flat.grad = None
    Pass([net], inputs).backward(outside)
    torch.testing.assert_close(net.flat.grad, once)


def test_a_copy_has_weights_of_its_own():
    (net,) = stacks((4, 3))
    inputs = torch.ones(2, 4, dtype=torch.float64)
    before = Pass([net], inputs).outputs.clone()
    other = copy.deepcopy(net)
    with torch.no_grad():
        net.flat.add_(1.0)
    torch.testing.assert_close(Pass([other], inputs).outputs, before)
    torch.testing.assert_close(Pass([net], inputs).outputs, before + 5.0)


def test_units_take_part_equally_often():
    dropout = Dropout(0.3, torch.Generator().manual_seed(0), 0)
    counts, times = torch.zeros(128), 2000
    for _ in range(times):
        units = dropout.units(128)
        assert len(units.kept) == 88  # 90 would be nearest; matrix products like multiples of 8
        assert len(units.kept) % ALIGNED == 0
        counts[torch.from_numpy(units.kept)] += 1
    share = counts / times
    assert abs(float(share.mean()) - 88 / 128) < 1e-6
    assert float((share - 88 / 128).abs().max()) < 0.1
    assert Dropout(0.0, torch.Generator(), 0).units(100) is None
    assert len(Dropout(0.01, torch.Generator(), 0).units(100).kept) == 99  # a small rate stays small
    assert len(Dropout(0.5, torch.Generator(), 0).units(5).kept) == 2


@pytest.mark.skipif(not sixteen_bits(), reason="this processor does not multiply in bfloat16")
def test_large_products_are_rounded_in_training_only():
    (net,) = stacks((600, 300))  # no hidden units, which rounding may switch on or off
    net.float()
    random = torch.Generator().manual_seed(1)
    inputs, outside = torch.randn(512, 600, generator=random), torch.randn(512, 300, generator=random)
    exact = literal([net], inputs.requires_grad_(), [])
    wanted = torch.autograd.grad((exact * outside).sum(), [inputs, net.flat])
    torch.testing.assert_close(Pass([net], inputs.detach(), exact=True).outputs, exact.detach())
    run = Pass([net], inputs.detach())
    found = [run.outputs, run.input_gradient(run.backward(outside)), net.flat.grad]
    for rounded, true in zip(found, [exact.detach(), *wanted], strict=True):
        error = float((rounded - true).norm() / true.norm())
        assert 1e-4 < error < 0.01  # eight bits, added up at random


@pytest.mark.skipif(not sixteen_bits(), reason="this processor does not multiply in bfloat16")
def test_one_more_feature_differs_from_none_as_exactly_as_it_must():
    """What rounding does to the first layer's sums is the same with and without the feature, so it drops out."""
    b, m, n = 128, 5, 600
    net = mlp_pair(n, n, 10, (512, 512), shared=False, generator=torch.Generator().manual_seed(0)).predictor
    random = torch.Generator().manual_seed(1)
    layout, x = Layout(torch.arange(n)), torch.randn(b, n, generator=random)
    known = (torch.rand(b, n, generator=random) < 0.03).float()
    features = torch.rand(b, n, generator=random).argsort(dim=1)[:, :m]
    inputs = masked_inputs(x, known, layout)

    def steps(net, *parts):
        inputs, x, gives = parts
        return net.one_more(inputs, x, features, gives, layout) - net.roughly(inputs)[:, None]

    rough = steps(net, inputs, x, torch.ones(b, m))
    exact = steps(copy.deepcopy(net).double(), inputs.double(), x.double(), torch.ones(b, m).double())
    error = float((rough - exact).norm() / exact.norm())
    assert 1e-4 < error < 0.03


def test_both_sides_of_a_comparison_are_rounded_or_none():
    """At the default sizes of a table: the product for six candidates is large, that for the states is not."""
    b, m, n = 512, 6, 57
    net = mlp_pair(n, n, 2, (128, 128), shared=False, generator=torch.Generator().manual_seed(0)).predictor
    random = torch.Generator().manual_seed(1)
    layout, x = Layout(torch.arange(n)), torch.randn(b, n, generator=random)
    inputs = masked_inputs(x, (torch.rand(b, n, generator=random) < 0.1).float(), layout)
    features = torch.randint(n, (b, m), generator=random)
    nothing = net.one_more(inputs, x, features, torch.zeros(b, m), layout) - net.roughly(inputs)[:, None]
    assert float(nothing.abs().max()) < 1e-6


def made(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def test_small_products_are_exact():
    a, b, g = made(64, 300), made(128, 300, seed=1), made(64, 128, seed=2)
    assert np.array_equal(product(a, b.T), a @ b.T)
    layer = LayerProducts(a, b)
    assert np.array_equal(layer.outputs(), a @ b.T)
    assert np.array_equal(layer.input_gradient(g), g @ b)
    out = np.empty((128, 300), dtype=np.float32)
    assert layer.weight_gradient(g, out=out) is out
    assert np.array_equal(out, g.T @ a)


@pytest.mark.parametrize("rounds", [False, True])
def test_large_products_are_near_and_go_where_they_are_wanted(rounds, monkeypatch):
    monkeypatch.setattr("askless.nn.products.sixteen_bits", lambda: rounds)
    a, b, g = made(300, 512).T, made(256, 300, seed=1), made(512, 256, seed=2)
    near = {"rtol": 0, "atol": 0.5 if rounds else 1e-4}
    np.testing.assert_allclose(product(a, b.T), a @ b.T, **near)
    layer = LayerProducts(a, b)
    np.testing.assert_allclose(layer.outputs(), a @ b.T, **near)
    padded = np.zeros((256, 301), dtype=np.float32)
    layer.weight_gradient(g, out=padded[:, :-1])
    np.testing.assert_allclose(padded[:, :-1], g.T @ a, **near)
    assert not padded[:, -1].any()
    for gradient in (g, -g):  # the one that was rounded already, and another
        np.testing.assert_allclose(layer.input_gradient(gradient), gradient @ b, **near)
