"""The Concrete relaxation of a selection (Maddison et al. 2017; Jang et al. 2017)."""

import torch
from torch import Tensor

__all__ = ["relaxed_selection"]


def relaxed_selection(
    logits: Tensor,  # (b, features)
    gumbel: Tensor,  # (b, features)
    allowed: Tensor,  # (b, features) bool; each row has at least one True
    temperature: float,
) -> tuple[Tensor, Tensor]:
    """A Concrete sample (b, features) among the allowed features, and the index (b,) it tends to.

    What is not allowed gets no mass: left in the softmax, most of a trained policy's mass would fall on features
    that are known already, and teach nothing.
    """
    perturbed = torch.where(allowed, logits + gumbel, -torch.inf)
    return torch.softmax(perturbed / temperature, dim=1), perturbed.detach().argmax(dim=1)
