"""The baseline of the speed benchmark: Algorithm 1 as the paper writes it, in plain torch.

A forward and a backward pass for each selection, one optimiser step for each batch of rows, fresh noise for each
pass, inputs concatenated, nothing kept between selections but the mask. The schedule is the paper's too: pretraining
on random sets of uniform size, then one run for each of five temperatures, each with a decaying learning rate and
early stopping, and the best zero-temperature validation loss of all decides what is kept. Features that were asked
already are left out of the softmax, as in the package: without that the literal loop would learn worse, not faster.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from askless.training import Problem

PATIENCE = 5  # epochs without improvement before the learning rate falls; one more ends the run
LEAST_LR = 1e-6


def network(n_inputs: int, n_outputs: int, hidden: tuple[int, ...], dropout: float) -> nn.Sequential:
    """A plain multilayer perceptron."""
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [nn.Linear(n_inputs, width), nn.ReLU(), nn.Dropout(dropout)]
        n_inputs = width
    return nn.Sequential(*layers, nn.Linear(n_inputs, n_outputs))


class LiteralNets(nn.Module):
    """A policy and a predictor over the concatenation of masked values and mask."""

    def __init__(self, problem: Problem, hidden: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        schema = problem.schema
        inputs = schema.n_columns + len(schema)
        self.policy = network(inputs, len(schema), hidden, dropout)
        self.predictor = network(inputs, problem.n_outputs, hidden, dropout)
        self.column_feature: torch.Tensor
        self.register_buffer("column_feature", torch.from_numpy(schema.column_feature))

    def inputs(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """(b, columns + features)."""
        return torch.cat([x * mask[:, self.column_feature], mask], dim=1)

    def select(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """(b, features) logits of the next selection; what was selected before has none."""
        return self.policy(self.inputs(x, mask)).masked_fill(mask > 0, -torch.inf)

    def predict(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """(b, outputs)."""
        return self.predictor(self.inputs(x, mask))


@dataclass
class Clock:
    """Processor seconds of training; what happens while it is paused, such as evaluation for the record, does not
    count."""

    seconds: float = 0.0
    _since: float | None = None

    def start(self) -> None:
        """Go on."""
        self._since = time.process_time()

    def pause(self) -> None:
        """Stop counting."""
        if self._since is not None:
            self.seconds += time.process_time() - self._since
            self._since = None


@dataclass
class LiteralTraining:
    """One training of the literal loop."""

    problem: Problem
    hidden: tuple[int, ...]
    budget: int
    dropout: float = 0.3
    batch_size: int = 128
    lr: float = 1e-3
    temperatures: tuple[float, float] = (1.0, 0.1)
    stages: int = 5
    max_epochs: int = 100  # of each run
    seconds: float = float("inf")  # when to give up
    seed: int = 0
    clock: Clock = field(default_factory=Clock)
    states: int = 0  # trained on, pretraining not counted

    def __post_init__(self) -> None:
        torch.manual_seed(self.seed)
        self.nets = LiteralNets(self.problem, self.hidden, self.dropout)
        self.train, self.valid = self.problem.rows("train"), self.problem.rows("valid")
        self.best, self.best_loss = self.nets.state_dict(), float("inf")

    def pretrain(self) -> None:
        """Train the predictor on random sets of uniform size."""
        fixed = self._random_mask(len(self.valid))

        def loss() -> float:
            self.nets.eval()
            with torch.no_grad():
                return float(self.valid.loss(self.nets.predict(self.valid.x, fixed), self.valid.y).mean())

        def step(x: torch.Tensor, y: torch.Tensor) -> None:
            self.train.loss(self.nets.predict(x, self._random_mask(len(x))), y).mean().backward()

        self._run(list(self.nets.predictor.parameters()), step, loss)

    def select(self, watch=None) -> None:
        """Train policy and predictor together; `watch` is called after each epoch, off the clock."""
        for temperature in np.geomspace(*self.temperatures, self.stages).tolist():
            self._run(
                list(self.nets.parameters()),
                lambda x, y, t=temperature: self.selections(x, y, t),
                lambda t=temperature: self._validate(t),
                watch,
            )
            if self.clock.seconds > self.seconds:
                return  # the weights of this moment
        self.nets.load_state_dict(self.best)

    def selections(self, x: torch.Tensor, y: torch.Tensor, temperature: float) -> None:
        """A batch: a forward and a backward pass for each selection."""
        mask = torch.zeros(len(x), len(self.problem.schema))
        for _ in range(self.budget):
            noise = -torch.log(-torch.log(torch.rand_like(mask).clamp_min(1e-20)))
            perturbed = self.nets.select(x, mask) + noise
            soft = torch.maximum(mask, torch.softmax(perturbed / temperature, dim=1))
            loss = self.train.loss(self.nets.predict(x, soft), y).mean() / self.budget
            loss.backward()
            mask = torch.maximum(mask, functional.one_hot(perturbed.argmax(dim=1), mask.shape[1]).float()).detach()
        self.states += len(x) * self.budget

    def _run(self, parameters, step, validate, watch=None) -> None:
        """Epochs until the validation loss stops falling, with a learning rate that decays."""
        self.clock.start()
        optimizer = torch.optim.Adam(parameters, lr=self.lr)
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, factor=0.2, patience=PATIENCE, min_lr=LEAST_LR
        )
        lowest, stale = float("inf"), 0
        for _ in range(self.max_epochs):
            self.nets.train()
            for batch in torch.randperm(len(self.train)).split(self.batch_size):
                optimizer.zero_grad()
                step(self.train.x[batch], self.train.y[batch])
                optimizer.step()
                if self._out_of_time():
                    self.clock.pause()
                    return
            loss = validate()
            schedule.step(loss)
            lowest, stale = (loss, 0) if loss < lowest else (lowest, stale + 1)
            if watch is not None:
                self.clock.pause()
                watch()
                self.clock.start()
            if stale > PATIENCE:
                break
        self.clock.pause()

    def _out_of_time(self) -> bool:
        self.clock.pause()
        self.clock.start()
        return self.clock.seconds > self.seconds

    def _validate(self, temperature: float) -> float:
        """The relaxed loss, which early stopping watches; the best weights are those of the lowest hard loss."""
        self.nets.eval()
        soft_total = hard_total = 0.0
        x, y = self.valid.x, self.valid.y
        mask = torch.zeros(len(x), len(self.problem.schema))
        hard_mask = mask
        with torch.no_grad():
            for _ in range(self.budget):
                noise = -torch.log(-torch.log(torch.rand_like(mask).clamp_min(1e-20)))
                perturbed = self.nets.select(x, mask) + noise
                soft = torch.maximum(mask, torch.softmax(perturbed / temperature, dim=1))
                soft_total += float(self.valid.loss(self.nets.predict(x, soft), y).mean())
                mask = torch.maximum(mask, functional.one_hot(perturbed.argmax(dim=1), mask.shape[1]).float())
                hard_mask, outputs = self.ask(x, hard_mask)
                hard_total += float(self.valid.loss(outputs, y).mean())
        if hard_total < self.best_loss:
            self.best, self.best_loss = copy.deepcopy(self.nets.state_dict()), hard_total
        return soft_total / self.budget

    def ask(self, x: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """One eager step in use: the mask with one more feature, and the predictor's outputs then."""
        pick = self.nets.select(x, mask).argmax(dim=1)
        mask = torch.maximum(mask, functional.one_hot(pick, mask.shape[1]).float())
        return mask, self.nets.predict(x, mask)

    def _random_mask(self, rows: int) -> torch.Tensor:
        features = len(self.problem.schema)
        size = torch.randint(features + 1, (rows, 1))
        return (torch.rand(rows, features).argsort(dim=1).argsort(dim=1) < size).float()
