"""The paper's objective itself, without a relaxation, for the last part of the training or all of it.

The objective is the expected loss after one more feature, E_{i ~ pi}[loss(f(x_s and x_i), y)]. For a few features
that are drawn by the policy the expectation is a sum: the predictor is asked about each, and the policy's gradient is
exact among them. What each of them gains is measured by the predictor's own belief (`candidate_gains`). The predictor
itself learns from sets that occur in use, not from mixtures. Where questions have prices, gains are for the money.
"""

from __future__ import annotations

import torch
from torch import Tensor

from askless.methods.greedy.learner import GreedyLearner
from askless.nn import Dropout, GumbelBank, PolicyPredictor
from askless.training import Chains, Problem, States, candidate_gains, price_rates, revealed

__all__ = ["ExpectedLearner"]

SHARPNESS = 2.0  # the policy's logits are multiplied by it, so that close choices are told apart


class ExpectedLearner(GreedyLearner):
    """Trains the policy by the expected gain among candidates that it draws, the predictor on what was picked."""

    def __init__(
        self,
        module: PolicyPredictor,
        problem: Problem,
        chains: Chains,
        gumbel: GumbelBank,
        dropout: Dropout | None,
        *,
        candidates: int,
        exact_first: bool,
    ) -> None:
        super().__init__(module, problem, chains, gumbel, dropout, exact_first=exact_first)
        self.candidates = min(candidates, len(problem.schema))

    def _gradients(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        rows, b = self.rows, len(states.x)
        inputs = rows.inputs(states.x, states.known)
        run = self._policy_pass(states, inputs)
        logits = run.outputs
        candidates, open_ = self._candidates(states, logits)
        now = self._outputs_now(states, inputs)
        gains = candidate_gains(self.module.predictor, rows, states, inputs, now, candidates)  # (b, m)
        rates = price_rates(self.problem, states)
        if rates is not None:
            gains = gains * rates.gather(1, candidates)
        gains = torch.where(open_, gains, 0.0)
        chances = torch.softmax(torch.where(open_, SHARPNESS * logits.gather(1, candidates), -torch.inf), dim=1)
        expected = (chances * gains).sum(dim=1, keepdim=True)
        slope = chances * (expected - gains) * (SHARPNESS / b)
        run.backward(torch.zeros_like(logits).scatter_(1, candidates, slope))
        pick = candidates[:, 0]
        mask = states.known.scatter(1, pick[:, None], revealed(states, candidates[:, :1]))
        lesson = self._teach_predictor(states, mask, extra)
        return lesson.loss - expected.mean(), pick

    def _candidates(self, states: States, logits: Tensor) -> tuple[Tensor, Tensor]:
        """(b, m) features drawn without replacement by the policy, the first one to be asked; and which may be."""
        perturbed = logits + self.gumbel.draw(*logits.shape)
        best, candidates = self._open_scores(states, perturbed).topk(self.candidates, dim=1)
        return candidates, best > -torch.inf
