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
        gradients = {i: p.grad for i, p in enumerate(self.parameters) if p.grad is not None}
        moved = list(gradients)
        steps = [self._steps[i] for i in moved]
        for count in steps:
            count += 1
        torch._fused_adamw_(
            [self.parameters[i] for i in moved],
            list(gradients.values()),
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
