"""What would be lost if one more feature were known, for a few candidates of each state."""

from __future__ import annotations

import torch
from torch import Tensor

from askless.nn import MaskedNet
from askless.training.chains import States
from askless.training.data import Tensors

__all__ = ["candidate_losses", "revealed"]


def revealed(states: States, candidates: Tensor) -> Tensor:
    """(b, m) 1 where asking a candidate gives a value."""
    if states.present is None:
        return torch.ones(candidates.shape, dtype=states.x.dtype)
    return states.present.gather(1, candidates)


def candidate_losses(
    predictor: MaskedNet, rows: Tensors, states: States, inputs: Tensor, candidates: Tensor
) -> Tensor:
    """(b, m) each state's loss if candidate (b, m) were known as well; `inputs` are what networks take of it now."""
    b, m = candidates.shape
    outputs = predictor.one_more(inputs, states.x, candidates, revealed(states, candidates), rows.layout)
    return rows.loss(outputs.view(b * m, -1), states.y.repeat_interleave(m)).view(b, m)
