"""AdamW for most weights, Muon for the kernels of convolutions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw

from askless.networks import bfloat16_is_fast

MOMENTUM = 0.9
KERNEL_RATE = 12.0  # of the learning rate: how far a kernel with rows of length 1 moves in each direction
SHARPEN = (3.4445, -4.775, 2.0315)  # of s, s^3 and s^5: lifts small singular values fast and leaves none far from 1
ROUNDS = 3
TINY = 1e-7  # avoids division by zero
LARGE = 1 << 13  # numbers in a kernel, from which on bfloat16 is faster


class Optimizer:
    """Moves the weights of a module: AdamW, and Muon for kernels of convolutions.

    AdamW is `torch.optim.AdamW` by torch's own function: making an object of that class loads torch's compiler,
    0.85 s. Muon is orthogonalised momentum (Jordan et al. 2024); the kernels' norm is fixed, since batch norm makes
    their scale irrelevant. On CIFAR-10 it gains 4.7 to 6.3 points after 6 to 20 patches for 4 % of time
    (docs/images.md).
    """

    def __init__(self, module: nn.Module, weight_decay: float) -> None:
        self.weight_decay = weight_decay
        parameters = [p for p in module.parameters() if p.requires_grad]
        # weights of a convolution to several channels: a normalisation follows, so their length is free
        self.kernels = [p for p in parameters if p.ndim == 4 and min(p.shape[:2]) > 1]
        self.momenta = [torch.zeros_like(p) for p in self.kernels]
        self.others = [p for p in parameters if p.ndim != 4 or min(p.shape[:2]) <= 1]
        self.means = [torch.zeros_like(p) for p in self.others]
        self.squares = [torch.zeros_like(p) for p in self.others]
        self.steps = [torch.zeros((), device=p.device) for p in self.others]

    @torch.no_grad()
    def step(self, lr: float) -> None:
        """Move the weights against their gradients; weights without one stay as they are."""
        every = zip(self.others, self.means, self.squares, self.steps, strict=True)
        moving = [(p, p.grad, mean, square, step) for p, mean, square, step in every if p.grad is not None]
        weights, gradients, means, squares, steps = ([each[i] for each in moving] for i in range(5))
        adamw(
            weights,
            gradients,
            means,
            squares,
            [],  # of AMSGrad
            steps,
            lr=lr,
            beta1=0.9,
            beta2=0.999,
            eps=1e-8,
            weight_decay=self.weight_decay,
            fused=True,
            amsgrad=False,
            maximize=False,
        )
        for kernel, mean in zip(self.kernels, self.momenta, strict=True):
            if kernel.grad is None:
                continue
            mean.mul_(MOMENTUM).add_(kernel.grad)
            ahead = kernel.grad.add(mean, alpha=MOMENTUM)  # (outputs, inputs, height, width), as Nesterov's
            direction = orthogonal(ahead.flatten(1)).view_as(kernel)
            kernel.mul_(len(kernel) ** 0.5 / kernel.norm().clamp_min(TINY))  # rows have length 1 on average
            kernel.sub_(direction, alpha=KERNEL_RATE * lr)

    def tensors(self) -> dict[str, Tensor]:
        """What a checkpoint must hold; it is restored in place."""
        parts = {"mean": self.means, "square": self.squares, "step": self.steps, "muon": self.momenta}
        return {f"{name}.{i}": tensor for name, tensors in parts.items() for i, tensor in enumerate(tensors)}


def orthogonal(matrix: Tensor, rounds: int = ROUNDS) -> Tensor:
    """Approximately the matrix with the same singular vectors and all singular values 1.

    Computed by Newton-Schulz iteration; after a few rounds only values that were tiny are far from 1. Large kernels
    are multiplied in bfloat16 where that is faster: a direction need not be exact.
    """
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.t()
    x: Tensor = wide / (wide.norm() + TINY)  # no singular value is above 1
    if x.device.type == "cpu" and x.dtype == torch.float32 and x.numel() >= LARGE and bfloat16_is_fast():
        x = x.bfloat16()
    a, b, c = SHARPEN
    for _ in range(rounds):
        square = x @ x.t()
        x = torch.addmm(x, torch.addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    x = x.to(matrix.dtype)
    return x if wide is matrix else x.t()
