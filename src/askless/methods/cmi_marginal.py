"""Conditional mutual information by imagined answers, drawn from the training table."""

from __future__ import annotations

from dataclasses import dataclass

from askless.methods.base import Fitted, NetMethod
from askless.methods.columns import answer_book, answered
from askless.methods.settings import DENSE, Number
from askless.models import MarginalPolicy
from askless.training.calibration import calibrated
from askless.training.checkpoint import Checkpoint
from askless.training.loop import fit_threads
from askless.training.predictor import exported_predictor, train_predictor, training_summary
from askless.training.problem import Problem
from askless.training.progress import Progress
from askless.training.subsets import uniform_sets


@dataclass(eq=False, repr=False, kw_only=True)
class CmiMarginal(NetMethod):
    """Asks for what would change the prediction most, over answers as frequent as in the training table.

    The second version of the CMI estimation in Covert et al., "Learning to Maximize Mutual Information for Dynamic
    Feature Selection" (2023), after EDDI (Ma et al. 2019). It needs no generative model: each feature's answers are
    imagined from p(x_i), whatever is known. The feature's score is how far the predictions are from their mean. That
    is right for independent features. If features depend on one another, a question whose answer can be foreseen
    looks better than it is. Choose it when features have little to do with one another, or to see what foreseeing
    answers is worth.

    Parameters
    ----------
    atoms : how many answers stand for a number's distribution; categories have all of theirs.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for `Greedy`.
    """

    kind = "dynamic"
    informative = True
    limits = DENSE | {"atoms": Number(2, whole=True)}

    atoms: int = 12

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        module, history = train_predictor(
            problem, uniform_sets(problem.max_features), self.net, seed=seed, progress=progress, checkpoint=checkpoint
        )
        predictor = exported_predictor(module, problem)
        scale = predictor.scale if problem.task == "regression" else None
        with fit_threads(problem.n_threads):
            policy = MarginalPolicy(predictor.dense, answer_book(problem, self.atoms), answered(problem), scale)
        return Fitted(policy, calibrated(predictor, policy, problem), history, training_summary(history))
