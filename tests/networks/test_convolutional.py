"""Convolutional networks: passes against plain ones, exports against torch."""

import copy

import numpy as np
import pytest
import torch
from torch.nn import functional

from askless import DynamicClassifier
from askless.acquisition import Cases, Grid, Schema, State
from askless.exceptions import ParameterError
from askless.methods import Greedy
from askless.networks import bfloat16_is_fast, conv_pair, conv_predictor, convolutional
from askless.networks.convolutional import chosen_device
from askless.training import one_thread, seeded
from tests.coded import raises

GRID = Grid(height=8, width=12, channels=2, patch_size=4)


def pair(shared=False, grid=GRID, size="conv_tiny"):
    with seeded(0):
        return conv_pair(grid, 3, size, shared=shared)


def some_inputs(b=5, grid=GRID, dtype=torch.float64, seed=0):
    source = torch.Generator().manual_seed(seed)
    x = torch.rand(b, grid.n_columns, generator=source, dtype=dtype)
    return x, torch.rand(b, grid.n_patches, generator=source, dtype=dtype)


def trained_a_little(net, grid=GRID):
    """Running statistics that are not those of the beginning."""
    net.train()
    for seed in range(3):
        net(*some_inputs(32, grid, torch.float32, seed))
    return net


def plain(net, x, mask):
    """The network from its modules, written out anew: no grid, no pass."""
    b, p = len(x), GRID.patch_size
    image = torch.zeros(b, GRID.channels + 1, GRID.height, GRID.width, dtype=x.dtype)
    for i in range(GRID.n_patches):
        top, left = p * (i // GRID.columns), p * (i % GRID.columns)
        patch = x[:, i * p * p * 2 : (i + 1) * p * p * 2].view(b, p, p, 2).permute(0, 3, 1, 2)
        image[:, :2, top : top + p, left : left + p] = patch * mask[:, i, None, None, None]
        image[:, 2, top : top + p, left : left + p] = mask[:, i, None, None]
    h = torch.relu(net.trunk.stem.norm(functional.conv2d(image, net.trunk.stem.weight, padding=1)))
    for block in net.trunk.blocks:
        beside = h if block.shortcut is None else block.shortcut(h)
        h = torch.relu(block.second(torch.relu(block.first(h))) + beside)
    return h


@pytest.mark.parametrize("which", ["policy", "predictor"])
def test_a_pass_is_that_of_the_modules_one_after_another(which):
    net = getattr(pair(), which).double()
    x, mask = some_inputs()
    torch.testing.assert_close(net(x, mask), net.head(plain(net, x, mask)), rtol=0, atol=1e-10)


def test_a_trunk_is_shared_or_not():
    together, apart = pair(shared=True), pair(shared=False)
    assert together.policy.trunk is together.predictor.trunk
    assert apart.policy.trunk is not apart.predictor.trunk
    assert apart.both(*some_inputs(dtype=torch.float32))[1] is None  # two trunks are two passes
    trunk = sum(p.numel() for p in together.predictor.trunk.parameters())
    count = [sum(p.numel() for p in module.parameters()) for module in (together, apart)]
    assert count[1] - count[0] == trunk


def test_one_pass_through_a_shared_trunk_is_that_of_both():
    both = pair(shared=True).double()
    apart = copy.deepcopy(both)
    x, mask = some_inputs()
    scores, outputs = both.both(x, mask)
    torch.testing.assert_close(scores, apart.policy(x, mask))
    torch.testing.assert_close(outputs, apart.predictor(x, mask))


@pytest.mark.parametrize(
    ("grid", "size"),
    [
        (GRID, "conv_tiny"),
        (Grid(32, 32, 3, 4), "conv_small"),
        (Grid(32, 32, 3, 4), "conv_medium"),
        (Grid(32, 32, 3, 4), "conv_patches"),
        (Grid(6, 9, 1, 3), "conv_patches"),
        (Grid(4, 5, 2, 1), "conv_patches"),
        (Grid(28, 28, 1, 4), "conv_small"),  # 7 x 7 patches over a map of 4 x 4
        (Grid(9, 6, 1, 3), "conv_tiny"),  # 3 x 2 patches over a map of 5 x 3
        (Grid(16, 16, 1, 1), "conv_tiny"),
        (Grid(32, 32, 3, 4), "resnet18"),
    ],
)
@pytest.mark.parametrize("which", ["policy", "predictor"])
def test_the_exported_network_is_the_module_in_eval_mode(grid, size, which):
    net = trained_a_little(getattr(pair(grid=grid, size=size), which), grid)
    rng = np.random.default_rng(0)
    schema = Schema.of_patches(grid)
    cases = Cases(rng.random((9, grid.n_columns)).astype(np.float32), np.ones((9, grid.n_patches), dtype=bool))
    state = State.of(cases, schema.column_feature, rng.random((9, grid.n_patches)) < 0.4)
    expected = net.evaluate(torch.from_numpy(state.x), torch.from_numpy(state.known).float()).numpy()
    network = net.exported()
    assert expected.shape == (9, network.n_outputs)
    np.testing.assert_allclose(network.outputs(state), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    np.testing.assert_array_equal(
        net.exported(live=True).outputs(State.of(cases, schema.column_feature, state.asked)), expected
    )
    one = State(state.x[:1], state.asked[:1], state.known[:1])
    np.testing.assert_allclose(network.outputs(one), expected[:1], rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_a_stem_of_whole_patches_sees_each_by_itself():
    grid = Grid(8, 12, 2, 4)
    net = trained_a_little(pair(grid=grid, size="conv_patches").policy, grid)
    x, mask = some_inputs(1, grid, torch.float32)
    other = mask.clone()
    other[:, 4] += 1.0
    with torch.no_grad():
        before, after = (net.eval().trunk.stem(net._pixels(x, each)) for each in (mask, other))
    changed = (before != after).any(dim=1)[0]  # (rows, columns) of patches
    assert changed.flatten().nonzero().tolist() == [[4]]


def test_evaluation_leaves_the_statistics_alone():
    net = trained_a_little(pair().predictor)
    before = copy.deepcopy(net.state_dict())
    x, mask = some_inputs(200, dtype=torch.float32)
    first = net.evaluate(x, mask)
    assert torch.equal(net.evaluate(x, mask), first)
    torch.testing.assert_close(net.evaluate(x[:1], mask[:1]), first[:1])
    assert all(torch.equal(now, before[name]) for name, now in net.state_dict().items())
    net(x, mask)
    assert any(not torch.equal(now, before[name]) for name, now in net.state_dict().items())


def test_one_more_feature_is_as_if_it_were_known():
    net = trained_a_little(pair().predictor)
    x, _ = some_inputs(4, dtype=torch.float32)
    known = (torch.arange(6) < 2).float().repeat(4, 1)
    candidates = torch.tensor([[2, 3], [4, 5], [3, 0], [5, 4]])
    answered = torch.tensor([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    found = net.one_more(x, known, candidates, answered)
    for row in range(4):
        for j in range(2):
            mask = known[row : row + 1].clone()
            mask[0, candidates[row, j]] = max(mask[0, candidates[row, j]], answered[row, j])
            alone = net.evaluate(x[row : row + 1], mask)
            torch.testing.assert_close(found[row, j], alone[0], rtol=1e-5, atol=1e-5)


def test_the_same_seed_gives_the_same_network():
    before = torch.random.get_rng_state()
    each = []
    for _ in range(2):
        with seeded(7):
            each.append(conv_predictor(GRID, 3, "conv_tiny"))
    assert all(torch.equal(a, b) for a, b in zip(*(net.parameters() for net in each), strict=True))
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.skipif(not bfloat16_is_fast(), reason="this processor does not multiply in bfloat16")
def test_only_training_is_in_bfloat16():
    net = trained_a_little(pair(shared=True).predictor)
    x, mask = some_inputs(dtype=torch.float32)
    exact = copy.deepcopy(net).double()
    evaluated = exact.evaluate(x.double(), mask.double())
    torch.testing.assert_close(net.evaluate(x, mask), evaluated.float(), rtol=0, atol=1e-5)
    exact.train()
    true = exact.head(plain(exact, x.double(), mask.double())).detach()
    with one_thread():
        rounded = net(x, mask).detach()
    assert rounded.dtype == torch.float32
    assert 1e-4 < float((rounded.double() - true).norm() / true.norm()) < 0.1


@pytest.mark.parametrize(
    ("name", "cuda", "mps", "device"),
    [
        ("cpu", True, True, "cpu"),
        ("auto", True, True, "cuda"),
        ("auto", False, True, "mps"),
        ("auto", False, False, "cpu"),
        ("cuda", True, False, "cuda"),
        ("mps", False, True, "mps"),
        ("cuda", False, True, None),
        ("mps", True, False, None),
    ],
)
def test_the_device_is_what_was_chosen(name, cuda, mps, device, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    if device is None:
        with raises(ParameterError, "not_supported", name="device", value=name):
            chosen_device(name)
    else:
        assert chosen_device(name) == torch.device(device)


def test_networks_are_on_the_processor_whatever_there_is(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pair().policy.device == torch.device("cpu")


def test_the_device_of_an_estimator_reaches_its_networks(monkeypatch):
    asked = []
    monkeypatch.setattr(convolutional, "chosen_device", lambda name: asked.append(name) or torch.device("cpu"))
    images = np.random.default_rng(0).random((40, 8, 8)).astype(np.float32)
    method = Greedy(network="conv_tiny", epochs=1, pretrain_epochs=1, polish=False)
    DynamicClassifier(2, method, patch_size=4, device="auto").fit(images, np.arange(40) % 2)
    assert set(asked) == {"auto"}
    with raises(ParameterError, "invalid_choice", name="device", value="gpu", choices=["cpu", "cuda", "mps", "auto"]):
        DynamicClassifier(2, method, patch_size=4, device="gpu").fit(images, np.arange(40) % 2)
