"""Convolutional networks: passes against plain autograd, exports against torch."""

import copy

import numpy as np
import pytest
import torch
from askless.nn import Layout, conv_pair, conv_predictor, convolutional, mask_gradient, masked_inputs
from askless.nn.convolutional import chosen_device
from askless.nn.products import sixteen_bits
from torch.nn import functional

from askless import DynamicClassifier
from askless.acquisition import Cases, Grid, Schema, State
from askless.exceptions import ParameterError
from askless.methods import Greedy
from askless.training import one_thread
from tests.coded import raises

GRID = Grid(height=8, width=12, channels=2, patch_size=4)
SCHEMA = Schema.of_patches(GRID)
LAYOUT = Layout(torch.from_numpy(SCHEMA.column_feature))


def pair(shared=False, grid=GRID, size="conv_tiny"):
    return conv_pair(grid, 3, size, shared=shared, generator=torch.Generator().manual_seed(0))


def some_inputs(b=5, grid=GRID, dtype=torch.float64, seed=0):
    source = torch.Generator().manual_seed(seed)
    x = torch.rand(b, grid.n_columns, generator=source, dtype=dtype)
    mask = torch.rand(b, grid.n_patches, generator=source, dtype=dtype)
    layout = Layout(torch.from_numpy(Schema.of_patches(grid).column_feature))
    return x, mask, masked_inputs(x, mask, layout)


def trained_a_little(net, grid=GRID):
    """Running statistics that are not those of the beginning."""
    for seed in range(3):
        net(some_inputs(32, grid, torch.float32, seed)[2])
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
def test_a_pass_has_the_gradients_of_autograd(which):
    net = getattr(pair(), which).double()
    other = copy.deepcopy(net)
    x, mask, inputs = some_inputs()
    run = net(inputs, to_inputs=True)
    g = torch.randn(run.outputs.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    way = run.backward(g)
    found = mask_gradient(run.input_gradient(way[:3]), x[:3], LAYOUT)

    leaf = mask.clone().requires_grad_()
    outputs = other.head(plain(other, x, leaf))
    torch.testing.assert_close(run.outputs, outputs.detach(), rtol=0, atol=1e-10)
    expected, *theirs = torch.autograd.grad(outputs, [leaf, *other.parameters()], g)
    torch.testing.assert_close(found, expected[:3], rtol=0, atol=1e-10)
    for mine, literal in zip(net.parameters(), theirs, strict=True):
        torch.testing.assert_close(mine.grad, literal, rtol=0, atol=1e-10)


def test_a_pass_teaches_alike_whether_or_not_it_goes_on_to_the_inputs():
    net = pair().predictor.double()
    other = copy.deepcopy(net)
    _, _, inputs = some_inputs()
    run, further = net(inputs), other(inputs, to_inputs=True)
    run.backward(torch.ones_like(run.outputs))
    further.backward(torch.ones_like(run.outputs))
    for mine, theirs in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=0, atol=0)


def test_passes_on_one_trunk_add_their_gradients():
    both = pair(shared=True).double()
    _, _, inputs = some_inputs()
    first, second = both.policy(inputs), both.predictor(inputs)
    first.backward(torch.ones_like(first.outputs))
    alone = [p.grad.clone() for p in both.policy.trunk.parameters()]
    second.backward(torch.ones_like(second.outputs))
    for p in both.parameters():
        p.grad, p.kept = None, p.grad
    second = both.predictor(inputs)
    second.backward(torch.ones_like(second.outputs))
    for p, before in zip(both.predictor.trunk.parameters(), alone, strict=True):
        torch.testing.assert_close(p.kept, before + p.grad)


def test_a_twofold_pass_is_two_passes_in_one():
    both = pair(shared=True).double()
    apart = copy.deepcopy(both)
    _, _, inputs = some_inputs()
    run = both.twofold(inputs)
    policy, predictor = apart.policy(inputs), apart.predictor(inputs)
    torch.testing.assert_close(run.outputs, policy.outputs)
    torch.testing.assert_close(run.predictions, predictor.outputs)
    source = torch.Generator().manual_seed(1)
    g, h = (torch.randn(o.shape, generator=source, dtype=o.dtype) for o in (run.outputs, run.predictions))
    run.teach(h)
    run.backward(g)
    policy.backward(g)
    predictor.backward(h)
    for mine, theirs in zip(both.parameters(), apart.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)


def test_a_trunk_is_shared_or_not():
    together, apart = pair(shared=True), pair(shared=False)
    assert together.policy.trunk is together.predictor.trunk
    assert apart.policy.trunk is not apart.predictor.trunk
    assert apart.twofold(some_inputs()[2]) is None  # two trunks are two passes
    trunk = sum(p.numel() for p in together.predictor.trunk.parameters())
    count = [sum(p.numel() for p in module.parameters()) for module in (together, apart)]
    assert count[1] - count[0] == trunk


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
def test_the_exported_network_answers_as_torch(grid, size, which):
    net = trained_a_little(getattr(pair(grid=grid, size=size), which), grid)
    rng = np.random.default_rng(0)
    schema = Schema.of_patches(grid)
    cases = Cases(rng.random((9, grid.n_columns)).astype(np.float32), np.ones((9, grid.n_patches), dtype=bool))
    state = State.of(cases, schema.column_feature, rng.random((9, grid.n_patches)) < 0.4)
    inputs = torch.from_numpy(np.concatenate([state.x, state.known], axis=1).astype(np.float32))
    expected = net.evaluated(inputs).numpy()
    network = net.network()
    assert expected.shape == (9, network.n_outputs)
    np.testing.assert_allclose(network.outputs(state), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    np.testing.assert_array_equal(net.live().outputs(State.of(cases, schema.column_feature, state.asked)), expected)
    np.testing.assert_array_equal(network(state.x, state.known), network.outputs(state))
    one = State(state.x[:1], state.asked[:1], state.known[:1])
    np.testing.assert_allclose(network.outputs(one), expected[0], rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_a_stem_of_whole_patches_sees_each_by_itself():
    grid = Grid(8, 12, 2, 4)
    net = trained_a_little(pair(grid=grid, size="conv_patches").policy, grid)
    _, _, inputs = some_inputs(1, grid, torch.float32)
    other = inputs.clone()
    other[:, 4 * grid.patch_columns : 5 * grid.patch_columns] += 1.0
    with torch.no_grad():
        before, after = (net.eval().trunk.stem(net.pixels(each)) for each in (inputs, other))
    changed = (before != after).any(dim=1)[0]  # (rows, columns) of patches
    assert changed.flatten().nonzero().tolist() == [[4]]


def test_evaluation_leaves_the_statistics_alone():
    net = trained_a_little(pair().predictor)
    before = copy.deepcopy(net.state_dict())
    _, _, inputs = some_inputs(200, dtype=torch.float32)
    first = net.evaluated(inputs)
    assert torch.equal(net.evaluated(inputs), first)
    torch.testing.assert_close(net.evaluated(inputs[:1]), first[:1])
    assert all(torch.equal(now, before[name]) for name, now in net.state_dict().items())
    net(inputs)
    assert any(not torch.equal(now, before[name]) for name, now in net.state_dict().items())


def test_one_more_feature_is_as_if_it_were_known():
    net = trained_a_little(pair().predictor)
    x, _, _ = some_inputs(4, dtype=torch.float32)
    known = (torch.arange(6) < 2).float().repeat(4, 1)
    features = torch.tensor([[2, 3], [4, 5], [3, 0], [5, 4]])
    gives = torch.tensor([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    found = net.one_more(masked_inputs(x, known, LAYOUT), x, features, gives, LAYOUT)
    for row in range(4):
        for j in range(2):
            mask = known[row : row + 1].clone()
            mask[0, features[row, j]] = max(mask[0, features[row, j]], gives[row, j])
            alone = net.roughly(masked_inputs(x[row : row + 1], mask, LAYOUT))
            torch.testing.assert_close(found[row, j], alone[0], rtol=1e-5, atol=1e-5)


def test_the_same_generator_gives_the_same_network():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first, second = (conv_predictor(GRID, 3, "conv_tiny", torch.Generator().manual_seed(7)) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert torch.equal(torch.random.get_rng_state(), before)  # torch's own generator was not asked


@pytest.mark.skipif(not sixteen_bits(), reason="this processor does not multiply in bfloat16")
def test_only_training_is_in_sixteen_bits():
    net = trained_a_little(pair(shared=True).predictor)
    _, _, inputs = some_inputs(dtype=torch.float32)
    exact = copy.deepcopy(net).double()
    evaluated = exact.evaluated(inputs.double())
    torch.testing.assert_close(net.evaluated(inputs), evaluated.float(), rtol=0, atol=1e-5)
    with one_thread():
        rough = net.roughly(inputs)
        assert not torch.equal(rough, net.evaluated(inputs))
        torch.testing.assert_close(rough, evaluated.float(), rtol=0, atol=0.02 * float(evaluated.abs().max()))
        run, true = net(inputs, to_inputs=True), exact(inputs.double(), to_inputs=True)
        assert run.outputs.dtype == torch.float32
        g = torch.randn(run.outputs.shape, generator=torch.Generator().manual_seed(1))
        pairs = [(run.outputs, true.outputs), (run.backward(g), true.backward(g.double()))]
    for rounded, wanted in pairs:
        error = float((rounded.double() - wanted).norm() / wanted.norm())
        assert 1e-4 < error < 0.1


def test_a_twofold_pass_that_teaches_nothing_is_the_policy_s():
    both = pair(shared=True).double()
    apart = copy.deepcopy(both)
    _, _, inputs = some_inputs()
    run, alone = both.twofold(inputs), apart.policy(inputs)
    g = torch.ones_like(run.outputs)
    run.backward(g)
    alone.backward(g)
    for mine, theirs in zip(both.policy.parameters(), apart.policy.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)


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
