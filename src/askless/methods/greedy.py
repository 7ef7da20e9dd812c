"""The paper's greedy method: a policy and a predictor, trained together one selection at a time.

Covert et al., "Learning to Maximize Mutual Information for Dynamic Feature Selection", ICML 2023.

The file reads from top to bottom: the settings, the loss of Algorithm 1 (`RelaxedLearner`), the expected loss without
relaxation that ends the training (`ExpectedLearner`), training the predictor alone (`FollowingLearner`), and the
phases of a fit. States come from chains (`training/chains.py`): no gradient flows between selections, so every
visited state is a training example of its own. docs/greedy.md compares each detail with the paper.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from askless.methods.base import Fitted, NetMethod
from askless.methods.settings import NETWORK, ChainRecipe, Choice, Flag, Limits, Number, Pair
from askless.models import NetPolicy
from askless.networks import GumbelBank, PolicyPredictor, gumbel_noise, relaxed_selection
from askless.training.calibration import calibrated
from askless.training.chain_learner import ChainLearner
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

__all__ = ["Greedy", "GreedyRecipe"]

SHARPNESS = 2.0  # factor on the policy's logits in the expected loss, so that it separates close choices
SECOND_LR = 0.5  # share of the learning rate for networks that are trained already; with all of it they lose first


@dataclass(frozen=True, kw_only=True)
class GreedyRecipe(ChainRecipe):
    """What only experiments change, beside the entries of `ChainRecipe`.

    Parameters
    ----------
    depths : "early" trains on early questions more often than on late ones, since every case is asked them; "even" on
        all alike, as in the paper; "mixed" is half way.
    stages : number of temperatures of a staged schedule, geometrically spaced.
    patience : epochs without improvement that end a stage.
    candidates : number of features that the expected loss compares in each state.
    expected_epochs : epochs of the second part of "annealed+expected"; None for as many as the first.
    predictor_epochs : epochs that train the predictor alone at the end, on the states of the finished policy.
    predictor_rate : their learning rate, as a share of `learning_rate`.
    repeats : whether the policy may select in training what it selected before, as in the paper.
    """

    limits: ClassVar[Limits] = ChainRecipe.limits | {
        "depths": Choice(("early", "mixed", "even")),
        "stages": Number(1, whole=True),
        "patience": Number(1, whole=True),
        "candidates": Number(2, whole=True),
        "expected_epochs": Number(1, whole=True, or_none=True),
        "predictor_epochs": Number(0, whole=True),
        "predictor_rate": Number(0),
        "repeats": Flag(),
    }

    depths: Literal["early", "mixed", "even"] = "early"
    stages: int = 5
    patience: int = 10
    candidates: int = 6
    expected_epochs: int | None = None
    predictor_epochs: int = 0
    predictor_rate: float = 0.5
    repeats: bool = False


@dataclass(eq=False, repr=False, kw_only=True)
class Greedy(NetMethod):
    """Learns a policy that asks for the feature with the highest conditional mutual information.

    A policy and a predictor are trained together: the policy picks one more feature through a Concrete relaxation,
    and both minimise the predictor's loss after that one feature. At the optimum the predictor gives the exact
    posterior and the policy the exact greedy choice (the paper's Theorem 1). `Greedy.paper()` trains as published.

    Parameters
    ----------
    hidden, dropout, network, augment, batch_size, learning_rate, weight_decay : see `NetMethod`.
    epochs : passes over the states (at most, in each stage); None picks 30, or up to ten times as many if these are
        less than a thousand steps.
    pretrain_epochs : passes over the rows that first train the predictor on random sets; None picks likewise.
    shared : whether policy and predictor share their hidden layers.
    subsets : "policy" trains on the sets that the policy itself asks for (the paper's Algorithm 1), "random" on
        random sets (its ablation).
    schedule : "annealed" lowers the temperature within one run of epochs; "staged" runs one early-stopped phase for
        each temperature, as in the paper; "expected" minimises the expected loss among candidates without relaxation;
        "annealed+expected" does the one, then the other.
    temperatures : the first and the last temperature.
    first : "exact" finds the first question, which is the same for every case, by comparing the predictor's
        one-feature losses; "learned" leaves it to the policy network.
    polish : whether to end with a phase that minimises the expected loss, without dropout or weight decay.
    recipe : a `GreedyRecipe`, or a mapping of the entries that differ from its defaults; None for the defaults.
    """

    kind = "dynamic"
    limits = NETWORK | {
        "shared": Flag(),
        "subsets": Choice(("policy", "random")),
        "schedule": Choice(("annealed", "staged", "expected", "annealed+expected")),
        "temperatures": Pair(),
        "first": Choice(("exact", "learned")),
        "polish": Flag(),
        "pretrain_epochs": Number(0, whole=True, or_none=True),
        "recipe": GreedyRecipe,
    }

    pretrain_epochs: int | None = None
    shared: bool = False
    subsets: Literal["policy", "random"] = "policy"
    schedule: Literal["annealed", "staged", "expected", "annealed+expected"] = "annealed"
    temperatures: tuple[float, float] = (1.0, 0.1)
    first: Literal["exact", "learned"] = "exact"
    polish: bool = True
    recipe: GreedyRecipe | dict[str, Any] | None = None

    @classmethod
    def paper(cls, **settings: Any) -> Greedy:
        """Algorithm 1 as published, slow as it is; docs/greedy.md names what the default does differently."""
        published: dict[str, Any] = {
            "schedule": "staged",
            "first": "learned",
            "polish": False,
            "weight_decay": 0.0,
            "learning_rate": 1e-3,
            "epochs": 100,
            "pretrain_epochs": 100,
            "recipe": GreedyRecipe(depths="even", random_starts=0.0, average=0.0, dropout_by="row", repeats=True),
        }
        return cls(**published | settings)

    def work(self, problem: Problem) -> float:
        return 10.0

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        recipe = GreedyRecipe.of(self.recipe)
        with fit_threads(problem.n_threads), seeded(seed):
            net = replace(self.net, dropout_by=recipe.dropout_by)
            module = new_policy_predictor(problem, net, shared=self.shared)
            phases, last = self._phases(module, problem, recipe, seed)
            history = train(phases, progress=progress, checkpoint=checkpoint)
            policy = last.policy(last.module)
            predictor = calibrated(exported_predictor(last.module.predictor, problem), policy, problem)
        return Fitted(policy, predictor, history, training_summary(history))

    def _phases(
        self, module: PolicyPredictor, problem: Problem, recipe: GreedyRecipe, seed: int
    ) -> tuple[list[Phase], GreedyLearner]:
        """The phases of a fit, and the learner of the last one."""
        new_chains = partial(
            Chains,
            problem,
            batch_size=self.batch_size,
            states_per_row=recipe.states_per_row,
            random_subsets=self.subsets == "random",
            random_starts=recipe.random_starts,
            augment=self.augment,
            depths=recipe.depths,
        )
        chains = new_chains(epochs=self.epochs, walks=recipe.walks)
        gumbel = GumbelBank(self.batch_size, len(problem.schema))
        shared = {"exact_first": self.first == "exact", "repeats": recipe.repeats}
        expected = ExpectedLearner(module, problem, chains, gumbel, **shared)
        expected.candidates = min(recipe.candidates, len(problem.schema))
        phase = partial(
            Phase,
            name="policy",
            lr=self.learning_rate,
            weight_decay=self.weight_decay,
            dropout=self.dropout,
            average=recipe.average,
            keep_best_of="relaxed",
            work=chains.work,
        )
        once = partial(phase, epochs=chains.epochs, **SELDOM)
        phases = [pretraining(module.predictor, problem, self.net, epochs=self.pretrain_epochs, seed=seed)]
        last: GreedyLearner = expected
        if self.schedule == "expected":
            phases.append(once(learner=expected, keep_best_of="expected"))
        else:
            last = relaxed = RelaxedLearner(module, problem, chains, gumbel, **shared)
            if self.schedule == "staged":
                relaxed.watch_relaxed_loss(seed)
                stage = partial(
                    phase, learner=relaxed, epochs=chains.epochs, schedule="plateau", monitor="relaxed_loss"
                )
                temperatures = np.geomspace(*self.temperatures, recipe.stages).tolist()
                phases += [stage(temperature=(t, t), patience=recipe.patience) for t in temperatures]
            else:
                phases.append(once(learner=relaxed, temperature=self.temperatures))
            if self.schedule == "annealed+expected":
                again, rate = recipe.expected_epochs or chains.epochs, SECOND_LR * self.learning_rate
                phases.append(once(learner=expected, epochs=again, lr=rate, keep_best_of="expected"))
        if self.polish:
            last = expected
            phases.append(polishing(phases[-1], expected))
        if recipe.predictor_epochs:
            again, kept = recipe.predictor_epochs, phases[-1].keep_best_of
            with seeded(seed):  # the phases before draw the same numbers with this one and without
                last = FollowingLearner(last, new_chains(epochs=again, walks=1))
            rate = recipe.predictor_rate * self.learning_rate
            phases.append(once(name="predictor", learner=last, epochs=again, lr=rate, keep_best_of=kept))
        return phases, last


class GreedyLearner(ChainLearner):
    """What the losses of the method share: the policy's scores are a network's outputs plus Gumbel noise."""

    first_per_price = True

    def __init__(
        self,
        module: PolicyPredictor,
        problem: Problem,
        chains: Chains,
        gumbel: GumbelBank,
        *,
        exact_first: bool,
        repeats: bool,
    ) -> None:
        super().__init__(module, problem, chains, exact_first=exact_first)
        self.gumbel, self.repeats = gumbel, repeats

    def open_scores(self, states: States, scores: Tensor) -> Tensor:
        """(b, features) the scores, those of the first question where nothing is known; -inf for what is blocked."""
        if self.first is not None:
            scores = torch.where(states.known.any(dim=1, keepdim=True), scores, self.first)
        return torch.where(states.blocked > 0, -torch.inf, scores)

    def policy(self, module: PolicyPredictor, *, live: bool = False) -> NetPolicy:
        first = None if self.first is None else self.first.numpy().copy()
        return NetPolicy(module.policy.exported(live=live), first)


class RelaxedLearner(GreedyLearner):
    """Algorithm 1: one more feature is selected through the Concrete relaxation, and the loss flows through it."""

    valid_gumbel: Tensor | None = None  # (selections, rows, features), if the relaxed loss is watched

    def states_loss(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        """The predictor's loss after a relaxed selection."""
        scores, shared_loss = self.policy_outputs(states)
        soft, mask, pick = self.select(scores, states, self.gumbel.draw(*scores.shape), temperature)
        rates = price_rates(self.problem, states)
        if rates is None:
            return self.predictor_loss(states, mask, extra) + shared_loss, pick
        # With prices the policy minimises -(gain per price) = (loss - loss now) * (selection . rates). Its gradient
        # has two parts: that of the loss, times the rate; and that of the rate, times the gain. The gain is the
        # predictor's belief without dropout, which would make every answer look worse than none.
        rate = (soft * rates).sum(dim=1, keepdim=True)
        with torch.no_grad():
            then = self.module.predictor.evaluate(states.x, mask)
            gain = self.rows.divergence(then, self.outputs_now(states))
        mask.register_hook(lambda gradient: gradient * rate.detach())  # type: ignore[no-untyped-call]
        gained = (gain * rate[:, 0]).mean()
        gained = gained - gained.detach()  # gives its gradient but does not show in the training loss
        return self.predictor_loss(states, mask, extra) + shared_loss - gained, pick

    def select(
        self, scores: Tensor, states: States, gumbel: Tensor, temperature: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """A relaxed selection (b, features), what is known after it (b, features), and what it tends to (b,)."""
        blocked = states.blocked
        if self.repeats:  # the paper's: what was selected before keeps its mass, unless nothing else would be left
            blocked = torch.zeros_like(blocked) if states.askable is None else 1 - states.askable
        if self.first is not None:  # where nothing is known, all but the best first question is blocked
            best = torch.where(states.blocked > 0, -torch.inf, self.first).argmax(dim=1, keepdim=True)
            others = torch.ones_like(blocked).scatter_(1, best, 0.0)
            blocked = torch.where(states.known.any(dim=1, keepdim=True), blocked, others)
        soft, pick = relaxed_selection(scores, gumbel, blocked, temperature)
        answered = soft if states.present is None else soft * states.present
        return soft, torch.maximum(states.known, answered), pick  # the larger of both, as in the paper

    def watch_relaxed_loss(self, seed: int) -> None:
        """Validate the relaxed loss too, with the same noise each time: a staged schedule stops by it."""
        valid = self.problem.rows("sample")
        with seeded(seed):
            self.valid_gumbel = gumbel_noise(self.problem.max_features, *valid.present.shape)

    def validate(self, module: PolicyPredictor, temperature: float) -> dict[str, float]:
        """The loss of real roll-outs, and if it is watched the relaxed loss at the present temperature."""
        losses = super().validate(module, temperature)
        if self.valid_gumbel is not None:
            losses["relaxed_loss"] = self._relaxed_loss(module, temperature, self.valid_gumbel)
        return losses

    @torch.no_grad()
    def _relaxed_loss(self, module: PolicyPredictor, temperature: float, gumbels: Tensor) -> float:
        valid = self.problem.rows("sample")
        states, total, count = States.start(valid), 0.0, 0
        for gumbel in gumbels:
            left = (states.blocked == 0).any(dim=1).nonzero().squeeze(1)
            if not len(left):
                break
            now = states[left]
            scores = module.policy.evaluate(now.x, now.known)
            _, mask, pick = self.select(scores, now, gumbel[left], temperature)
            outputs = module.predictor.evaluate(now.x, mask)
            total, count = total + float(valid.loss(outputs, now.y).sum()), count + len(left)
            asked = states.asked.clone()
            asked[left, pick] = 1
            states = replace(states, asked=asked)
        return total / max(count, 1)


class ExpectedLearner(GreedyLearner):
    """The paper's objective without relaxation: the expected gain among a few candidates that the policy draws.

    The objective is E_{i ~ policy}[loss(f(x_s and x_i), y)]. Among m candidates the expectation is a sum, and the
    policy's gradient is exact, with its probabilities renormalised over them. The predictor learns from the sets
    that occur in use, not from mixtures.
    """

    candidates = 6

    def states_loss(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        """The predictor's loss after the drawn question, less the policy's expected gain."""
        scores, shared_loss = self.policy_outputs(states)
        perturbed = self.open_scores(states, scores.detach() + self.gumbel.draw(*scores.shape))
        best, candidates = perturbed.topk(self.candidates, dim=1)  # drawn without replacement
        allowed = best > -torch.inf
        gains = self.candidate_gains(states, candidates)
        rates = price_rates(self.problem, states)
        if rates is not None:
            gains = gains * rates.gather(1, candidates)
        logits = torch.where(allowed, SHARPNESS * scores.gather(1, candidates), -torch.inf)
        expected = (torch.softmax(logits, dim=1) * torch.where(allowed, gains, 0.0)).sum(dim=1).mean()
        pick = candidates[:, 0]
        return self.predictor_loss(states, states.with_pick(pick), extra) + shared_loss - expected, pick


class FollowingLearner(GreedyLearner):
    """Trains the predictor alone on what the finished policy asks for; layers that both shared are copied."""

    def __init__(self, joint: GreedyLearner, chains: Chains) -> None:
        policy = copy.deepcopy(joint.module.policy).requires_grad_(False)
        module = PolicyPredictor(joint.module.predictor, policy)
        exact_first = joint.first is not None
        super().__init__(module, joint.problem, chains, joint.gumbel, exact_first=exact_first, repeats=joint.repeats)
        self._joint = joint

    def begin(self) -> None:
        """Take over the policy and the first question, and walk the chains by them."""
        self.module.policy.load_state_dict(self._joint.module.policy.state_dict())
        self.chains.first.copy_(self._joint.chains.first)
        self.chains.spread(self._pick)

    def _pick(self, states: States) -> Tensor:
        """(b,) what the policy asks for next."""
        scores = self.module.policy.evaluate(states.x, states.known)
        return self.open_scores(states, scores).argmax(dim=1)

    def states_loss(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        """The predictor's loss after the policy's question."""
        pick = self._pick(states)
        return self.predictor_loss(states, states.with_pick(pick), extra), pick
