"""Training a policy and a predictor together on chains of states: what all ways to do it share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from askless.core import Policy
from askless.nn import Dropout, Layout, PolicyPredictor, Run, mask_gradient
from askless.training.chains import Chains, States
from askless.training.data import Problem
from askless.training.distributed import same_everywhere
from askless.training.first import first_question
from askless.training.predictor import exported_predictor
from askless.training.prices import with_little_money
from askless.training.subsets import bernoulli_sets
from askless.training.validation import validation_loss

__all__ = ["ChainLearner", "Lesson"]


@dataclass(frozen=True)
class Lesson:
    """What the predictor was taught, and the way on to what chose it."""

    loss: Tensor  # the mean
    run: Run
    way: Any  # (b, ...) what the run's way back came to
    x: Tensor  # (b, columns)
    layout: Layout

    def mask_gradient(self) -> Tensor:
        """(b, features) the gradient of what was known."""
        return mask_gradient(self.run.input_gradient(self.way), self.x, self.layout)


class ChainLearner(ABC):
    """Trains policy and predictor on chains; a subclass says by what loss, and what the policy is."""

    def __init__(
        self,
        module: PolicyPredictor,
        problem: Problem,
        chains: Chains,
        dropout: Dropout | None,  # of both networks
        *,
        exact_first: bool,
    ) -> None:
        self.module = module
        self.problem = problem
        self.chains = chains
        self.dropout = dropout
        self.rows, self.valid = chains.rows, problem.tensors("sample")
        self.exact_first = exact_first

    @property
    def first(self) -> Tensor | None:
        """(features,) scores of the first question, if it is not left to the policy."""
        return self.chains.first if self.exact_first else None

    def begin(self) -> None:
        """Find the first question, once: after pretraining, when the predictor knows all single features alike."""
        if self.exact_first and not self.chains.first.any():
            gains = first_question(self.module.predictor, [self.rows, self.problem.tensors("valid")])
            self.chains.first.copy_(self._first_scores(same_everywhere(gains)))

    def _first_scores(self, gains: Tensor) -> Tensor:
        """(features,) scores of the first question, from what each gains."""
        return gains

    def batches(self, generator: torch.Generator) -> Sequence[Tensor]:
        """Random batches of states."""
        return self.chains.batches(generator)

    def gradients(self, batch: Tensor, temperature: float) -> Tensor:
        """The mean one-step-ahead loss of the batch's states, which move on."""
        states = self.chains.states(batch)
        extra = self._random_sets(states.first_rows(round(self.chains.random_starts * len(batch))))
        loss, pick = self._gradients(self._paying(states), extra, temperature)
        self.chains.move(batch, pick)
        return loss

    def _paying(self, states: States) -> States:
        """The states, some of which cannot pay for everything where questions have prices."""
        return with_little_money(states, self.problem, self.chains.generator) if self.problem.priced else states

    def _random_sets(self, states: States) -> States:
        """The states with random sets asked instead, as in the predictor's pretraining: it must not forget them."""
        askable = torch.ones_like(states.asked) if states.askable is None else states.askable
        asked = bernoulli_sets(askable.bool(), self.chains.generator)
        return replace(states, asked=asked.to(torch.uint8))

    @abstractmethod
    def _gradients(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        """The mean loss of the states, and what was picked (b,); the predictor learns from the `extra` ones too."""

    def _policy_pass(self, states: States, inputs: Tensor) -> Run:
        """A pass of the policy from what is known (b, inputs).

        On a shared trunk of convolutions the predictor learns from the same pass: what is known now is what was
        picked before.
        """
        run = self.module.twofold(inputs)
        if run is None:
            return self.module.policy(inputs, self.dropout)  # type: ignore[no-any-return]
        run.teach(self.rows.loss_gradient(run.predictions, states.y).div_(len(inputs)))
        return run

    def _teach_predictor(self, states: States, mask: Tensor, extra: States, *, to_inputs: bool = False) -> Lesson:
        """Let the predictor learn from knowing the mask (b, features) of the states, and from the extra ones.

        What chose the mask learns from the lesson's way back `to_inputs`.
        """
        x, y, b = torch.cat([states.x, extra.x]), torch.cat([states.y, extra.y]), len(mask)
        inputs = self.rows.inputs(x, torch.cat([mask, extra.known]))
        run = self.module.predictor(inputs, self.dropout, to_inputs=to_inputs)
        way = run.backward(self.rows.loss_gradient(run.outputs, y).div_(b))
        return Lesson(self.rows.loss(run.outputs, y).sum() / b, run, way[:b], states.x, self.rows.layout)

    def _outputs_now(self, states: States, inputs: Tensor) -> Tensor:
        """(b, outputs) what the predictor says before another answer; where nothing is known, the prior."""
        outputs = self.module.predictor.roughly(inputs)
        empty = ~states.known.any(dim=1, keepdim=True)
        return torch.where(empty, self.problem.prior_outputs.to(outputs.dtype), outputs)

    def validate(self, module: PolicyPredictor, temperature: float) -> dict[str, float]:
        """The zero-temperature loss: that of real roll-outs, after each answer."""
        policy = self.policy(module, live=True)
        predictor = exported_predictor(module.predictor, self.problem, live=True)
        return {"loss": validation_loss(policy, predictor, self.problem)}

    @abstractmethod
    def policy(self, module: PolicyPredictor, *, live: bool = False) -> Policy:
        """The policy for the torch-free runtime, as it is now; a `live` one is for validation and cannot be kept."""

    def tensors(self) -> dict[str, Tensor]:
        """Where each state stands, and the first question."""
        return self.chains.tensors()
