"""The Concrete relaxation of a selection (Maddison et al. 2017; Jang et al. 2017)."""

import torch
from torch import Tensor

__all__ = ["relaxed_selection"]

NEVER = -1e9  # a logit this low gets no mass, and unlike an infinite one it can be reached by adding


def relaxed_selection(
    logits: Tensor,  # (b, features)
    gumbel: Tensor,  # (b, features)
    blocked: Tensor,  # (b, features) 1 for what is not allowed, 0 for what is; each row has at least one 0
    temperature: float,
) -> tuple[Tensor, Tensor]:
    """A Concrete sample (b, features) among the features that are not blocked, and the index (b,) it tends to.

    Blocked features get no mass. Left in the softmax, most of a trained policy's mass would fall on features that
    are known already, and teach nothing.
    """
    perturbed = (logits + gumbel).add(blocked, alpha=NEVER)
    return torch.softmax(perturbed / temperature, dim=1), perturbed.argmax(dim=1)
