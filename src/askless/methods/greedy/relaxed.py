"""Algorithm 1 of the paper: selections through the Concrete relaxation."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from askless.methods.greedy.learner import GreedyLearner
from askless.nn import (
    Dropout,
    GumbelBank,
    PolicyPredictor,
    gumbel_noise,
    relaxed_gradient,
    relaxed_selection,
)
from askless.training import Chains, Problem, States, price_rates

__all__ = ["RelaxedLearner", "Selection"]


class Selection:
    """One selection of Algorithm 1, relaxed, and its way back to the policy's logits."""

    def __init__(
        self,
        logits: Tensor,  # (b, features) of the policy
        states: States,
        gumbel: Tensor,  # (b, features)
        temperature: float,
        first: Tensor | None = None,  # (features,) scores of the first question
    ) -> None:
        self._present, self._temperature = states.present, temperature
        blocked = states.blocked if first is None else _first_alone(states, first)
        self.soft, self.pick = relaxed_selection(logits, gumbel, blocked, temperature)
        # (b, features) what is known then; what is asked already has no mass, so the paper's max is a sum.
        self.mask = states.known + (self.soft if self._present is None else self.soft * self._present)

    def gradient(self, mask: Tensor, selection: Tensor | None = None) -> Tensor:
        """(b, features) that of the logits, given that of the mask (b, features), and of the selection, if any."""
        g = mask if self._present is None else mask * self._present
        return relaxed_gradient(g if selection is None else g + selection, self.soft, self._temperature)


def _first_alone(states: States, first: Tensor) -> Tensor:
    """(b, features) what is blocked; where nothing is known, all but the best first question.

    There is nothing to learn there, and nothing to relax: the only choice left gets all mass, and no gradient.
    """
    known = states.known
    empty = (torch.mv(known, known.new_ones(known.shape[1])) == 0).nonzero().squeeze(1)
    blocked = states.blocked.index_select(0, empty)
    best = torch.where(blocked > 0, -torch.inf, first).argmax(dim=1, keepdim=True)
    return states.blocked.index_copy(0, empty, torch.ones_like(blocked).scatter_(1, best, 0.0))


class RelaxedLearner(GreedyLearner):
    """Trains by the relaxed one-step-ahead loss."""

    def __init__(
        self,
        module: PolicyPredictor,
        problem: Problem,
        chains: Chains,
        gumbel: GumbelBank,
        dropout: Dropout | None,
        *,
        exact_first: bool,
        watch_relaxed_loss: bool,
        seed: int,
    ) -> None:
        super().__init__(module, problem, chains, gumbel, dropout, exact_first=exact_first)
        self.watch_relaxed_loss = watch_relaxed_loss
        source = torch.Generator().manual_seed(seed)  # drawn once, so that early stopping does not chase noise
        shape = (problem.max_features, *self.valid.present.shape) if watch_relaxed_loss else (0,)
        self.valid_gumbel = gumbel_noise(*shape, generator=source)

    def _gradients(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        gumbel = self.gumbel.draw(*states.asked.shape)
        run = self._policy_pass(states, self.rows.inputs(states.x, states.known))
        chosen = Selection(run.outputs, states, gumbel, temperature, self.first)
        lesson = self._teach_predictor(states, chosen.mask, extra, to_inputs=True)
        gradient, rates = lesson.mask_gradient(), price_rates(self.problem, states)
        if rates is None:
            run.backward(chosen.gradient(gradient))
        else:
            run.backward(self._for_the_money(gradient, chosen, states, rates))
        return lesson.loss, chosen.pick

    def _for_the_money(self, gradient: Tensor, chosen: Selection, states: States, rates: Tensor) -> Tensor:
        """(b, features) the logits' gradient of minus the gain for the money: (loss - loss now) (selection . rates).

        By how much the loss falls is told by the predictor's belief, without the luck of a label, and without
        dropout, which would make every answer look worse than none.
        """
        rows = self.rows
        now = self._outputs_now(states, rows.inputs(states.x, states.known))
        then = self.module.predictor.roughly(rows.inputs(states.x, chosen.mask))
        rate = (chosen.soft * rates).sum(dim=1, keepdim=True)
        return chosen.gradient(gradient * rate, rates * (rows.divergence(then, now) / -len(now))[:, None])

    def validate(self, module: PolicyPredictor, temperature: float) -> dict[str, float]:
        """The zero-temperature loss; where it is watched, the relaxed loss at the present temperature too."""
        losses = super().validate(module, temperature)
        if self.watch_relaxed_loss:
            losses["relaxed_loss"] = self._relaxed_loss(module, temperature)
        return losses

    def _relaxed_loss(self, module: PolicyPredictor, temperature: float) -> float:
        """The mean loss of Algorithm 1 on the validation rows, with the same noise each time."""
        states = States.start(self.valid)
        total, count = 0.0, 0
        with torch.no_grad():
            for gumbel in self.valid_gumbel:
                open_ = (states.blocked == 0).any(dim=1).nonzero().squeeze(1)
                if not len(open_):
                    break
                now = states.rows(open_)
                logits = module.policy.evaluated(self.valid.inputs(now.x, now.known))
                chosen = Selection(logits, now, gumbel[open_], temperature, self.first)
                outputs = module.predictor.evaluated(self.valid.inputs(now.x, chosen.mask))
                total, count = total + float(self.valid.loss(outputs, now.y).sum()), count + len(open_)
                asked = states.asked.clone()
                asked[open_, chosen.pick] = 1
                states = replace(states, asked=asked)
        return total / max(count, 1)
