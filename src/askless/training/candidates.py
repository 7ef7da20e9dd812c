"""What one more feature would gain, for a few candidates of each state."""

from __future__ import annotations

import torch
from torch import Tensor

from askless.nn import MaskedNet
from askless.training.chains import States
from askless.training.data import Tensors

__all__ = ["candidate_gains", "revealed"]


def revealed(states: States, candidates: Tensor) -> Tensor:
    """(b, m) 1 where asking a candidate gives a value."""
    if states.present is None:
        return torch.ones(candidates.shape, dtype=states.x.dtype)
    return states.present.gather(1, candidates)


def candidate_gains(
    predictor: MaskedNet, rows: Tensors, states: States, inputs: Tensor, now: Tensor, candidates: Tensor
) -> Tensor:
    """(b, m) what each candidate (b, m) would gain, as the predictor believes once it knows it too.

    `inputs` are what networks take of the states, `now` (b, outputs) what the predictor says of them. Whoever knows a
    candidate's value expects labels by the prediction then; by these the log loss falls by the Kullback-Leibler
    divergence of the two predictions, the squared error by the square of the step between them. In the mean over
    cases that is what the loss of the true labels falls by, if the predictor is honest, without the luck of a label:
    late in a case that is a hundred times as large as what a question is worth.
    """
    given = revealed(states, candidates)
    then = predictor.one_more(inputs, states.x, candidates, given, rows.layout)  # (b, m, outputs)
    return rows.divergence(then, now[:, None, :]) * given  # no answer, no gain
