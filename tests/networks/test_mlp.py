"""Masked perceptrons against plain forward passes."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from askless.acquisition import State
from askless.networks import (
    GumbelBank,
    Hidden,
    MaskedMLP,
    MaskedNetwork,
    UnitDropout,
    bfloat16_is_fast,
    linear,
    masked_inputs,
)
from askless.networks.masked import LARGE
from askless.training import seeded
from tests.methods.algorithm_1 import forward

COLUMN_FEATURE = torch.tensor([0, 1, 1, 1, 2, 3, 3])  # features of 1, 3, 1 and 2 columns
COLUMNS, FEATURES, OUTPUTS = 7, 4, 3


@pytest.fixture(autouse=True)
def same_numbers():
    with seeded(0):
        yield


def make_mlp(widths=(16, 8), dropout=0.0, by="batch"):
    hidden = Hidden([COLUMNS + FEATURES, *widths], dropout, by)
    return MaskedMLP(COLUMN_FEATURE, hidden, OUTPUTS)


def some_rows(b=6, dtype=torch.float32):
    return torch.randn(b, COLUMNS, dtype=dtype), (torch.rand(b, FEATURES) < 0.5).to(dtype)


def test_a_forward_pass_is_that_of_a_plain_perceptron():
    net = make_mlp().double()
    x, mask = some_rows(dtype=torch.float64)
    mask = mask * torch.rand(mask.shape, dtype=mask.dtype)  # training has masks in between
    inputs = torch.cat([x * mask[:, COLUMN_FEATURE], mask], dim=1)
    torch.testing.assert_close(net(x, mask), forward(net, inputs), rtol=0, atol=1e-12)
    torch.testing.assert_close(masked_inputs(x, mask, COLUMN_FEATURE), inputs, rtol=0, atol=0)


@pytest.mark.parametrize("known", ["some", "nothing"])
@pytest.mark.parametrize("general", [False, True])
def test_one_more_is_a_forward_pass_for_each_candidate(known, general):
    net = make_mlp().double()
    x, mask = some_rows(5, torch.float64)
    mask = mask if known == "some" else mask[:1] * 0
    candidates = torch.stack([torch.randperm(FEATURES)[:3] for _ in range(5)])
    mask = mask.scatter(1, candidates, 0.0) if known == "some" else mask
    answered = (torch.rand(5, 3) < 0.7).double()
    found = (MaskedNetwork if general else MaskedMLP).one_more(net, x, mask, candidates, answered)
    assert found.shape == (5, 3, OUTPUTS)
    for row in range(5):
        for place in range(3):
            now = mask.expand(5, -1)[row : row + 1].clone()
            now[0, candidates[row, place]] = answered[row, place]
            plain = forward(net, torch.cat([x[row : row + 1] * now[:, COLUMN_FEATURE], now], dim=1))
            torch.testing.assert_close(found[row, place], plain[0], rtol=0, atol=1e-12)


def test_one_more_in_general_works_through_many_states_in_parts(monkeypatch):
    net = make_mlp()
    x, mask = some_rows(40)
    candidates, answered = torch.randint(FEATURES, (40, 2)), torch.ones(40, 2)
    whole = MaskedNetwork.one_more(net, x, mask, candidates, answered)
    monkeypatch.setattr("askless.networks.masked.STATES_AT_ONCE", 6)
    torch.testing.assert_close(MaskedNetwork.one_more(net, x, mask, candidates, answered), whole)


def test_evaluation_has_no_dropout_and_leaves_the_mode():
    net = make_mlp(dropout=0.5).train()
    x, mask = some_rows()
    assert torch.equal(net.evaluate(x, mask), net.evaluate(x, mask))
    assert net.training
    assert not net.evaluate(x, mask).requires_grad
    assert not net.eval().training
    torch.testing.assert_close(net(x, mask), net.evaluate(x, mask))


def test_dropped_units_of_a_batch_take_no_part_and_the_others_are_scaled():
    net = make_mlp((80, 9), dropout=0.4).double().train()
    x, mask = some_rows(dtype=torch.float64)
    torch.manual_seed(3)
    found = net(x, mask)
    torch.manual_seed(3)
    h = torch.cat([x * mask[:, COLUMN_FEATURE], mask], dim=1)
    for layer, dropout in zip(net.hidden.layers, net.hidden.dropouts, strict=True):
        units = dropout.choices[int(torch.randint(256, ()))]
        share = torch.zeros(layer.out_features, dtype=torch.float64)
        share[units] = layer.out_features / len(units)
        h = torch.relu(functional.linear(h, layer.weight, layer.bias)) * share
    torch.testing.assert_close(found, net.head(h), rtol=0, atol=1e-12)


def test_units_are_kept_equally_often():
    dropout = UnitDropout(128, 0.3).train()
    counts = torch.zeros(128)
    for _ in range(2000):
        kept = dropout.units()
        assert len(kept) == 88  # 90 would be nearest; matrix products like multiples of 8
        counts[kept] += 1
    assert float((counts / 2000 - 88 / 128).abs().max()) < 0.1
    assert UnitDropout(100, 0.0).train().units() is None
    assert UnitDropout(100, 0.5).eval().units() is None
    assert len(UnitDropout(100, 0.01).train().units()) == 99  # a small rate stays small
    assert len(UnitDropout(5, 0.5).train().units()) == 2


@pytest.mark.parametrize("by", ["batch", "row"])
def test_dropout_keeps_the_mean_of_the_outputs(by):
    net = make_mlp((64,), dropout=0.25, by=by).double()
    x, mask = some_rows(4, torch.float64)
    exact = net.evaluate(x, mask)
    net.train()
    with torch.no_grad():
        draws = torch.stack([net(x, mask) for _ in range(4000)])
    different = 256 if by == "batch" else len(draws)  # choices of units
    error = (draws.mean(dim=0) - exact).abs() / draws.std(dim=0) * np.sqrt(different)
    assert float(draws.std()) > 0.01
    assert float(error.max()) < 4  # standard errors


def test_dropout_by_row_drops_other_units_in_each_row():
    dropout = UnitDropout(400, 0.3, "row").train()
    assert dropout.units() is None
    kept = dropout(torch.ones(50, 400))
    assert kept.unique().tolist() == [0.0, pytest.approx(1 / 0.7)]
    assert abs(float((kept > 0).float().mean()) - 0.7) < 0.02
    assert not torch.equal(kept[0], kept[1])
    assert torch.equal(dropout.eval()(torch.ones(2, 400)), torch.ones(2, 400))


def test_the_rate_can_be_turned_off():
    net = make_mlp(dropout=0.5).train()
    x, mask = some_rows()
    for dropout in net.hidden.dropouts:
        dropout.rate = 0.0
    torch.testing.assert_close(net(x, mask), net.evaluate(x, mask))


@pytest.mark.skipif(not bfloat16_is_fast(), reason="this processor does not multiply in bfloat16")
def test_only_large_products_are_rounded_and_stay_close():
    rows, layer = 512, nn.Linear(600, 300)
    h = torch.randn(rows, 600)
    assert rows * layer.weight.numel() >= LARGE
    assert 100 * layer.weight.numel() < LARGE
    layer.requires_grad_(False)
    exact, found = layer(h), linear(h, layer.weight, layer.bias)
    assert found.dtype == torch.float32
    assert 1e-4 < float((found - exact).norm() / exact.norm()) < 0.01
    assert torch.equal(linear(h[:100], layer.weight, layer.bias), layer(h[:100]))
    layer.double()
    torch.testing.assert_close(linear(h.double(), layer.weight, layer.bias), layer(h.double()))


@pytest.mark.parametrize("way", ["exported", "live"])
def test_the_numpy_network_is_the_module_in_eval_mode(way):
    net = make_mlp(dropout=0.5).train()
    x, mask = some_rows(9)
    known = mask.bool().numpy()
    state = State((x * mask[:, COLUMN_FEATURE]).numpy(), known, known)
    network = net.exported(live=way == "live")
    np.testing.assert_allclose(network.outputs(state), net.evaluate(x, mask).numpy(), rtol=1e-5, atol=1e-6)
    assert (network.n_features, network.n_outputs) == (FEATURES, OUTPUTS)
    before = network.outputs(state)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(1.5)
    if way == "live":
        np.testing.assert_allclose(network.outputs(state), net.evaluate(x, mask).numpy(), rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(network.outputs(state), before)


def test_the_noise_of_a_bank_is_gumbel_noise():
    bank = GumbelBank(512, 60)
    drawn = bank.draw(512, 60)
    assert drawn.shape == (512, 60)
    many = torch.cat([bank.draw(512, 60).flatten() for _ in range(40)])
    assert float(many.mean()) == pytest.approx(0.5772, abs=0.01)
    assert float(many.std()) == pytest.approx(np.pi / np.sqrt(6), abs=0.01)
    assert not torch.equal(bank.draw(512, 60), drawn)
    assert bank.draw(3, 5).data_ptr() >= bank._bank.data_ptr()  # a view
    assert GumbelBank(4096, 2000).draw(4096, 2000).shape == (4096, 2000)


def test_the_same_seed_gives_the_same_network_and_leaves_the_generator():
    before = torch.random.get_rng_state()
    with seeded(7):
        first = make_mlp()
    with seeded(7):
        second = make_mlp()
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert torch.equal(torch.random.get_rng_state(), before)
