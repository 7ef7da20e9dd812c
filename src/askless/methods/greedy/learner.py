"""What both of the method's losses share."""

from __future__ import annotations

import torch
from torch import Tensor

from askless.models import NetPolicy
from askless.nn import Dropout, GumbelBank, PolicyPredictor
from askless.training import ChainLearner, Chains, Problem, States, gain_per_price, static_rates

__all__ = ["GreedyLearner"]


class GreedyLearner(ChainLearner):
    """Trains a policy whose scores are a network's outputs, perturbed by Gumbel noise in training."""

    def __init__(
        self,
        module: PolicyPredictor,
        problem: Problem,
        chains: Chains,
        gumbel: GumbelBank,
        dropout: Dropout | None,
        *,
        exact_first: bool,
    ) -> None:
        super().__init__(module, problem, chains, dropout, exact_first=exact_first)
        self.gumbel = gumbel

    def _first_scores(self, gains: Tensor) -> Tensor:
        """What each question gains; where questions have prices, for its money."""
        if not self.problem.priced:
            return gains
        return torch.from_numpy(gain_per_price(gains.numpy(), static_rates(self.problem, []))).to(gains.dtype)

    def _open_scores(self, states: States, scores: Tensor) -> Tensor:
        """(b, features) the scores, those of the first question where nothing is known; -inf for what is closed."""
        if self.first is not None:
            scores = torch.where(states.known.any(dim=1, keepdim=True), scores, self.first)
        return torch.where(states.blocked > 0, -torch.inf, scores)

    def policy(self, module: PolicyPredictor, *, live: bool = False) -> NetPolicy:
        """The policy for the torch-free runtime, as it is now; a `live` one cannot be kept."""
        first = None if self.first is None else self.first.numpy().copy()
        return NetPolicy(module.policy.live() if live else module.policy.network(), first)
