"""Algorithm 1 of the paper: selections through the Concrete relaxation."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from askless.methods.greedy.chains import ChainLearner, Chains, States
from askless.nn import NoiseBank, PolicyPredictor, gumbel_noise, relaxed_selection
from askless.training import Problem, Tensors

__all__ = ["RelaxedLearner", "relaxed_step"]


def relaxed_step(
    module: PolicyPredictor,
    rows: Tensors,
    states: States,
    gumbel: Tensor,  # (b, features)
    temperature: float,
    first: Tensor | None = None,  # (features,) scores of the first question
    noise: NoiseBank | None = None,
) -> tuple[Tensor, Tensor]:
    """One selection of Algorithm 1: each state's loss (b,) after a relaxed selection, and the index (b,) selected."""
    known = states.known
    logits = module.policy(rows.masked(states.x, known), known, noise)
    soft, pick = relaxed_selection(logits, gumbel, states.allowed, temperature)
    if first is not None:  # where nothing is known there is nothing to learn: the best feature is asked, unrelaxed
        empty = ~known.any(dim=1, keepdim=True)
        best = torch.where(states.allowed, first, -torch.inf).argmax(dim=1)
        pick = torch.where(empty[:, 0], best, pick)
        soft = torch.where(empty, functional.one_hot(best, soft.shape[1]), soft)
    mask = known + soft * states.present  # what is asked already has no mass in `soft`, so the paper's max is a sum
    outputs = module.predictor(rows.masked(states.x, mask), mask, noise)
    return rows.loss(outputs, states.y), pick


class RelaxedLearner(ChainLearner):
    """Trains by the relaxed one-step-ahead loss."""

    def __init__(
        self,
        module: PolicyPredictor,
        problem: Problem,
        chains: Chains,
        noise: NoiseBank,
        *,
        exact_first: bool,
        watch_relaxed_loss: bool,
        seed: int,
    ) -> None:
        super().__init__(module, problem, chains, noise, exact_first=exact_first)
        self.watch_relaxed_loss = watch_relaxed_loss
        source = torch.Generator().manual_seed(seed)  # drawn once, so that early stopping does not chase noise
        self.valid_gumbel = gumbel_noise(problem.max_features, *self.valid.present.shape, generator=source)

    @property
    def _dropout(self) -> NoiseBank:
        return self.noise

    def _loss(self, states: States, temperature: float) -> tuple[Tensor, Tensor]:
        gumbel = self.noise.gumbel(*states.asked.shape)
        losses, pick = relaxed_step(self.module, self.rows, states, gumbel, temperature, self.first, self.noise)
        return losses.mean(), pick

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
                open_ = states.allowed.any(dim=1).nonzero().squeeze(1)
                if not len(open_):
                    break
                now = _rows(states, open_)
                losses, pick = relaxed_step(module, self.valid, now, gumbel[open_], temperature, self.first)
                total, count = total + float(losses.sum()), count + len(open_)
                states.asked[open_] |= functional.one_hot(pick, states.asked.shape[1]).bool()
        return total / max(count, 1)


def _rows(states: States, index: Tensor) -> States:
    return States(*(part[index] for part in (states.x, states.y, states.present, states.askable, states.asked)))
