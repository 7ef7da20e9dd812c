"""Algorithm 1 of the paper as persistent chains of states.

No gradient flows between selections, so every visited state is a training example of its own. Each training row keeps
a few states at random depths; a minibatch of states gets one forward and one backward pass, and the argmax of
the same perturbed logits moves each state on. A state that has reached the last depth starts again empty.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from askless.methods.greedy.first import first_question
from askless.nn import NoiseBank, PolicyPredictor, gumbel_noise, relaxed_selection
from askless.training import LivePolicy, LivePredictor, Problem, Tensors, uniform_sets, validation_rollout

__all__ = ["ChainLearner", "relaxed_step"]


def relaxed_step(
    module: PolicyPredictor,
    rows: Tensors,
    x: Tensor,  # (b, columns) complete values
    present: Tensor,  # (b, features) bool
    asked: Tensor,  # (b, features) bool
    allowed: Tensor,  # (b, features) bool
    gumbel: Tensor,  # (b, features)
    temperature: float,
    first: Tensor | None = None,  # (features,) scores of the first question
    noise: NoiseBank | None = None,
) -> tuple[Tensor, Tensor]:
    """One selection of Algorithm 1: the predictor's outputs after a relaxed selection, and the index selected."""
    known = (asked & present).to(x.dtype)
    logits = module.policy(rows.masked(x, known), known, noise)
    if first is not None:
        empty = ~known.any(dim=1, keepdim=True)
        logits = torch.where(empty, first, logits)
        gumbel = torch.where(empty, 0.0, gumbel)
    soft, pick = relaxed_selection(logits, gumbel, allowed, temperature)
    mask = known + soft * present  # what is asked already has no mass in `soft`, so the paper's max is a sum
    return module.predictor(rows.masked(x, mask), mask, noise), pick


class ChainLearner:
    """Trains policy and predictor on states that its own selections move on."""

    def __init__(
        self,
        module: PolicyPredictor,
        problem: Problem,
        noise: NoiseBank,
        *,
        batch_size: int,
        states_per_row: int,
        random_subsets: bool,
        exact_first: bool,
        relaxed_validation: bool,
        seed: int,
    ) -> None:
        self.module = module
        self.problem = problem
        self.rows, self.valid = problem.tensors("train"), problem.tensors("valid")
        self.noise = noise
        self.batch_size = batch_size
        self.random_subsets = random_subsets
        self.first = torch.zeros(len(problem.schema))
        self.exact_first = exact_first
        self.relaxed_validation = relaxed_validation
        useful = self.rows.askable.any(dim=1).nonzero().squeeze(1)  # a row without any value teaches nothing
        self.row = useful.repeat(states_per_row)  # (states,) the training row of each state
        source = torch.Generator().manual_seed(seed)
        self.sampler = uniform_sets(problem.max_features - 1)
        self.asked = self._drawn(self.rows.askable[self.row], source)
        # Drawn once, so that early stopping does not chase noise.
        self.valid_gumbel = gumbel_noise(problem.max_features, *self.valid.present.shape, generator=source)

    @property
    def n_batches(self) -> int:
        """Batches in an epoch."""
        return -(-len(self.row) // self.batch_size)

    def begin(self) -> None:
        """Find the first question, with the predictor as it is now."""
        if self.exact_first:
            self.first.copy_(first_question(self.module.predictor, [self.rows, self.valid]))

    def batches(self, generator: torch.Generator) -> Sequence[Tensor]:
        """Random batches of states."""
        return torch.split(torch.randperm(len(self.row), generator=generator), self.batch_size)

    def loss(self, batch: Tensor, temperature: float) -> Tensor:
        """The mean one-step-ahead loss of the batch's states, which move on."""
        rows = self.rows
        row = self.row.index_select(0, batch)
        x, present = rows.x.index_select(0, row), rows.present.index_select(0, row)
        askable, asked = rows.askable.index_select(0, row), self.asked.index_select(0, batch)
        outputs, pick = relaxed_step(
            self.module,
            rows,
            x,
            present,
            asked,
            askable & ~asked,
            self.noise.gumbel(*asked.shape),
            temperature,
            self.first if self.exact_first else None,
            self.noise,
        )
        self._move(batch, asked, askable, pick)
        return rows.loss(outputs, rows.y.index_select(0, row)).mean()

    def _move(self, batch: Tensor, asked: Tensor, askable: Tensor, pick: Tensor) -> None:
        """Ask what was picked; a state that is at its end starts again."""
        if self.random_subsets:
            moved = self._drawn(askable, self.noise.generator)
        else:
            moved = asked.scatter(1, pick[:, None], True)
            ended = (moved.sum(dim=1) >= self.problem.max_features) | ~(askable & ~moved).any(dim=1)
            moved &= ~ended[:, None]
        self.asked.index_copy_(0, batch, moved)

    def _drawn(self, askable: Tensor, generator: torch.Generator) -> Tensor:
        """(b, features) random sets of fewer than `max_features` features that leave something to ask."""
        drawn = self.sampler(askable, generator)
        return drawn & (askable & ~drawn).any(dim=1, keepdim=True)

    def validate(self, module: PolicyPredictor, temperature: float) -> dict[str, float]:
        """The zero-temperature loss of real roll-outs; where wanted, the relaxed loss at the present temperature."""
        with torch.no_grad():
            losses = {"loss": self._hard_loss(module)}
            if self.relaxed_validation:
                losses["relaxed_loss"] = self._relaxed_loss(module, temperature)
            return losses

    def _hard_loss(self, module: PolicyPredictor) -> float:
        policy = LivePolicy(module.policy, self.first if self.exact_first else None)
        trajectory = validation_rollout(policy, LivePredictor(module.predictor), self.valid, self.problem)
        outputs = torch.from_numpy(trajectory.predictions[:, 1:])  # (n, k, outputs)
        _, k, width = outputs.shape
        if k == 0:
            return float("inf")
        return float(self.valid.loss(outputs.reshape(-1, width), self.valid.y.repeat_interleave(k)).mean())

    def _relaxed_loss(self, module: PolicyPredictor, temperature: float) -> float:
        valid = self.valid
        asked = torch.zeros_like(valid.present)
        total, count = 0.0, 0
        for gumbel in self.valid_gumbel:
            allowed = valid.askable & ~asked
            open_ = allowed.any(dim=1)
            if not open_.any():
                break
            outputs, pick = relaxed_step(
                module,
                valid,
                valid.x,
                valid.present,
                asked,
                allowed | ~open_[:, None],  # rows at their end are computed and left out of the mean
                gumbel,
                temperature,
                self.first if self.exact_first else None,
            )
            total += float(valid.loss(outputs, valid.y)[open_].sum())
            count += int(open_.sum())
            asked = asked | (functional.one_hot(pick, asked.shape[1]).bool() & open_[:, None])
        return total / max(count, 1)

    def tensors(self) -> dict[str, Tensor]:
        """Where each state stands, and the first question."""
        return {"asked": self.asked, "first": self.first}
