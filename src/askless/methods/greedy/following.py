"""The predictor alone, once the policy is finished: it learns the sets that are asked for in use, and nothing moves
them any more.
"""

from __future__ import annotations

import copy

from torch import Tensor

from askless.methods.greedy.learner import GreedyLearner
from askless.nn import PolicyPredictor
from askless.training import States, revealed

__all__ = ["FollowingLearner"]


class FollowingLearner(GreedyLearner):
    """Trains the predictor on what the policy asks for, which stays as it is; layers that both shared are copied."""

    def __init__(self, joint: GreedyLearner) -> None:
        """Go on from where another one has trained both."""
        policy = copy.deepcopy(joint.module.policy).requires_grad_(False)
        apart = PolicyPredictor(joint.module.predictor, policy)
        super().__init__(
            apart, joint.problem, joint.chains, joint.gumbel, joint.dropout, exact_first=joint.exact_first
        )
        self._finished = joint.module.policy

    def begin(self) -> None:
        """Take over the policy as it is when the phase begins."""
        super().begin()
        self.module.policy.load_state_dict(self._finished.state_dict())

    def _gradients(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        scores = self.module.policy.roughly(self.rows.inputs(states.x, states.known))
        pick = self._open_scores(states, scores).argmax(dim=1)
        mask = states.known.scatter(1, pick[:, None], revealed(states, pick[:, None]))
        return self._teach_predictor(states, mask, extra).loss, pick
