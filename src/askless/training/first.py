"""The first question. Before any answer all cases look the same, so it can be found once, by trying them all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from askless.networks import MaskedNetwork
from askless.training.problem import Rows, some_rows

__all__ = ["first_question"]

FINALISTS = 32  # the best of them are tried again, with as many trials
AT_ONCE = 1 << 14
LEAST = 1e-6  # nats


def first_question(predictor: MaskedNetwork, parts: Sequence[Rows]) -> Tensor:
    """(features,) how much the loss falls when one feature is known, over the rows that can be asked for it.

    Large tables are tried in two rounds of as many pairs of a row and a feature as the network has time for: some
    rows with all features, then many rows with the best ones.
    """
    n_features = parts[0].present.shape[1]
    everything = torch.arange(n_features)
    gain = _gains(predictor, parts, everything)
    if sum(len(rows) for rows in parts) * n_features <= predictor.first_trials:
        return gain
    best = gain.topk(min(FINALISTS, n_features)).indices
    again = _gains(predictor, parts, best)
    rest = torch.ones(n_features, dtype=torch.bool).index_fill_(0, best, False)
    if bool(rest.any()):  # what was not tried again stays below, in its order
        gain = gain - max(float(gain[rest].max() - again.min()) + LEAST, 0.0)
    return gain.scatter(0, best, again)


def _gains(predictor: MaskedNetwork, parts: Sequence[Rows], features: Tensor) -> Tensor:
    """(len(features),) the mean gain of each feature, over as many rows as there are trials for."""
    total = sum(len(rows) for rows in parts)
    share = min(1.0, predictor.first_trials / (total * len(features)))
    gain, count = torch.zeros(len(features)), torch.zeros(len(features))
    for rows in parts:
        tried = torch.from_numpy(some_rows(len(rows), max(1, round(share * len(rows)))))
        for some in torch.split(tried, max(1, AT_ONCE // len(features))):
            gained, able = _gained(predictor, rows, some, features)
            gain += gained.sum(dim=0)
            count += able.sum(dim=0)
    return gain / count.clamp_min(1.0)


def _gained(predictor: MaskedNetwork, rows: Rows, some: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
    """(b, len(features)) how much each row's loss falls by each feature, and whether it can be asked."""
    x, y, b = rows.x.index_select(0, some), rows.y.index_select(0, some), len(some)
    tried = features.expand(b, -1)
    present, able = (part.index_select(0, some).to(x.dtype).gather(1, tried) for part in (rows.present, rows.askable))
    after = predictor.one_more(x, x.new_zeros(1, rows.present.shape[1]), tried, present)
    losses = rows.loss(after.view(b * len(features), -1), y.repeat_interleave(len(features))).view(b, -1)
    before = rows.loss(rows.problem.prior_outputs.to(x.dtype).expand(b, -1), y)
    return (before[:, None] - losses) * present, able
