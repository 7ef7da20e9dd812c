"""Prices in training: by how much a gain counts, given what the question costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from askless.acquisition import State
from askless.training.chains import States
from askless.training.problem import Problem
from askless.training.subsets import Sampler

__all__ = [
    "affordable",
    "gain_per_price",
    "paid_sets",
    "price_rates",
    "some_prices",
    "static_rates",
    "with_little_money",
]

FREE = 0.1  # what is free counts as this share of the lowest price, so that a ratio to it is a number
TEMPER = 0.5  # a full ratio buys many cheap answers, whose small gains are mostly noise
PROBES = 64  # states
SHORT = 0.3  # share of the training states that cannot pay for everything


def price_rates(problem: Problem, states: States) -> Tensor | None:
    """(b, features) what to multiply gains with, more for a cheaper question; None where all cost the same."""
    if not problem.priced:
        return None
    if problem.costs.fixed:
        row = torch.from_numpy(_rates(problem, problem.first_prices)).to(states.x.dtype)
        return row.expand(states.asked.shape)
    known = states.known.bool()
    x = states.x * known[:, torch.from_numpy(problem.schema.column_feature)]
    prices = problem.costs.prices(State(x.numpy(), states.asked.bool().numpy(), known.numpy()))
    return torch.from_numpy(_rates(problem, prices)).to(states.x.dtype)


def static_rates(problem: Problem, asked: list[int]) -> np.ndarray:
    """(features,) likewise once some features were asked, whatever the answers."""
    if not problem.priced:
        return np.ones(len(problem.schema))
    mask = np.zeros((1, len(problem.schema)), dtype=bool)
    mask[0, asked] = True
    x = np.zeros((1, problem.schema.n_columns), dtype=np.float32)
    return _rates(problem, np.asarray(problem.costs.prices(State(x, mask, np.zeros_like(mask))))[0])


def some_prices(problem: Problem) -> np.ndarray:
    """(PROBES, features) what questions cost in some random states: enough to tell two cost models apart."""
    rng = np.random.default_rng(0)
    cases = problem.train[np.arange(PROBES) % len(problem.train)]
    asked = rng.random(cases.present.shape) < rng.random((PROBES, 1))
    return np.asarray(problem.costs.prices(State.of(cases, problem.schema.column_feature, asked)))


def gain_per_price(gain: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Gains times rates; a loss stays what it is, so that no low price flatters it and no high one hides it."""
    return np.where(gain > 0, gain * rates, gain)


def affordable(problem: Problem, n: int) -> Tensor:
    """(n, features) bool: what n cases can pay for a question: everything, or no more than some feature costs.

    In use a budget of money rules out what is too dear, so training has to see what is best of the rest.
    """
    prices = torch.from_numpy(problem.first_prices)
    limits = prices[torch.randint(len(prices), (n, 1))]
    rich = torch.rand(n, 1) >= SHORT
    return rich | (prices <= limits)


def paid_sets(sampler: Sampler, problem: Problem) -> Sampler:
    """The sets that a sampler draws among what the cases can pay."""

    def draw(askable: Tensor) -> Tensor:
        return sampler(askable & affordable(problem, len(askable)))

    return draw


def with_little_money(states: States, problem: Problem) -> States:
    """The states, some of which cannot pay for everything; each can pay for something that is not asked yet."""
    can = affordable(problem, len(states.asked)).to(states.x.dtype)
    left = can * (1 - states.blocked)
    can = torch.where(left.any(dim=1, keepdim=True), can, 1.0)
    return replace(states, askable=can if states.askable is None else can * states.askable)


def _rates(problem: Problem, prices: np.ndarray) -> np.ndarray:
    paid = problem.first_prices[problem.first_prices > 0]
    floor = FREE * float(paid.min()) if len(paid) else 1.0
    rates: np.ndarray = (problem.mean_price / np.maximum(prices, floor)) ** TEMPER
    return rates
