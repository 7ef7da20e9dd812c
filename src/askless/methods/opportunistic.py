"""Opportunistic learning: deep Q-learning of which feature to ask next.

Kachuee, Goldstein, Karkkainen, Darabi and Sarrafzadeh, "Opportunistic Learning: Budgeted Cost-Sensitive Learning from
Data Streams", ICLR 2019. The file has the settings and the fit, the learner of both networks, the reward, the rows
that are asked in parallel, and the replay of experiences. docs/methods.md compares each detail with the original.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from askless.methods.base import Fitted, NetMethod
from askless.methods.settings import DENSE, Flag, Number, Pair
from askless.models import NetPolicy
from askless.networks import MaskedNetwork, PolicyPredictor
from askless.training.calibration import calibrated
from askless.training.chains import States, row_sums, states_of
from askless.training.checkpoint import Checkpoint
from askless.training.loop import Learner, Phase, enough_epochs, fit_threads, seeded, train
from askless.training.predictor import exported_predictor, new_policy_predictor, training_summary
from askless.training.problem import Problem, Rows, row_losses
from askless.training.progress import Progress
from askless.training.subsets import SubsetLearner, uniform_sets

EPOCHS, UPDATES = 80, 250  # of a training, and in each epoch
PRETRAIN_EPOCHS, PRETRAIN_STEPS = 20, 800  # at least
STREAMS = 64  # rows that are asked in parallel
VALIDATE_EVERY, VALIDATE_FROM = 4, 0.2
AVERAGE = 0.99
REPLAYED = 1000  # experiences that are kept for each feature
MOST_BYTES = 1 << 27  # of experiences


@dataclass(eq=False, repr=False, kw_only=True)
class Opportunistic(NetMethod):
    """Learns by reinforcement which feature will change the prediction most.

    A Q-network learns the value of asking each feature. The reward of an answer is how far it moves the predicted
    probabilities, averaged over dropout. Choose it to compare with reinforcement learning. `Greedy` asks better
    questions, since a prediction that moves need not become better.

    Parameters
    ----------
    hidden : hidden layers of the networks.
    dropout : share of hidden units dropped, in training and for the reward.
    shared : whether the Q-network and the predictor share their hidden layers.
    mc_samples : passes with dropout that a reward is averaged over.
    discount : weight of the rewards of later answers; 0 looks one answer ahead.
    exploration : share of random questions, at the beginning and at the end of training.
    target_rate : how far the target network moves towards the Q-network at each update.
    batch_size : experiences that an update learns from.
    learning_rate, weight_decay : of the AdamW optimiser.
    epochs : rounds of 250 updates; None for 80.
    pretrain_epochs : passes over the rows that train the predictor on random sets first; None picks enough of them.
    """

    kind = "dynamic"
    limits = DENSE | {
        "shared": Flag(),
        "mc_samples": Number(1, whole=True),
        "discount": Number(0, 1),
        "exploration": Pair(high=1.0),
        "target_rate": Number(1e-6, 1),
        "pretrain_epochs": Number(0, whole=True, or_none=True),
    }

    batch_size: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 3.0
    shared: bool = True
    mc_samples: int = 16
    discount: float = 0.0
    exploration: tuple[float, float] = (1.0, 0.1)
    target_rate: float = 0.01
    pretrain_epochs: int | None = None

    def work(self, problem: Problem) -> float:
        return 10.0

    def _fit(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Fitted:
        with fit_threads(problem.n_threads), seeded(seed):
            module = new_policy_predictor(problem, self.net, shared=self.shared)
            sampler = uniform_sets(problem.max_features)  # the sets that random questions lead to
            subsets = SubsetLearner(module.predictor, problem, sampler, batch_size=self.batch_size, seed=seed)
            enough = enough_epochs(subsets.n_batches, PRETRAIN_EPOCHS, PRETRAIN_STEPS)
            pretraining = Phase(
                name="pretraining",
                learner=subsets,
                epochs=enough if self.pretrain_epochs is None else self.pretrain_epochs,
                lr=self.learning_rate,
                weight_decay=self.weight_decay,
                validate_every=2,
            )
            epochs = EPOCHS if self.epochs is None else self.epochs
            learner = OpportunisticLearner(module, problem, self, updates=epochs * UPDATES)
            values = Phase(
                name="values",
                learner=learner,
                epochs=epochs,
                lr=self.learning_rate,
                weight_decay=self.weight_decay,
                temperature=self.exploration,
                average=AVERAGE,
                validate_every=VALIDATE_EVERY,
                validate_from=VALIDATE_FROM,
                work=UPDATES / subsets.n_batches,
            )
            history = train([pretraining, values], progress=progress, checkpoint=checkpoint)
            policy = learner.policy(module)
            predictor = calibrated(exported_predictor(module.predictor, problem), policy, problem)
        return Fitted(policy, predictor, history, training_summary(history))


class OpportunisticLearner(Learner):
    """Trains a Q-network and a predictor from replayed experiences.

    The temperature of a phase is the share of random questions. `updates` is the number of updates in all.
    """

    module: PolicyPredictor

    def __init__(self, module: PolicyPredictor, problem: Problem, settings: Opportunistic, *, updates: int) -> None:
        self.module, self.problem, self.settings = module, problem, settings
        self.rows = problem.rows("train")
        n_features = len(problem.schema)
        self.per_update = 1.0 + n_features / 100.0  # new experiences
        most = max(settings.batch_size, STREAMS, round(updates * self.per_update))
        self.streams = Streams(self.rows, problem.max_features, STREAMS)
        self.replay = Replay(replay_size(n_features, most), n_features, self.rows.x.dtype)
        self.target = copy.deepcopy(module.policy)  # with hidden layers of its own
        self._followed = list(zip(self.target.parameters(), module.policy.parameters(), strict=True))
        self.done = torch.zeros((), dtype=torch.int64)  # updates

    def begin(self) -> None:
        """The target network starts where the Q-network is."""
        self._move_target(1.0)

    def batches(self) -> Sequence[Tensor]:
        """The updates of an epoch by their numbers: what they learn from is drawn when their turn comes."""
        return torch.arange(UPDATES).unbind()

    def loss(self, batch: Tensor, temperature: float) -> Tensor:
        """The predictor's mean loss and the Q-network's, on experiences; new ones are collected first."""
        while int(self.replay.total) < max(self.settings.batch_size, self.per_update * (int(self.done) + 1)):
            self.collect(temperature)
        self._move_target(self.settings.target_rate)
        self.done += 1
        return self.replayed_loss(self.replay.draw(self.settings.batch_size))

    @torch.no_grad()
    def collect(self, exploration: float) -> None:
        """Ask each stream one question, a random one now and then, and keep what came of it."""
        states = self.streams.states()
        scores = self.module.policy.evaluate(states.x, states.known)
        explores = torch.rand(len(scores), 1) < exploration
        pick = best_open(torch.where(explores, torch.rand(scores.shape).to(scores.dtype), scores), states)
        reward = rewards(self.module.predictor, self.rows, states, pick, self.settings.mc_samples)
        self.replay.add(Experiences(self.streams.row, self.streams.asked, pick, reward))
        self.streams.move(pick)

    def replayed_loss(self, some: Experiences) -> Tensor:
        """The predictor's mean loss after the answers, plus the mean squared error of the values before them."""
        before = states_of(self.rows, some.row, some.asked)
        after = states_of(self.rows, some.row, some.asked_after)
        outputs = self.module.predictor(after.x, after.known)
        values = self.module.policy(before.x, before.known).gather(1, some.pick[:, None]).squeeze(1)
        errors = values - self.targets(after, some)
        return self.rows.loss(outputs, after.y).mean() + errors.square().mean()

    def targets(self, after: States, some: Experiences) -> Tensor:
        """(b,) what the value of each question should be: its reward, and what the state after it is worth.

        The Q-network picks the next question, the target network values it (double Q-learning). Nothing follows the
        last question.
        """
        if self.settings.discount == 0.0:
            return some.reward
        ended = after.asked.sum(dim=1) >= self.streams.last[some.row]
        pick = best_open(self.module.policy.evaluate(after.x, after.known), after)
        values = self.target.evaluate(after.x, after.known).gather(1, pick[:, None]).squeeze(1)
        return some.reward + self.settings.discount * values.masked_fill(ended, 0.0)

    @torch.no_grad()
    def _move_target(self, rate: float) -> None:
        for mine, theirs in self._followed:
            mine.lerp_(theirs, rate)

    def validate(self, module: PolicyPredictor, temperature: float) -> dict[str, float]:
        policy = self.policy(module, live=True)
        predictor = exported_predictor(module.predictor, self.problem, live=True)
        return {"loss": float(row_losses(policy, predictor, self.problem).mean())}

    def policy(self, module: PolicyPredictor, *, live: bool = False) -> NetPolicy:
        return NetPolicy(module.policy.exported(live=live))

    def tensors(self) -> dict[str, Tensor]:
        target = {f"target.{name}": tensor for name, tensor in self.target.state_dict().items()}
        return self.streams.tensors() | self.replay.tensors() | target | {"done": self.done}


def best_open(scores: Tensor, states: States) -> Tensor:
    """(b,) the best-scored feature of each state that can be asked."""
    return torch.where(states.blocked > 0, -torch.inf, scores).argmax(dim=1)


def belief(predictor: MaskedNetwork, rows: Rows, x: Tensor, known: Tensor, mc_samples: int) -> Tensor:
    """(b, outputs) class probabilities, or the standardised mean, averaged over passes.

    In train mode each pass drops the same units for all rows. Where nothing is known the belief is the prior.
    """

    def one(outputs: Tensor) -> Tensor:
        return torch.softmax(outputs, dim=1) if rows.problem.task == "classification" else outputs

    mean = torch.stack([one(predictor(x, known)) for _ in range(mc_samples)]).mean(dim=0)
    return torch.where(known.any(dim=1, keepdim=True), mean, one(rows.problem.prior_outputs.to(x.dtype)[None]))


def rewards(predictor: MaskedNetwork, rows: Rows, states: States, pick: Tensor, mc_samples: int) -> Tensor:
    """(b,) the sum over the outputs of how far each moves when the picked features (b,) are answered.

    Before and after share a batch, hence the dropped units: only the answer differs.
    """
    x, known = torch.cat([states.x, states.x]), torch.cat([states.known, states.with_pick(pick)])
    before, after = belief(predictor, rows, x, known, mc_samples).chunk(2)
    return (after - before).abs().sum(dim=1)


class Streams:
    """Training rows that are asked in parallel; one that was asked up to the budget is replaced by another row."""

    def __init__(self, rows: Rows, max_features: int, count: int) -> None:
        self.rows = rows
        able = row_sums(rows.askable)
        self.last = able.clamp(max=max_features)  # (rows,) how many questions each row is asked
        self._useful = able.nonzero().squeeze(1)  # a row that cannot be asked anything teaches nothing
        self.row = self._some_rows(count)  # (count,)
        self.asked = torch.zeros(count, rows.present.shape[1], dtype=torch.uint8)

    def states(self) -> States:
        return states_of(self.rows, self.row, self.asked)

    def move(self, pick: Tensor) -> None:
        self.asked.scatter_(1, pick[:, None], 1)
        ended = (self.asked.sum(dim=1) >= self.last[self.row]).nonzero().squeeze(1)
        self.asked[ended] = 0
        self.row[ended] = self._some_rows(len(ended))

    def _some_rows(self, count: int) -> Tensor:
        return self._useful[torch.randint(len(self._useful), (count,))]

    def tensors(self) -> dict[str, Tensor]:
        return {"row": self.row, "asked": self.asked}


@dataclass(frozen=True)
class Experiences:
    """Some experiences: what was asked of a row, what was asked next, and how that was rewarded."""

    row: Tensor  # (b,) of the training table
    asked: Tensor  # (b, features) 0 or 1, before the question
    pick: Tensor  # (b,) the feature that was asked
    reward: Tensor  # (b,)

    @property
    def asked_after(self) -> Tensor:
        """(b, features) 0 or 1, with the question."""
        return self.asked.scatter(1, self.pick[:, None], 1)


def replay_size(n_features: int, most: int) -> int:
    """How many experiences to keep: 1000 for each feature, unless they are more than `most` or too much memory."""
    return max(1, min(REPLAYED * n_features, most, MOST_BYTES // (n_features + 3 * 8)))


class Replay:
    """A ring of the most recent experiences: new ones take the places of the oldest."""

    def __init__(self, size: int, n_features: int, dtype: torch.dtype) -> None:
        self.size = size
        self.row = torch.zeros(size, dtype=torch.int64)
        self.asked = torch.zeros(size, n_features, dtype=torch.uint8)
        self.pick = torch.zeros(size, dtype=torch.int64)
        self.reward = torch.zeros(size, dtype=dtype)
        self.total = torch.zeros((), dtype=torch.int64)  # experiences so far, also those that are gone

    def __len__(self) -> int:
        return min(self.size, int(self.total))

    def add(self, new: Experiences) -> None:
        """Keep new experiences, at most as many as fit."""
        places = (self.total + torch.arange(len(new.row))) % self.size
        self.row[places], self.asked[places] = new.row, new.asked
        self.pick[places], self.reward[places] = new.pick, new.reward
        self.total += len(new.row)

    def draw(self, count: int) -> Experiences:
        return self.at(torch.randint(len(self), (count,)))

    def at(self, places: Tensor) -> Experiences:
        """The experiences at some places (b,), each below the length."""
        return Experiences(*(part[places] for part in (self.row, self.asked, self.pick, self.reward)))

    def tensors(self) -> dict[str, Tensor]:
        parts = {"row": self.row, "asked": self.asked, "pick": self.pick, "reward": self.reward, "total": self.total}
        return {f"replay_{name}": part for name, part in parts.items()}
