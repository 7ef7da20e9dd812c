"""The Concrete relaxation of a selection (Maddison et al. 2017; Jang et al. 2017)."""

import torch
from torch import Tensor

__all__ = ["relaxed_gradient", "relaxed_selection"]

NEVER = -1e9  # a logit this low gets no mass, and unlike an infinite one it can be reached by adding


def relaxed_selection(
    logits: Tensor,  # (b, features)
    gumbel: Tensor,  # (b, features)
    blocked: Tensor,  # (b, features) 1 for what is not allowed, 0 for what is; each row has at least one 0
    temperature: float,
) -> tuple[Tensor, Tensor]:
    """A Concrete sample (b, features) among the features that are not blocked, and the index (b,) it tends to.

    What is blocked gets no mass: left in the softmax, most of a trained policy's mass would fall on features
    that are known already, and teach nothing.
    """
    perturbed = torch.add(logits, gumbel).add_(blocked, alpha=NEVER)
    pick = torch.from_numpy(perturbed.numpy().argmax(axis=1))  # several times faster than torch's
    return torch.softmax(perturbed.mul_(1.0 / temperature), dim=1), pick


def relaxed_gradient(g: Tensor, soft: Tensor, temperature: float) -> Tensor:
    """(b, features) the gradient of the logits, from that of the sample and the sample itself."""
    inner = torch.linalg.vecdot(g, soft, dim=1)
    return torch.sub(g, inner[:, None]).mul_(soft).mul_(1.0 / temperature)
