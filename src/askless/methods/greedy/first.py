"""The first question. Before any answer all cases look the same, so it can be found once, by trying them all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from askless.nn import MaskedMLP
from askless.training import Tensors

__all__ = ["first_question"]


def first_question(predictor: MaskedMLP, parts: Sequence[Tensors]) -> Tensor:
    """(features,) how much the loss falls when one feature is known, over the rows that can be asked for it."""
    n_features = parts[0].present.shape[1]
    gain, count = torch.zeros(n_features), torch.zeros(n_features)
    with torch.no_grad():
        for rows in parts:
            before = rows.loss(rows.problem.prior_outputs.expand(len(rows), -1), rows.y)  # (n,)
            for feature in range(n_features):
                mask = torch.zeros(len(rows), n_features)
                mask[:, feature] = rows.present[:, feature].float()
                after = rows.loss(predictor(rows.masked(rows.x, mask), mask), rows.y)
                gain[feature] += ((before - after) * mask[:, feature]).sum()
                count[feature] += rows.askable[:, feature].sum()
    return gain / count.clamp_min(1.0)
