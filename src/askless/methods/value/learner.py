"""Regressing what each candidate is worth."""

from __future__ import annotations

import torch
from torch import Tensor

from askless.models import NetValue
from askless.nn import Dropout, PolicyPredictor
from askless.training import (
    ChainLearner,
    Chains,
    Problem,
    States,
    candidate_losses,
    first_question,
    price_rates,
    revealed,
)

__all__ = ["ValueLearner", "share_of_bound"]


class ValueLearner(ChainLearner):
    """Trains the value network by the squared error of its values, and the predictor on what was asked.

    A candidate's value is regressed on how much the loss of the case fell when it was known as well. The mean of that
    over all cases in the same state, which least squares finds, is the conditional mutual information.
    """

    def __init__(
        self,
        module: PolicyPredictor,
        problem: Problem,
        chains: Chains,
        dropout: Dropout | None,
        *,
        candidates: int,
        exact_first: bool,
    ) -> None:
        super().__init__(module, problem, chains, dropout, exact_first=exact_first)
        self.candidates = min(candidates, len(problem.schema))

    def _gradients(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        """`temperature` is the share of states in which any feature is asked."""
        rows = self.rows
        inputs = rows.inputs(states.x, states.known)
        run = self._policy_pass(states, inputs)
        before, bound = self._now(states, inputs)
        values, slopes = share_of_bound(run.outputs, bound)
        candidates, open_ = self._candidates(states, values)
        after = candidate_losses(self.module.predictor, rows, states, inputs, candidates)
        gained = (before[:, None] - after) * revealed(states, candidates)  # no answer, no gain
        errors = torch.where(open_, values.gather(1, candidates) - gained, 0.0)  # (b, m)
        count = max(int(open_.sum()), 1)
        slope = errors * slopes.gather(1, candidates) * (2.0 / count)
        run.backward(torch.zeros_like(values).scatter_(1, candidates, slope))
        pick = self._pick(states, candidates, open_, temperature)
        mask = states.known.scatter(1, pick[:, None], revealed(states, pick[:, None]))
        lesson = self._teach_predictor(states, mask, extra)
        return errors.square().sum() / count + lesson.loss, pick

    def _now(self, states: States, inputs: Tensor) -> tuple[Tensor, Tensor | None]:
        """The loss (b,) before another answer, and the entropy (b, 1), which no answer's value can exceed."""
        outputs = self._outputs_now(states, inputs)
        loss = self.rows.loss(outputs, states.y)
        if self.problem.task == "regression":
            return loss, None
        logs = torch.log_softmax(outputs, dim=1)
        return loss, -(logs.exp() * logs).sum(dim=1, keepdim=True)

    def _candidates(self, states: States, values: Tensor) -> tuple[Tensor, Tensor]:
        """(b, m) features to try, the best one first, then half of them good ones, then any; and which may be asked.

        Features that cannot be asked come last.
        """
        closed = states.blocked > 0
        scores = (
            values
            if self.first is None
            else torch.where(states.known.any(dim=1, keepdim=True), values, self.first.to(values.dtype))
        )
        rates = price_rates(self.problem, states)
        if rates is not None:  # what is asked in use: the most for the money
            scores = scores * rates
        good = max(1, self.candidates // 2)
        best = torch.where(closed, -torch.inf, scores).topk(good, dim=1).indices
        lottery = torch.rand(values.shape, generator=self.chains.generator).to(values.dtype)
        lottery.scatter_(1, best, 2.0 + torch.arange(good, 0, -1, dtype=values.dtype).expand(len(best), -1))
        tickets, candidates = torch.where(closed, -1.0, lottery).topk(self.candidates, dim=1)
        return candidates, tickets >= 0

    def _pick(self, states: States, candidates: Tensor, open_: Tensor, exploration: float) -> Tensor:
        """(b,) what is asked: the best candidate, or now and then any feature that was tried."""
        explores = torch.rand(len(candidates), generator=self.chains.generator) < exploration
        last = (open_.sum(dim=1) - 1).clamp_min(0)
        choice = torch.where(explores, last, 0)
        return candidates.gather(1, choice[:, None]).squeeze(1)

    def refine_first(self) -> None:
        """Measure the first values again, now that the predictor is better; the first question stays the same."""
        if self.first is not None:
            again = first_question(self.module.predictor, [self.rows, self.problem.tensors("valid")])
            if self.problem.priced:  # its price has a say in the first question too
                self.first.copy_(again.clamp_min(0.0))
                return
            chosen = int(self.first.argmax())
            best = max(float(again[chosen]), 0.0)
            self.first.copy_(again.clamp(min=0.0, max=(1.0 - 1e-6) * best))
            self.first[chosen] = best

    def policy(self, module: PolicyPredictor, *, live: bool = False) -> NetValue:
        """The policy for the torch-free runtime, as it is now; a `live` one cannot be kept."""
        policy, predictor = ((net.live() if live else net.network()) for net in (module.policy, module.predictor))
        regression = self.problem.task == "regression"
        _, scale = self.problem.target_scale
        unit = scale**2 if regression else 1.0
        return NetValue(
            policy,
            predictor=None if regression else predictor,
            scale=scale,
            first=None if self.first is None else (self.first * unit).numpy(),
        )


def share_of_bound(outputs: Tensor, bound: Tensor | None) -> tuple[Tensor, Tensor]:
    """Values (b, features) from a network's outputs, and their slopes; at most the bound (b, 1), if there is one."""
    share = torch.sigmoid(outputs)
    if bound is None:
        return torch.nn.functional.softplus(outputs), share
    return bound * share, bound * share * (1.0 - share)
