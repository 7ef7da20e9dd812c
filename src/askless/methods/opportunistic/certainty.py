"""The reward: how far an answer moves what the predictor believes."""

from __future__ import annotations

import torch
from torch import Tensor

from askless.nn import Dropout, MaskedNet
from askless.training import States, Tensors

__all__ = ["certainty", "rewards"]


def certainty(
    predictor: MaskedNet, rows: Tensors, x: Tensor, known: Tensor, dropout: Dropout, mc_samples: int
) -> Tensor:
    """(b, outputs) class probabilities, or the standardised mean, averaged over passes with dropout.

    Every pass drops the same units for all rows. Where nothing is known it is what the model says in use: the
    frequencies of the classes, or the mean.
    """
    problem = rows.problem
    inputs = rows.inputs(x, known)
    total = x.new_zeros(len(x), problem.n_outputs)
    for _ in range(mc_samples):
        total += _belief(predictor(inputs, dropout).outputs, rows)
    prior = _belief(problem.prior_outputs.to(x.dtype)[None], rows)
    return torch.where(known.any(dim=1, keepdim=True), total / mc_samples, prior)


def _belief(outputs: Tensor, rows: Tensors) -> Tensor:
    return torch.softmax(outputs, dim=1) if rows.problem.task == "classification" else outputs


def rewards(
    predictor: MaskedNet, rows: Tensors, states: States, pick: Tensor, dropout: Dropout, mc_samples: int
) -> Tensor:
    """(b,) the sum over the outputs of how much each moves when the picked features (b,) are answered.

    Before and after share a batch, hence the dropped units: what differs is due to the answer alone.
    """
    told = torch.zeros_like(states.known).scatter_(1, pick[:, None], 1.0)
    after = states.known + (told if states.present is None else told * states.present)
    x, known = torch.cat([states.x, states.x]), torch.cat([states.known, after])
    before, later = certainty(predictor, rows, x, known, dropout, mc_samples).chunk(2)
    return (later - before).abs().sum(dim=1)
