"""Training a policy and a predictor together on chains of states: what the methods share that do so."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from askless.acquisition import Policy
from askless.networks import MaskedNetwork, PolicyPredictor
from askless.training.chains import Chains, States, with_little_money
from askless.training.loop import Learner
from askless.training.predictor import exported_predictor
from askless.training.problem import Problem, Rows, gain_per_price, row_losses, some_rows, static_rates
from askless.training.subsets import bernoulli_sets

FINALISTS = 32  # the best of them are tried again, with as many trials
AT_ONCE = 1 << 14
LEAST = 1e-6  # nats


def first_question(predictor: MaskedNetwork, parts: Sequence[Rows]) -> Tensor:
    """(features,) how much the loss falls when one feature is known, over the rows that can be asked for it.

    Large tables are tried in two rounds of as many pairs of a row and a feature as the network has time for: some
    rows with all features, then many rows with the best ones.
    """
    n_features = parts[0].present.shape[1]
    everything = torch.arange(n_features)
    gain = _gains(predictor, parts, everything)
    if sum(len(rows) for rows in parts) * n_features <= predictor.first_trials:
        return gain
    best = gain.topk(min(FINALISTS, n_features)).indices
    again = _gains(predictor, parts, best)
    rest = torch.ones(n_features, dtype=torch.bool).index_fill_(0, best, False)
    if bool(rest.any()):  # what was not tried again stays below, in its order
        gain = gain - max(float(gain[rest].max() - again.min()) + LEAST, 0.0)
    return gain.scatter(0, best, again)


def _gains(predictor: MaskedNetwork, parts: Sequence[Rows], features: Tensor) -> Tensor:
    """(len(features),) the mean gain of each feature, over as many rows as there are trials for."""
    total = sum(len(rows) for rows in parts)
    share = min(1.0, predictor.first_trials / (total * len(features)))
    gain, count = torch.zeros(len(features)), torch.zeros(len(features))
    for rows in parts:
        tried = torch.from_numpy(some_rows(len(rows), max(1, round(share * len(rows)))))
        for some in torch.split(tried, max(1, AT_ONCE // len(features))):
            x, y, b = rows.x.index_select(0, some), rows.y.index_select(0, some), len(some)
            candidates = features.expand(b, -1)
            present, able = (
                part.index_select(0, some).to(x.dtype).gather(1, candidates) for part in (rows.present, rows.askable)
            )
            after = predictor.one_more(x, x.new_zeros(1, rows.present.shape[1]), candidates, present)
            losses = rows.loss(after.view(b * len(features), -1), y.repeat_interleave(len(features))).view(b, -1)
            before = rows.loss(rows.problem.prior_outputs.to(x.dtype).expand(b, -1), y)
            gain += ((before[:, None] - losses) * present).sum(dim=0)
            count += able.sum(dim=0)
    return gain / count.clamp_min(1.0)


class ChainLearner(Learner):
    """Trains policy and predictor on chains; a subclass writes the loss of a batch of states, and the policy."""

    module: PolicyPredictor

    first_per_price = False
    """The scores of the first question are gains per price, where prices differ; if not, gains."""

    def __init__(self, module: PolicyPredictor, problem: Problem, chains: Chains, *, exact_first: bool) -> None:
        self.module, self.problem, self.chains = module, problem, chains
        self.rows = chains.rows
        # (features,) scores of the first question, if it is not left to the policy; the chains keep them
        self.first = chains.first if exact_first else None

    @abstractmethod
    def policy(self, module: PolicyPredictor, *, live: bool = False) -> Policy:
        """The fitted policy with a copy of the weights; a `live` one shares them and cannot be kept."""

    @abstractmethod
    def states_loss(self, states: States, extra: States, temperature: float) -> tuple[Tensor, Tensor]:
        """The mean loss of the states, and what was picked (b,); the predictor learns from the `extra` ones too."""

    def begin(self) -> None:
        """Find the first question, once: after pretraining, when the predictor knows all single features alike."""
        if self.first is not None and not self.first.any():
            gains = first_question(self.module.predictor, [self.rows, self.problem.rows("valid")])
            if self.first_per_price and self.problem.priced:
                scores = gain_per_price(gains.numpy(), static_rates(self.problem, []))
                gains = torch.from_numpy(scores).to(gains.dtype)
            self.first.copy_(gains)

    def batches(self) -> Sequence[Tensor]:
        return self.chains.batches()

    def loss(self, batch: Tensor, temperature: float) -> Tensor:
        """The mean one-step-ahead loss of the batch's states, which move on."""
        states = self.chains.states(batch)
        # The predictor must not forget random sets, as in its pretraining.
        extra = states[: round(self.chains.random_starts * len(batch))]
        askable = torch.ones_like(extra.asked) if extra.askable is None else extra.askable
        extra = replace(extra, asked=bernoulli_sets(askable.bool()).to(torch.uint8))
        if self.problem.priced:
            states = with_little_money(states, self.problem)
        loss, pick = self.states_loss(states, extra, temperature)
        self.chains.move(batch, pick)
        return loss

    def policy_outputs(self, states: States) -> tuple[Tensor, Tensor | float]:
        """The policy network's outputs (b, features), and a loss of the predictor.

        Where both share convolutions, the predictor learns from the policy's pass too; else that loss is 0.
        """
        scores, outputs = self.module.both(states.x, states.known)
        return scores, 0.0 if outputs is None else self.rows.loss(outputs, states.y).mean()

    def predictor_loss(self, states: States, mask: Tensor, extra: States) -> Tensor:
        """The predictor's loss if the mask (b, features) of the states is known, and on the extra ones, per state."""
        x, y = torch.cat([states.x, extra.x]), torch.cat([states.y, extra.y])
        outputs = self.module.predictor(x, torch.cat([mask, extra.known]))
        return self.rows.loss(outputs, y).sum() / len(mask)

    def outputs_now(self, states: States) -> Tensor:
        """(b, outputs) of the predictor before another answer; the prior where nothing is known."""
        outputs = self.module.predictor.evaluate(states.x, states.known)
        empty = ~states.known.any(dim=1, keepdim=True)
        return torch.where(empty, self.problem.prior_outputs.to(outputs.dtype), outputs)

    def candidate_gains(self, states: States, candidates: Tensor) -> Tensor:
        """(b, m) what each candidate (b, m) gains, as the predictor believes once it knows its value.

        The gain is the divergence of the predictions after and before. Averaged over cases that is how far the loss
        falls, if the predictor is calibrated, with far less variance than the loss of the sampled labels.
        """
        answered = states.answered(candidates)
        then = self.module.predictor.one_more(states.x, states.known, candidates, answered)
        return self.rows.divergence(then, self.outputs_now(states)[:, None, :]) * answered

    def validate(self, module: PolicyPredictor, temperature: float) -> dict[str, float]:
        """The mean loss of real roll-outs after each answer, without noise."""
        policy = self.policy(module, live=True)
        predictor = exported_predictor(module.predictor, self.problem, live=True)
        return {"loss": float(row_losses(policy, predictor, self.problem).mean())}

    def tensors(self) -> dict[str, Tensor]:
        return self.chains.tensors()
