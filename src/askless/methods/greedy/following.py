"""The predictor alone, once the policy is finished: it learns the sets that are asked for in use, and nothing moves
them any more.
"""

from __future__ import annotations

import copy

from torch import Tensor

from askless.methods.greedy.learner import GreedyLearner
from askless.nn import Dropout, PolicyPredictor
from askless.training import Chains, States, revealed

__all__ = ["FollowingLearner"]


class FollowingLearner(GreedyLearner):
    """Trains the predictor on what the policy asks for, which stays as it is; layers that both shared are copied."""

    def __init__(self, joint: GreedyLearner, chains: Chains, dropout: Dropout | None) -> None:
        """Go on from where another one has trained both, on chains of its own.

        The policy that asks does not change any more, so that records do not age: all rows can have theirs at once.
        """
        policy = copy.deepcopy(joint.module.policy).requires_grad_(False)
        apart = PolicyPredictor(joint.module.predictor, policy)
        super().__init__(apart, joint.problem, chains, joint.gumbel, dropout, exact_first=joint.exact_first)
        self._joint = joint

    def begin(self) -> None:
        """Take over the policy and the first question as they are when the phase begins, and let the policy ask."""
        self.module.policy.load_state_dict(self._joint.module.policy.state_dict())
        self.chains.first.copy_(self._joint.chains.first)
        self.chains.spread(lambda states: self._pick(self._paying(states)))

    def _pick(self, states: States) -> Tensor:
        """(b,) what the policy asks for next."""
        scores = self.module.policy.roughly(self.rows.inputs(states.x, states.known))
        return self._open_scores(states, scores).argmax(dim=1)

    def _gradients(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        pick = self._pick(states)
        mask = states.known.scatter(1, pick[:, None], revealed(states, pick[:, None]))
        return self._teach_predictor(states, mask, extra).loss, pick
