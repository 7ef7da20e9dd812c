"""Deep Q-learning: experiences are collected by asking, and both networks learn from those that are replayed."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from askless.methods.opportunistic.certainty import rewards
from askless.methods.opportunistic.replay import Experiences, Replay
from askless.methods.opportunistic.streams import Streams, states_of
from askless.models import NetPolicy
from askless.nn import Dropout, MaskedNet, PolicyPredictor
from askless.training import Problem, States, Tensors, exported_predictor, validation_loss

__all__ = ["OpportunisticLearner", "chosen", "td_targets"]


def chosen(scores: Tensor, blocked: Tensor) -> Tensor:
    """(b,) the best-scored feature of each state that is not blocked (b, features)."""
    return torch.where(blocked > 0, -torch.inf, scores).argmax(dim=1)


def td_targets(
    policy: MaskedNet, target: MaskedNet, rows: Tensors, after: States, reward: Tensor, ended: Tensor, discount: float
) -> Tensor:
    """(b,) what the value of a question should be: its reward, and what the states `after` it are worth.

    The Q-network picks the next question, the target network values it (double Q-learning). Where the budget is
    used up (`ended`, (b,) bool) nothing follows.
    """
    if discount == 0.0:
        return reward
    inputs = rows.inputs(after.x, after.known)
    pick = chosen(policy(inputs).outputs, after.blocked)
    value: Tensor = target(inputs).outputs.gather(1, pick[:, None]).squeeze(1)
    return reward + discount * value.masked_fill(ended, 0.0)


class OpportunisticLearner:
    """Trains a Q-network and a predictor; the temperature of a phase is the share of random questions."""

    def __init__(
        self,
        module: PolicyPredictor,
        problem: Problem,
        streams: Streams,
        replay: Replay,
        dropout: Dropout,
        *,
        batch_size: int,
        updates: int,
        mc_samples: int,
        discount: float,
        target_rate: float,
    ) -> None:
        self.module, self.problem, self.rows = module, problem, streams.rows
        self.streams, self.replay, self.dropout = streams, replay, dropout
        self.batch_size, self.updates = batch_size, updates
        self.mc_samples, self.discount, self.target_rate = mc_samples, discount, target_rate
        self.target = copy.deepcopy(module.policy)  # with hidden layers of its own
        self.per_update = 1.0 + len(problem.schema) / 100.0  # new experiences
        self.done = torch.zeros((), dtype=torch.int64)  # updates

    def begin(self) -> None:
        """The target network starts where the Q-network is."""
        self._move_target(1.0)

    def batches(self, generator: torch.Generator) -> Sequence[Tensor]:
        """Places to replay from, as shares of what there is to replay when their turn comes."""
        return torch.rand(self.updates, self.batch_size, generator=generator).unbind(0)

    def gradients(self, batch: Tensor, temperature: float) -> Tensor:
        """One update, after as many new experiences as go with it; the predictor's mean loss plus the Q-network's."""
        while int(self.replay.total) < max(self.batch_size, self.per_update * (int(self.done) + 1)):
            self.collect(temperature)
        places = (batch * len(self.replay)).long().clamp_(max=len(self.replay) - 1)
        loss = self.learn(self.replay.at(places))
        self._move_target(self.target_rate)
        self.done += 1
        return loss

    def collect(self, exploration: float) -> None:
        """Ask each stream one question, a random one now and then, and keep what came of it."""
        states, generator = self.streams.states(), self.dropout.generator
        scores = self.module.policy(self.rows.inputs(states.x, states.known)).outputs
        explores = torch.rand(len(scores), 1, generator=generator) < exploration
        scores = torch.where(explores, torch.rand(scores.shape, generator=generator), scores)
        pick = chosen(scores, states.blocked)
        reward = rewards(self.module.predictor, self.rows, states, pick, self.dropout, self.mc_samples)
        self.replay.add(Experiences(self.streams.row, self.streams.asked, pick, reward))
        self.streams.move(pick, generator)

    def learn(self, some: Experiences) -> Tensor:
        """Leave the gradients of both losses with the parameters."""
        before = states_of(self.rows, some.row, some.asked)
        after = states_of(self.rows, some.row, some.asked_after)
        return self._teach_predictor(after) + self._teach_values(before, after, some)

    def _teach_predictor(self, states: States) -> Tensor:
        run = self.module.predictor(self.rows.inputs(states.x, states.known), self.dropout)
        run.backward(self.rows.loss_gradient(run.outputs, states.y).div_(len(states.y)))
        return self.rows.loss(run.outputs, states.y).mean()

    def _teach_values(self, before: States, after: States, some: Experiences) -> Tensor:
        ended = some.asked_after.sum(dim=1) >= self.streams.last[some.row]
        goal = td_targets(self.module.policy, self.target, self.rows, after, some.reward, ended, self.discount)
        run = self.module.policy(self.rows.inputs(before.x, before.known), self.dropout)
        error: Tensor = run.outputs.gather(1, some.pick[:, None]).squeeze(1) - goal
        gradient = torch.zeros_like(run.outputs)
        run.backward(gradient.scatter_(1, some.pick[:, None], (2.0 / len(error)) * error[:, None]))
        return error.square().mean()

    def _move_target(self, rate: float) -> None:
        with torch.no_grad():
            mine: list[Tensor] = list(self.target.parameters())
            torch._foreach_lerp_(mine, list(self.module.policy.parameters()), rate)

    def validate(self, module: PolicyPredictor, temperature: float) -> dict[str, float]:
        """The mean loss of real roll-outs, after each answer."""
        policy, predictor = self.policy(module), exported_predictor(module.predictor, self.problem)
        return {"loss": validation_loss(policy, predictor, self.problem)}

    def policy(self, module: PolicyPredictor) -> NetPolicy:
        """The policy for the torch-free runtime, as it is now."""
        return NetPolicy(module.policy.network(), None)

    def tensors(self) -> dict[str, Tensor]:
        """Streams, experiences, the target network and the number of updates."""
        target = {f"target.{name}": tensor for name, tensor in self.target.state_dict().items()}
        return self.streams.tensors() | self.replay.tensors() | target | {"done": self.done}
