"""The optimiser against torch's own."""

import torch

from askless.training.optimizer import AdamW


def parameters():
    generator = torch.Generator().manual_seed(0)
    return [torch.nn.Parameter(torch.randn(7, generator=generator)) for _ in range(2)]


def gradients(step):
    generator = torch.Generator().manual_seed(step)
    return [torch.randn(7, generator=generator) for _ in range(2)]


def test_the_same_steps_as_torch():
    mine, theirs = parameters(), parameters()
    fast = AdamW(mine, weight_decay=0.3)
    slow = torch.optim.AdamW(theirs, weight_decay=0.3)
    for step, lr in enumerate([0.1, 0.05, 0.2, 0.01]):
        for each in (mine, theirs):
            for i, (parameter, gradient) in enumerate(zip(each, gradients(step), strict=True)):
                parameter.grad = None if (step, i) == (1, 1) else gradient  # no gradient: no step
        fast.step(lr)
        slow.param_groups[0]["lr"] = lr
        slow.step()
        for a, b in zip(mine, theirs, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-7)


def test_the_state_can_be_restored_in_place():
    mine, theirs = parameters(), parameters()
    first, second = AdamW(mine, 0.1), AdamW(theirs, 0.1)
    for step in range(6):
        if step == 3:
            for name, tensor in first.tensors().items():
                second.tensors()[name].copy_(tensor)
            for a, b in zip(theirs, mine, strict=True):
                a.data.copy_(b.data)
        for optimizer, each in ((first, mine), (second, theirs)):
            if optimizer is first or step >= 3:
                for parameter, gradient in zip(each, gradients(step), strict=True):
                    parameter.grad = gradient
                optimizer.step(0.1)
    for a, b in zip(mine, theirs, strict=True):
        assert torch.equal(a, b)
