"""Values of questions in nats, learned by regression (DIME).

Gadgil, Covert and Lee, "Estimating Conditional Mutual Information for Dynamic Feature Selection", ICLR 2024. The file
has the settings, the loss and the fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from askless.methods.base import Fitted, NetMethod
from askless.methods.settings import NETWORK, ChainRecipe, Choice, Flag, Number, Pair
from askless.models import NetValue
from askless.networks import PolicyPredictor
from askless.training.calibration import calibrated
from askless.training.chain_learner import ChainLearner, first_question
from askless.training.chains import Chains, States, price_rates
from askless.training.checkpoint import Checkpoint
from askless.training.loop import Phase, fit_threads, seeded, train
from askless.training.predictor import (
    SELDOM,
    exported_predictor,
    new_policy_predictor,
    polishing,
    pretraining,
    training_summary,
)
from askless.training.problem import Problem
from askless.training.progress import Progress

__all__ = ["Value", "ValueRecipe"]

# Share of the training states that choose questions by gain per price. The others choose by gain alone, else few
# states know all informative features, and predictions are worse where money is plenty.
HEED_PRICES = 0.5


class ValueRecipe(ChainRecipe):
    """What only experiments change; see `ChainRecipe`."""


@dataclass(eq=False, repr=False, kw_only=True)
class Value(NetMethod):
    """Learns what each question is worth, in nats, and asks the one that is worth most.

    A value network regresses how far each candidate's answer moves the prediction, a KL divergence; the least-squares
    answer is the conditional mutual information. For a regression, values are reductions of the squared error, in the
    target's units squared. Choose it if the numbers themselves matter: to compare a question's worth with its price,
    to stop when nothing is worth asking, to say why a question was asked.

    Parameters
    ----------
    hidden, dropout, network, augment, batch_size, learning_rate, weight_decay : see `NetMethod`.
    epochs, pretrain_epochs, shared, first, polish : as for `Greedy`.
    candidates : features that are tried in each training state: half of them those that seem best, half any.
    exploration : share of the training states in which any feature is asked instead of the best, first and last.
    recipe : a `ValueRecipe`, or a mapping of the entries that differ from its defaults; None for the defaults.
    """

    kind = "dynamic"
    informative = True
    limits = NETWORK | {
        "shared": Flag(),
        "candidates": Number(2, whole=True),
        "exploration": Pair(high=1.0),
        "first": Choice(("exact", "learned")),
        "polish": Flag(),
        "pretrain_epochs": Number(0, whole=True, or_none=True),
        "recipe": ValueRecipe,
    }

    pretrain_epochs: int | None = None
    shared: bool = False
    candidates: int = 6
    exploration: tuple[float, float] = (1.0, 0.1)
    first: Literal["exact", "learned"] = "exact"
    polish: bool = True
    recipe: ValueRecipe | dict[str, Any] | None = None

    def work(self, problem: Problem) -> float:
        return 10.0

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        recipe = ValueRecipe.of(self.recipe)
        with fit_threads(problem.n_threads), seeded(seed):
            net = replace(self.net, dropout_by=recipe.dropout_by)
            module = new_policy_predictor(problem, net, shared=self.shared)
            chains = Chains(
                problem,
                batch_size=self.batch_size,
                states_per_row=recipe.states_per_row,
                walks=recipe.walks,
                epochs=self.epochs,
                random_subsets=False,
                random_starts=recipe.random_starts,
                augment=self.augment,
            )
            learner = ValueLearner(module, problem, chains, exact_first=self.first == "exact")
            learner.candidates = min(self.candidates, len(problem.schema))
            phases = [
                pretraining(module.predictor, problem, net, epochs=self.pretrain_epochs, seed=seed),
                Phase(
                    name="values",
                    learner=learner,
                    epochs=chains.epochs,
                    lr=self.learning_rate,
                    weight_decay=self.weight_decay,
                    dropout=self.dropout,
                    temperature=self.exploration,
                    average=recipe.average,
                    keep_best_of="values",
                    work=chains.work,
                    **SELDOM,
                ),
            ]
            if self.polish:
                phases.append(polishing(phases[-1], learner))
            history = train(phases, progress=progress, checkpoint=checkpoint)
            learner.refine_first()
            policy = learner.policy(module)
            predictor = calibrated(exported_predictor(module.predictor, problem), policy, problem)
        return Fitted(policy, predictor, history, training_summary(history))


class ValueLearner(ChainLearner):
    """Trains the value network by the squared error of its values, and the predictor on what was asked.

    A candidate's value is regressed on its gain in the case. The mean of that over all cases in the same state, which
    least squares finds, is the conditional mutual information.
    """

    candidates = 6

    def states_loss(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        """The error of the values and the predictor's loss; `temperature` is the share of states that explore."""
        outputs, shared_loss = self.policy_outputs(states)
        values = self._bound(states) * outputs
        candidates, allowed = self._candidates(states, values.detach())
        gains = self.candidate_gains(states, candidates)
        errors = torch.where(allowed, values.gather(1, candidates) - gains, 0.0)  # (b, m)
        value_loss = errors.square().sum() / max(int(allowed.sum()), 1)
        explores = torch.rand(len(candidates)) < temperature
        last = (allowed.sum(dim=1) - 1).clamp_min(0)
        pick = candidates.gather(1, torch.where(explores, last, 0)[:, None]).squeeze(1)
        return value_loss + self.predictor_loss(states, states.with_pick(pick), extra) + shared_loss, pick

    def _bound(self, states: States) -> Tensor | float:
        """(b, 1) what values are shares of: the prediction's entropy, which none can exceed; 1 for a regression."""
        if self.problem.task == "regression":
            return 1.0
        logs = torch.log_softmax(self.outputs_now(states), dim=1)
        return -(logs.exp() * logs).sum(dim=1, keepdim=True)

    def _candidates(self, states: States, values: Tensor) -> tuple[Tensor, Tensor]:
        """(b, m) features to try, the best one first, then half of them good ones, then any; and which are allowed.

        Features that cannot be asked come last.
        """
        blocked = states.blocked > 0
        scores = values
        if self.first is not None:
            scores = torch.where(states.known.any(dim=1, keepdim=True), values, self.first.to(values.dtype))
        rates = price_rates(self.problem, states)
        if rates is not None:
            scores = torch.where(torch.rand(len(scores), 1) < HEED_PRICES, scores * rates, scores)
        good = max(1, self.candidates // 2)
        best = torch.where(blocked, -torch.inf, scores).topk(good, dim=1).indices
        lottery = torch.rand(values.shape).to(values.dtype)
        lottery.scatter_(1, best, 2.0 + torch.arange(good, 0, -1, dtype=values.dtype).expand(len(best), -1))
        tickets, candidates = torch.where(blocked, -1.0, lottery).topk(self.candidates, dim=1)
        return candidates, tickets >= 0

    def refine_first(self) -> None:
        """Measure the first values again, now that the predictor is better; the first question stays the same."""
        if self.first is None:
            return
        again = first_question(self.module.predictor, [self.rows, self.problem.rows("valid")])
        if self.problem.priced:  # the first question depends on its price too
            self.first.copy_(again.clamp_min(0.0))
            return
        chosen = int(self.first.argmax())
        best = max(float(again[chosen]), 0.0)
        self.first.copy_(again.clamp(min=0.0, max=(1.0 - 1e-6) * best))
        self.first[chosen] = best

    def policy(self, module: PolicyPredictor, *, live: bool = False) -> NetValue:
        policy, predictor = (network.exported(live=live) for network in (module.policy, module.predictor))
        regression = self.problem.task == "regression"
        _, scale = self.problem.target_scale
        unit = scale**2 if regression else 1.0
        return NetValue(
            policy,
            predictor=None if regression else predictor,
            scale=scale,
            first=None if self.first is None else (self.first.double() * unit).numpy(),
        )
