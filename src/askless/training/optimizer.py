"""AdamW (Loshchilov and Hutter 2019) through torch's fused kernel.

The same updates as `torch.optim.AdamW(fused=True)`, without its bookkeeping around every step and without the second
that importing it takes in a fresh process.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

__all__ = ["AdamW"]

BETAS, EPSILON = (0.9, 0.999), 1e-8


class AdamW:
    """Adam with decoupled weight decay; its whole state is in `tensors()`."""

    def __init__(self, parameters: Iterable[Tensor], weight_decay: float) -> None:
        self.parameters = list(parameters)
        self.weight_decay = weight_decay
        self._means = [torch.zeros_like(p) for p in self.parameters]
        self._squares = [torch.zeros_like(p) for p in self.parameters]
        self._steps = [torch.zeros((), device=p.device) for p in self.parameters]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

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
