"""Prices in training: by how much a gain counts, given what the question costs."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from askless.core import State
from askless.training.chains import States
from askless.training.data import Problem

__all__ = ["gain_per_price", "price_rates", "static_rates"]

FREE = 0.1  # what is free counts as this share of the lowest price, so that a ratio to it is a number


def price_rates(problem: Problem, states: States) -> Tensor | None:
    """(b, features) the mean price over that of each question next; None where all questions cost the same."""
    if not problem.priced:
        return None
    if getattr(problem.costs, "fixed", False):
        row = torch.from_numpy(_rates(problem, problem.first_prices)).to(states.x.dtype)
        return row.expand(states.asked.shape)
    known = states.known.bool()
    x = states.x * known[:, torch.from_numpy(problem.schema.column_feature)]
    prices = problem.costs.prices(State(x, states.asked.bool(), known)).numpy()
    return torch.from_numpy(_rates(problem, prices)).to(states.x.dtype)


def static_rates(problem: Problem, asked: list[int]) -> np.ndarray:
    """(features,) likewise once some features were asked, whatever the answers."""
    if not problem.priced:
        return np.ones(len(problem.schema))
    mask = np.zeros((1, len(problem.schema)), dtype=bool)
    mask[0, asked] = True
    x = np.zeros((1, problem.schema.n_columns), dtype=np.float32)
    return _rates(problem, np.asarray(problem.costs.prices(State(x, mask, np.zeros_like(mask))))[0])


def gain_per_price(gain: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Gains times rates; a loss stays what it is, so that no low price flatters it and no high one hides it."""
    return np.where(gain > 0, gain * rates, gain)


def _rates(problem: Problem, prices: np.ndarray) -> np.ndarray:
    paid = problem.first_prices[problem.first_prices > 0]
    floor = FREE * float(paid.min()) if len(paid) else 1.0
    rates: np.ndarray = problem.mean_price / np.maximum(prices, floor)
    return rates
