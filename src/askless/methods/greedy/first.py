"""The first question. Before any answer all cases look the same, so it can be found once, by trying them all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from askless.nn import MaskedMLP
from askless.training import Tensors

__all__ = ["first_question"]

TRIALS = 1 << 18  # pairs of a row and a feature; more rows than that are not tried with every feature
FINALISTS = 32  # the best of them are tried again, with as many trials
AT_ONCE = 1 << 14


def first_question(predictor: MaskedMLP, parts: Sequence[Tensors]) -> Tensor:
    """(features,) how much the loss falls when one feature is known, over the rows that can be asked for it.

    Large tables are tried in two rounds: some rows with all features, then many rows with the best ones.
    """
    n_features = parts[0].present.shape[1]
    everything = torch.arange(n_features)
    gain = _gains(predictor, parts, everything)
    if sum(len(rows) for rows in parts) * n_features <= TRIALS:
        return gain
    best = gain.topk(min(FINALISTS, n_features)).indices
    again = _gains(predictor, parts, best)
    order = again.argsort()  # the second round orders the finalists, above all others
    return gain.clamp(max=float(gain[best].min())).scatter(0, best[order], gain[best].sort().values)


def _gains(predictor: MaskedMLP, parts: Sequence[Tensors], features: Tensor) -> Tensor:
    """(len(features),) the mean gain of each feature, over as many rows as there are trials for."""
    total = sum(len(rows) for rows in parts)
    stride = -(-total * len(features) // TRIALS)  # every row, or every n-th one
    gain, count = torch.zeros(len(features)), torch.zeros(len(features))
    with torch.no_grad():
        for rows in parts:
            size = max(1, AT_ONCE // len(features)) * stride
            for start in range(0, len(rows), size):
                some = slice(start, start + size, stride)
                x, y = rows.x[some].float(), rows.y[some]
                b = len(x)
                tried = features.expand(b, -1)
                present = rows.present[some].float().gather(1, tried)
                sums = predictor.first_sums(x.new_zeros(1, x.shape[1] + rows.present.shape[1])).expand(b, -1)
                after = predictor.one_more(sums, x, tried, present, rows.layout)  # (b, features, outputs)
                outputs = after.view(b * len(features), -1)
                losses = rows.loss(outputs, y.repeat_interleave(len(features))).view(b, -1)
                before = rows.loss(rows.problem.prior_outputs.expand(b, -1), y)
                gain += ((before[:, None] - losses) * present).sum(dim=0)
                count += rows.askable[some].float().gather(1, tried).sum(dim=0)
    return gain / count.clamp_min(1.0)
