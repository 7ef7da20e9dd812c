"""Modules under training as the core's policy and predictor, so that validation runs the one roll-out."""

from __future__ import annotations

import torch
from torch import Tensor

from askless.core import Cases, MaxFeatures, Policy, Predictor, State, Trajectory, rollout
from askless.nn import MaskedMLP
from askless.training.data import Problem, Tensors

__all__ = ["LivePolicy", "LivePredictor", "validation_rollout"]


class LivePolicy:
    """A policy network, and fixed scores where nothing is known."""

    def __init__(self, module: MaskedMLP, first: Tensor | None = None) -> None:
        self.module, self.first = module, first

    def score(self, state: State) -> Tensor:
        """(n, features)."""
        known = state.known.to(state.x.dtype)
        logits: Tensor = self.module(state.x, known)
        if self.first is None:
            return logits
        return torch.where(known.any(dim=1, keepdim=True), logits, self.first)


class LivePredictor:
    """A predictor network; `predict` gives what the loss takes: logits, or standardised means.

    Where nothing is known, the answer is the training rows' own: how frequent each class is, or their mean.
    """

    def __init__(self, module: MaskedMLP, problem: Problem) -> None:
        self.module, self.prior = module, problem.prior_outputs

    def predict(self, state: State) -> Tensor:
        """(n, outputs)."""
        known = state.known.to(state.x.dtype)
        outputs: Tensor = self.module(state.x, known)
        return torch.where(known.any(dim=1, keepdim=True), outputs, self.prior)


def validation_rollout(policy: Policy, predictor: Predictor, valid: Tensors, problem: Problem) -> Trajectory:
    """Real roll-outs of the validation rows, as in use: no noise, no relaxation."""
    with torch.no_grad():
        return rollout(
            policy,
            predictor,
            Cases(valid.x, valid.present),
            problem.schema,
            stopping=MaxFeatures(problem.max_features),
            missing=problem.missing,
        )
