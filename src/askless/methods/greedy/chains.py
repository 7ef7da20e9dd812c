"""Persistent chains of states, and what both ways to train on them share.

No gradient flows between selections, so every visited state is a training example of its own. Each training row keeps
a few states at random depths; a minibatch of states gets one forward and one backward pass, and the selections made
on the way move the states on. A state that has reached the last depth starts again, empty or, now and then, from a
random set: whatever is known before the first question, policy and predictor have seen the like.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from askless.methods.greedy.first import first_question
from askless.nn import NoiseBank, PolicyPredictor
from askless.training import (
    LivePolicy,
    LivePredictor,
    Problem,
    Tensors,
    bernoulli_sets,
    uniform_sets,
    validation_rollout,
)

__all__ = ["ChainLearner", "Chains", "States"]


@dataclass(frozen=True)
class States:
    """A minibatch of states."""

    x: Tensor  # (b, columns) complete values
    y: Tensor  # (b,)
    present: Tensor  # (b, features) bool
    askable: Tensor  # (b, features) bool
    asked: Tensor  # (b, features) bool

    @property
    def allowed(self) -> Tensor:
        """(b, features) bool: what can be asked next."""
        return self.askable & ~self.asked

    @property
    def known(self) -> Tensor:
        """(b, features) of 0 and 1."""
        return (self.asked & self.present).to(self.x.dtype)

    @classmethod
    def start(cls, rows: Tensors) -> States:
        """All rows, with nothing asked."""
        return cls(rows.x, rows.y, rows.present, rows.askable, torch.zeros_like(rows.present))


class Chains:
    """The states of all training rows."""

    def __init__(
        self,
        problem: Problem,
        *,
        batch_size: int,
        states_per_row: int,
        random_subsets: bool,
        random_starts: float,
        generator: torch.Generator,
        seed: int,
    ) -> None:
        self.rows = problem.tensors("train")
        self.max_features = problem.max_features
        self.batch_size = batch_size
        self.random_subsets = random_subsets
        self.random_starts = random_starts
        self.generator = generator
        self._sampler = uniform_sets(problem.max_features - 1)
        useful = self.rows.askable.any(dim=1).nonzero().squeeze(1)  # a row without any value teaches nothing
        self.row = useful.repeat(states_per_row)  # (states,) the training row of each state
        self.asked = self._drawn(self.rows.askable[self.row], torch.Generator().manual_seed(seed))
        self.first = torch.zeros(len(problem.schema))  # scores of the first question

    @property
    def n_batches(self) -> int:
        """Batches in an epoch."""
        return -(-len(self.row) // self.batch_size)

    def batches(self, generator: torch.Generator) -> Sequence[Tensor]:
        """Random batches of states."""
        return torch.split(torch.randperm(len(self.row), generator=generator), self.batch_size)

    def states(self, batch: Tensor) -> States:
        """The states of a batch."""
        rows, row = self.rows, self.row.index_select(0, batch)
        return States(
            rows.x.index_select(0, row),
            rows.y.index_select(0, row),
            rows.present.index_select(0, row),
            rows.askable.index_select(0, row),
            self.asked.index_select(0, batch),
        )

    def move(self, batch: Tensor, states: States, pick: Tensor) -> None:
        """Ask each state of the batch for what was picked (b,); a state that is at its end starts again."""
        if self.random_subsets:
            moved = self._drawn(states.askable, self.generator)
        else:
            moved = states.asked.scatter(1, pick[:, None], True)
            ended = (moved.sum(dim=1) >= self.max_features) | ~(states.askable & ~moved).any(dim=1)
            moved &= ~ended[:, None]
            restarted = ended & (torch.rand(len(ended), generator=self.generator) < self.random_starts)
            again = restarted.nonzero().squeeze(1)
            moved[again] = self._drawn(states.askable[again], self.generator)
        self.asked.index_copy_(0, batch, moved)

    def _drawn(self, askable: Tensor, generator: torch.Generator) -> Tensor:
        """(b, features) random sets of fewer than `max_features` features that leave something to ask."""
        drawn = self._sampler(askable, generator)
        return drawn & (askable & ~drawn).any(dim=1, keepdim=True)


class ChainLearner(ABC):
    """Trains policy and predictor on chains; a subclass says by what loss."""

    def __init__(
        self, module: PolicyPredictor, problem: Problem, chains: Chains, noise: NoiseBank, *, exact_first: bool
    ) -> None:
        self.module = module
        self.problem = problem
        self.chains = chains
        self.rows, self.valid = chains.rows, problem.tensors("valid")
        self.noise = noise
        self.exact_first = exact_first

    @property
    def first(self) -> Tensor | None:
        """(features,) scores of the first question, if it is not left to the policy."""
        return self.chains.first if self.exact_first else None

    def begin(self) -> None:
        """Find the first question, once: after pretraining, when the predictor knows all single features alike."""
        if self.exact_first and not self.chains.first.any():
            self.chains.first.copy_(first_question(self.module.predictor, [self.rows, self.valid]))

    def batches(self, generator: torch.Generator) -> Sequence[Tensor]:
        """Random batches of states."""
        return self.chains.batches(generator)

    def loss(self, batch: Tensor, temperature: float) -> Tensor:
        """The mean one-step-ahead loss of the batch's states, which move on."""
        states = self.chains.states(batch)
        loss, pick = self._loss(states, temperature)
        self.chains.move(batch, states, pick)
        share = round(self.chains.random_starts * len(batch))
        return loss + self._random_set_loss(states, share) * share / len(batch) if share else loss

    def _random_set_loss(self, states: States, count: int) -> Tensor:
        """The predictor's mean loss on random sets of the batch's first rows, as in its pretraining."""
        present, askable = states.present[:count], states.askable[:count]
        mask = (bernoulli_sets(askable, self.chains.generator) & present).to(states.x.dtype)
        outputs = self.module.predictor(self.rows.masked(states.x[:count], mask), mask, self._dropout)
        return self.rows.loss(outputs, states.y[:count]).mean()

    @property
    @abstractmethod
    def _dropout(self) -> NoiseBank | None:
        """Where dropout comes from, if there is any."""

    @abstractmethod
    def _loss(self, states: States, temperature: float) -> tuple[Tensor, Tensor]:
        """The mean loss, and what was picked (b,)."""

    def validate(self, module: PolicyPredictor, temperature: float) -> dict[str, float]:
        """The zero-temperature loss: that of real roll-outs, after each answer."""
        policy = LivePolicy(module.policy, self.first)
        trajectory = validation_rollout(
            policy, LivePredictor(module.predictor, self.problem), self.valid, self.problem
        )
        outputs = torch.from_numpy(trajectory.predictions[:, 1:])  # (n, k, outputs)
        _, k, width = outputs.shape
        if k == 0:
            return {"loss": float("inf")}
        loss = self.valid.loss(outputs.reshape(-1, width), self.valid.y.repeat_interleave(k))
        return {"loss": float(loss.mean())}

    def tensors(self) -> dict[str, Tensor]:
        """Where each state stands, and the first question."""
        return {"asked": self.chains.asked, "first": self.chains.first}
