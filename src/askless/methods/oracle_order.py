"""An order that knows the answers: for experiments only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.methods.base import Fitted, NetMethod
from askless.methods.settings import DENSE
from askless.models import OraclePolicy
from askless.training.calibration import calibrated
from askless.training.checkpoint import Checkpoint
from askless.training.predictor import exported_predictor, train_predictor, training_summary
from askless.training.problem import Problem
from askless.training.progress import Progress
from askless.training.subsets import full_sets, mixed_sets, uniform_sets

COMPLETE = 0.25  # share of the training sets that hold everything: what the oracle aims at


@dataclass(eq=False, repr=False, kw_only=True)
class OracleOrder(NetMethod):
    """Looks at all answers and asks for the one that brings the prediction nearest to that of the complete case.

    A control for experiments, with no paper of its own: how much better could an order be, case by case, for this
    predictor? Nothing in use can know the answers beforehand, so that `rollout`, `predict` and `interview` refuse it.
    An experiment rolls it out with `acquisition.rollout`, which lets it see the truth:

        model = DynamicClassifier(10, method="oracle_order").fit(X, y).model_
        cases = model.encoder.transform(X_test)
        rule = askless.acquisition.MaxFeatures(10)
        t = askless.acquisition.rollout(
            model.policy, model.predictor, cases, model.schema, stopping=rule, missing=model.missing, allow_truth=True
        )

    Parameters
    ----------
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for `Greedy`.
    """

    kind = "control"
    limits = DENSE

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        sampler = mixed_sets(uniform_sets(problem.max_features), full_sets, COMPLETE)
        module, history = train_predictor(
            problem, sampler, self.net, seed=seed, progress=progress, checkpoint=checkpoint
        )
        predictor = exported_predictor(module, problem)
        # (n, features) the values that are encoded by nothing but zeros
        zeros = problem.train.present & ~np.logical_or.reduceat(problem.train.x != 0, problem.schema.starts, axis=1)
        policy = OraclePolicy(
            predictor.dense,
            classes=predictor.classes,
            starts=problem.schema.starts,
            zero_is_missing=np.asarray(~zeros.any(axis=0)),
        )
        return Fitted(policy, calibrated(predictor, policy, problem), history, training_summary(history))
