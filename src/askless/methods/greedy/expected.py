"""The paper's objective itself, without a relaxation, for the last part of the training.

The objective is the expected loss after one more feature, E_{i ~ pi}[loss(f(x_s and x_i), y)]. For the few features
that the policy deems likeliest the expectation is a sum: the predictor is asked about each, and the policy's
gradient is exact among them. The predictor itself learns from sets that occur in use, not from mixtures.
"""

from __future__ import annotations

import torch
from torch import Tensor

from askless.methods.greedy.chains import ChainLearner, States
from askless.nn import PolicyPredictor
from askless.training import Tensors

__all__ = ["CANDIDATES", "ExpectedLearner", "candidate_losses"]

CANDIDATES = 8
SHARPNESS = 2.0  # the policy's logits are multiplied by it, so that close choices are told apart


class ExpectedLearner(ChainLearner):
    """Trains the policy by the expected loss among its likeliest candidates, the predictor on what was picked."""

    _dropout = None

    def _loss(self, states: States, temperature: float) -> tuple[Tensor, Tensor]:
        rows, known = self.rows, states.known
        logits = self.module.policy(rows.masked(states.x, known), known)
        candidates, open_ = self._candidates(states, known, logits.detach())
        losses = candidate_losses(self.module, rows, states, candidates)  # (b, m)
        chances = torch.softmax(torch.where(open_, SHARPNESS * logits.gather(1, candidates), -torch.inf), dim=1)
        policy_loss = (chances * torch.where(open_, losses, 0.0)).sum(dim=1)
        pick = candidates[:, 0]
        mask = known.scatter(1, pick[:, None], states.present.gather(1, pick[:, None]).to(known.dtype))
        predictor_loss = rows.loss(self.module.predictor(rows.masked(states.x, mask), mask), states.y)
        return (policy_loss + predictor_loss).mean(), pick

    def _candidates(self, states: States, known: Tensor, logits: Tensor) -> tuple[Tensor, Tensor]:
        """(b, m) features drawn without replacement by the policy, the first one to be asked; and which may be."""
        perturbed = logits + self.noise.gumbel(*logits.shape)
        if self.first is not None:
            empty = ~known.any(dim=1, keepdim=True)
            perturbed = torch.where(empty, self.first, perturbed)
        perturbed = torch.where(states.allowed, perturbed, -torch.inf)
        best, candidates = perturbed.topk(min(CANDIDATES, logits.shape[1]), dim=1)
        return candidates, best > -torch.inf


def candidate_losses(module: PolicyPredictor, rows: Tensors, states: States, candidates: Tensor) -> Tensor:
    """(b, m) each state's loss if candidate (b, m) were known as well."""
    b, m = candidates.shape
    revealed = states.present.gather(1, candidates).to(states.x.dtype)  # (b, m)
    mask = states.known[:, None, :].repeat(1, m, 1).scatter_(2, candidates[:, :, None], revealed[:, :, None])
    x = states.x[:, None, :].expand(b, m, -1).reshape(b * m, -1)
    with torch.no_grad():
        flat = mask.view(b * m, -1)
        outputs = module.predictor(rows.masked(x, flat), flat)
        return rows.loss(outputs, states.y[:, None].expand(b, m).reshape(-1)).view(b, m)
