"""AdamW against torch's own, Muon against its definition."""

import pytest
import torch
from torch import nn

from askless.networks import bfloat16_is_fast
from askless.training.optimizer import KERNEL_RATE, MOMENTUM, ROUNDS, SHARPEN, Optimizer, orthogonal

SHAPES = [(7,), (4, 3), (4, 3, 3, 3), (6, 2, 1, 1), (1, 5, 1, 1)]
KERNELS = [2, 3]  # of these, those that Muon moves; a map to a single channel has no directions to balance


def parameters(shapes):
    generator = torch.Generator().manual_seed(0)
    return [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in shapes]


def gradients(shapes, step):
    generator = torch.Generator().manual_seed(step)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def give(parameters, gradients):
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient


def test_adamw_takes_the_same_steps_as_torch():
    shapes = [(7,), (7,)]
    mine, theirs = parameters(shapes), parameters(shapes)
    fast = Optimizer(nn.ParameterList(mine), 0.3)
    slow = torch.optim.AdamW(theirs, weight_decay=0.3, fused=True)
    for step, lr in enumerate([0.1, 0.05, 0.2, 0.01]):
        drawn = gradients(shapes, step)
        if step == 1:
            drawn[1] = None  # no gradient: no step
        give(mine, drawn)
        give(theirs, drawn)
        fast.step(lr)
        slow.param_groups[0]["lr"] = lr
        slow.step()
        for a, b in zip(mine, theirs, strict=True):
            assert torch.equal(a, b)


def lifted(singular, rounds):
    """What the iteration does to each singular value, one number at a time."""
    a, b, c = SHARPEN
    for _ in range(rounds):
        singular = a * singular + b * singular**3 + c * singular**5
    return singular


def orthogonal_by_decomposition(matrix, rounds=ROUNDS):
    u, s, vt = torch.linalg.svd(matrix, full_matrices=False)
    return u @ torch.diag(lifted(s / s.norm(), rounds)) @ vt


@pytest.mark.parametrize("shape", [(3, 8), (8, 3), (5, 5), (1, 4)])
@pytest.mark.parametrize("rounds", [1, 3, 5])
def test_the_iteration_changes_singular_values_alone(shape, rounds):
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    torch.testing.assert_close(
        orthogonal(matrix, rounds), orthogonal_by_decomposition(matrix, rounds), rtol=1e-5, atol=1e-6
    )


@pytest.mark.skipif(not bfloat16_is_fast(), reason="this processor does not multiply in bfloat16")
@pytest.mark.parametrize("shape", [(64, 200), (200, 64)])
def test_directions_of_large_kernels_are_found_in_sixteen_bits(shape):
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    found, exact = orthogonal(matrix), orthogonal(matrix.double())
    assert found.dtype == torch.float32
    assert 1e-4 < float((found - exact).norm() / exact.norm()) < 0.02


def test_after_few_rounds_all_directions_are_about_as_long():
    generator = torch.Generator().manual_seed(0)
    u, _ = torch.linalg.qr(torch.randn(16, 16, generator=generator))
    v, _ = torch.linalg.qr(torch.randn(40, 16, generator=generator))
    matrix = u @ torch.diag(torch.linspace(0.1, 1.0, 16)) @ v.t()  # one direction ten times as long as another
    after = torch.linalg.svdvals(orthogonal(matrix))
    assert after.min() > 0.6
    assert after.max() < 1.3


def test_a_gradient_of_nothing_is_no_direction():
    assert torch.equal(orthogonal(torch.zeros(3, 4)), torch.zeros(3, 4))


def test_muon_by_its_definition():
    shapes = [SHAPES[i] for i in KERNELS]
    mine = parameters(shapes)
    literal = [p.detach().double() for p in parameters(shapes)]
    means = [torch.zeros_like(p) for p in literal]
    muon = Optimizer(nn.ParameterList(mine), 0.3)
    for step, lr in enumerate([0.01, 0.03, 0.002]):
        drawn = gradients(shapes, step)
        give(mine, drawn)
        muon.step(lr)
        for i, (kernel, gradient) in enumerate(zip(literal, drawn, strict=True)):
            means[i] = MOMENTUM * means[i] + gradient
            matrix = (gradient + MOMENTUM * means[i]).reshape(len(kernel), -1).double()
            length = torch.linalg.vector_norm(kernel)
            direction = orthogonal_by_decomposition(matrix).reshape(kernel.shape)
            literal[i] = kernel * len(kernel) ** 0.5 / length - KERNEL_RATE * lr * direction
    for a, b in zip(mine, literal, strict=True):
        torch.testing.assert_close(a.detach().double(), b, rtol=1e-4, atol=1e-5)


def test_a_kernel_of_nothing_begins_to_move():
    kernel = torch.nn.Parameter(torch.zeros(4, 3, 3, 3))
    give([kernel], gradients([kernel.shape], 0))
    Optimizer(nn.ParameterList([kernel]), 0.3).step(0.01)
    assert torch.isfinite(kernel).all()
    assert kernel.norm() > 0.1


def test_kernels_are_moved_by_muon_and_the_rest_by_adamw():
    each, alone = parameters(SHAPES), parameters(SHAPES)
    optimizer = Optimizer(nn.ParameterList(each), 0.3)
    rest = [p for i, p in enumerate(alone) if i not in KERNELS]
    parts = [
        Optimizer(nn.ParameterList([alone[i] for i in KERNELS]), 0.3),
        torch.optim.AdamW(rest, weight_decay=0.3, fused=True),
    ]
    parts[1].param_groups[0]["lr"] = 0.01
    for step in range(3):
        give(each, gradients(SHAPES, step))
        give(alone, gradients(SHAPES, step))
        optimizer.step(0.01)
        parts[0].step(0.01)
        parts[1].step()
    for a, b in zip(each, alone, strict=True):
        assert torch.equal(a, b)


def test_what_has_no_gradient_stays():
    each = parameters(SHAPES)
    before = [p.detach().clone() for p in each]
    optimizer = Optimizer(nn.ParameterList(each), 0.3)
    give(each, gradients(SHAPES, 0))
    nn.ParameterList(each).zero_grad()
    optimizer.step(0.1)
    for a, b in zip(each, before, strict=True):
        assert torch.equal(a, b)


def test_the_state_can_be_restored_in_place():
    mine, theirs = parameters(SHAPES), parameters(SHAPES)
    first, second = (Optimizer(nn.ParameterList(each), 0.1) for each in (mine, theirs))
    for step in range(6):
        if step == 3:
            for name, tensor in first.tensors().items():
                second.tensors()[name].copy_(tensor)
            for a, b in zip(theirs, mine, strict=True):
                a.data.copy_(b.data)
        for optimizer, each in ((first, mine), (second, theirs)):
            if optimizer is first or step >= 3:
                give(each, gradients(SHAPES, step))
                optimizer.step(0.1)
    for a, b in zip(mine, theirs, strict=True):
        assert torch.equal(a, b)
