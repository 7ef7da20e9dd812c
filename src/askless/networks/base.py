"""Networks over partial records: what training and inference need of them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from askless.models import NetworkLike

__all__ = ["MaskedNetwork", "PolicyPredictor", "masked_inputs"]

STATES_AT_ONCE = 1 << 11  # evaluated together where each candidate is tried


class MaskedNetwork(nn.Module, ABC):
    """A network over the values of a record and the mask of its known features.

    `column_feature` (columns,) says which feature each column belongs to.
    """

    first_trials = 1 << 16  # pairs of a row and a feature that finding the first question may take

    column_feature: Tensor

    def __init__(self, column_feature: Tensor, n_outputs: int) -> None:
        super().__init__()
        self.n_columns, self.n_features = len(column_feature), int(column_feature.max()) + 1
        self.n_outputs = n_outputs
        self.register_buffer("column_feature", column_feature, persistent=False)

    @abstractmethod
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(b, outputs) from complete values (b, columns) and the mask (b, features) of what is known, 0 to 1."""

    @torch.no_grad()
    def one_more(self, x: Tensor, mask: Tensor, candidates: Tensor, answered: Tensor) -> Tensor:
        """(b, m, outputs) if one of the candidates (b, m) were known too.

        `answered` (b, m) is 0 where a candidate has no value. `mask` may be (1, features) for all rows.
        """
        b, m = candidates.shape
        parts = []
        for rows in torch.split(torch.arange(b), max(1, STATES_AT_ONCE // m)):
            known = mask.expand(b, -1)[rows]
            new = torch.maximum(known.gather(1, candidates[rows]), answered[rows])
            each = known[:, None, :].repeat(1, m, 1).scatter_(2, candidates[rows][:, :, None], new[:, :, None])
            parts.append(self.evaluate(x[rows].repeat_interleave(m, dim=0), each.flatten(0, 1)))
        return torch.cat(parts).view(b, m, -1)

    @torch.no_grad()
    def evaluate(self, x: Tensor, mask: Tensor) -> Tensor:
        """(b, outputs) without dropout, batch statistics and gradients."""
        if not self.training:
            return self(x, mask)
        self.eval()
        outputs = self(x, mask)
        self.train()
        return outputs

    @abstractmethod
    def exported(self) -> NetworkLike:
        """The network for inference, with a copy of the present weights."""

    @abstractmethod
    def live(self) -> NetworkLike:
        """The network for validation during training; it shares the weights, so it cannot be kept."""

    def set_dropout(self, rate: float) -> None:
        """Change the dropout rate, if the network has dropout."""


class PolicyPredictor(nn.Module):
    """The policy and the predictor network; they may share layers."""

    def __init__(self, predictor: MaskedNetwork, policy: MaskedNetwork) -> None:
        super().__init__()
        self.predictor, self.policy = predictor, policy

    def both(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor | None]:
        """The policy's scores (b, features), and the predictor's outputs where they cost nothing more, else None."""
        return self.policy(x, mask), None

    def set_dropout(self, rate: float) -> None:
        """Change the dropout rate of both."""
        self.predictor.set_dropout(rate)
        self.policy.set_dropout(rate)


def masked_inputs(x: Tensor, mask: Tensor, column_feature: Tensor) -> Tensor:
    """(b, columns + features): values (b, columns) times their features' mask, beside the mask (b, features)."""
    spread = mask if x.shape[1] == mask.shape[1] else mask.index_select(1, column_feature)
    return torch.cat([x * spread, mask], dim=1)
