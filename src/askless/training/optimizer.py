"""What moves the weights: Muon for the kernels of convolutions, AdamW for everything else.

AdamW (Loshchilov and Hutter 2019) is torch's fused kernel: the same updates as `torch.optim.AdamW(fused=True)`,
without its bookkeeping around every step and without the second that importing it takes in a fresh process.

Muon (Jordan et al. 2024) moves all directions of a kernel equally far: the step is the orthogonal matrix next to the
mean gradient. With it a convolutional network learns more from every step (docs/images.md has the figures).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from askless.nn.products import sixteen_bits

__all__ = ["AdamW", "Muon", "Optimizer", "orthogonal"]

BETAS, EPSILON = (0.9, 0.999), 1e-8
MOMENTUM = 0.9
KERNEL_RATE = 12.0  # of the learning rate: how far a kernel with rows of length 1 moves in each direction
SHARPEN = (3.4445, -4.775, 2.0315)  # of s, s^3 and s^5: lifts small singular values fast and leaves none far from 1
ROUNDS = 3
TINY = 1e-7  # a length to divide by where there is none
LARGE = 1 << 13  # numbers in a kernel, from which on sixteen bits are faster


class Optimizer:
    """The parameters of a module, each moved by what suits it; the whole state is in `tensors()`."""

    def __init__(self, parameters: Iterable[Tensor], weight_decay: float) -> None:
        self.parameters = list(parameters)
        kernels = [p for p in self.parameters if _is_kernel(p)]
        others = [p for p in self.parameters if not _is_kernel(p)]
        self._parts: dict[str, AdamW | Muon] = {"adamw": AdamW(others, weight_decay), "muon": Muon(kernels)}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self, lr: float) -> None:
        """Move the parameters against their gradients; what has none stays as it is."""
        for part in self._parts.values():
            part.step(lr)

    def tensors(self) -> dict[str, Tensor]:
        """Everything that a checkpoint must hold; it is restored in place."""
        return {f"{key}.{name}": t for key, part in self._parts.items() for name, t in part.tensors().items()}


def _is_kernel(parameter: Tensor) -> bool:
    """Whether these are weights of a convolution to several channels; a normalisation follows, so length is free."""
    return parameter.ndim == 4 and min(parameter.shape[:2]) > 1


class AdamW:
    """Adam with decoupled weight decay."""

    def __init__(self, parameters: Iterable[Tensor], weight_decay: float) -> None:
        self.parameters = list(parameters)
        self.weight_decay = weight_decay
        self._means = [torch.zeros_like(p) for p in self.parameters]
        self._squares = [torch.zeros_like(p) for p in self.parameters]
        self._steps = [torch.zeros((), device=p.device) for p in self.parameters]

    @torch.no_grad()
    def step(self, lr: float) -> None:
        """Move the parameters against their gradients; what has none stays as it is."""
        moved = [i for i, parameter in enumerate(self.parameters) if parameter.grad is not None]
        for device in {self.parameters[i].device for i in moved}:  # the kernel takes those of one device at a time
            self._step([i for i in moved if self.parameters[i].device == device], lr)

    def _step(self, moved: list[int], lr: float) -> None:
        steps = [self._steps[i] for i in moved]
        for count in steps:
            count += 1
        gradients = [self.parameters[i].grad for i in moved]
        torch._fused_adamw_(
            [self.parameters[i] for i in moved],
            [gradient for gradient in gradients if gradient is not None],
            [self._means[i] for i in moved],
            [self._squares[i] for i in moved],
            [],
            steps,
            lr=lr,
            beta1=BETAS[0],
            beta2=BETAS[1],
            weight_decay=self.weight_decay,
            eps=EPSILON,
            amsgrad=False,
            maximize=False,
        )

    def tensors(self) -> dict[str, Tensor]:
        """Everything that a checkpoint must hold; it is restored in place."""
        kinds = {"mean": self._means, "square": self._squares, "step": self._steps}
        return {f"{i}.{kind}": t for kind, tensors in kinds.items() for i, t in enumerate(tensors)}


class Muon:
    """Steps in all directions alike, for kernels whose length does not matter; it is kept instead of decaying."""

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        self.parameters = list(parameters)
        self._means = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self, lr: float) -> None:
        """Move the kernels against their gradients; what has none stays as it is."""
        for kernel, mean in zip(self.parameters, self._means, strict=True):
            if kernel.grad is None:
                continue
            mean.mul_(MOMENTUM).add_(kernel.grad)
            ahead = kernel.grad.add(mean, alpha=MOMENTUM)  # (outputs, inputs, height, width), as Nesterov's
            direction = orthogonal(ahead.flatten(1)).view_as(kernel)
            kernel.mul_(len(kernel) ** 0.5 / kernel.norm().clamp_min(TINY))  # rows of length 1 in the mean
            kernel.sub_(direction, alpha=KERNEL_RATE * lr)

    def tensors(self) -> dict[str, Tensor]:
        """Everything that a checkpoint must hold; it is restored in place."""
        return {f"{i}.mean": mean for i, mean in enumerate(self._means)}


def orthogonal(matrix: Tensor, rounds: int = ROUNDS) -> Tensor:
    """About the matrix that has the same singular vectors, and 1 for all singular values.

    It is found by the iteration of Newton and Schulz; after a few rounds only values that were tiny are far from 1.
    A processor multiplies large kernels in sixteen bits where that is faster: a direction need not be exact.
    """
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.t()
    x: Tensor = wide / (wide.norm() + TINY)  # no singular value is above 1
    if x.device.type == "cpu" and x.dtype == torch.float32 and x.numel() >= LARGE and sixteen_bits():
        x = x.bfloat16()
    a, b, c = SHARPEN
    for _ in range(rounds):
        square = x @ x.t()
        x = torch.addmm(x, torch.addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    x = x.to(matrix.dtype)
    return x if wide is matrix else x.t()
