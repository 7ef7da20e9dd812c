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
    candidate_gains,
    first_question,
    price_rates,
    revealed,
)

__all__ = ["ValueLearner"]

# Share of the training states that ask for the money's sake. In the others the most informative questions come first,
# dear or not, else few states know all of them and predictions where money is plenty suffer.
HEEDED = 0.5


class ValueLearner(ChainLearner):
    """Trains the value network by the squared error of its values, and the predictor on what was asked.

    A candidate's value is regressed on what it gains in the case (`candidate_gains`). The mean of that over all cases
    in the same state, which least squares finds, is the conditional mutual information.
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
        now = self._outputs_now(states, inputs)
        bound = self._bound(now)
        values = bound * run.outputs
        candidates, open_ = self._candidates(states, values)
        gained = candidate_gains(self.module.predictor, rows, states, inputs, now, candidates)
        errors = torch.where(open_, values.gather(1, candidates) - gained, 0.0)  # (b, m)
        count = max(int(open_.sum()), 1)
        slope = errors * bound * (2.0 / count)
        run.backward(torch.zeros_like(values).scatter_(1, candidates, slope))
        pick = self._pick(states, candidates, open_, temperature)
        mask = states.known.scatter(1, pick[:, None], revealed(states, pick[:, None]))
        lesson = self._teach_predictor(states, mask, extra)
        return errors.square().sum() / count + lesson.loss, pick

    def _bound(self, now: Tensor) -> Tensor:
        """(b, 1) what values are shares of: the prediction's entropy, which none can exceed; in a regression 1."""
        if self.problem.task == "regression":
            return torch.ones_like(now)
        logs = torch.log_softmax(now, dim=1)
        return -(logs.exp() * logs).sum(dim=1, keepdim=True)

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
            heeds = torch.rand(len(scores), 1, generator=self.chains.generator) < HEEDED
            scores = torch.where(heeds, scores * rates, scores)
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
            first=None if self.first is None else (self.first.double() * unit).numpy(),
        )
