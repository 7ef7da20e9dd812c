"""Temperatures: how far a predictor's certainty can be trusted, by how much it knows.

Networks tend to be too sure, and more so in some states than in others. A temperature divides the logits (Guo et al.,
"On Calibration of Modern Neural Networks", 2017), or multiplies the standard deviation of a regression. Here it is a
smooth function of how many features are known, fitted on the validation rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn import functional

from askless.acquisition import Policy, State
from askless.models import NetPredictor
from askless.models.network import LogVariance
from askless.training.loop import one_thread, seeded
from askless.training.problem import Problem, validation_rollout
from askless.training.subsets import bernoulli_sets

SPREAD_STEPS = 100  # at most
LEAST = 1e-8  # squared residual: a perfect prediction has no logarithm
MOST_NUMBERS = 1 << 21  # in the states that are learned from
SPREAD_PRIOR_ROWS = 10  # how many rows it takes to outweigh the belief that the spread is the same everywhere


def fit_spread(known: np.ndarray, mean: np.ndarray, squared: np.ndarray, row: np.ndarray) -> LogVariance:
    """What the squared residuals (s,) of standardised means (s,) are in states where `known` (s, features) is known.

    They belong to the cases `row` (s,): validation rows, because the training rows' residuals are too small.
    """
    every = -(-known.size // MOST_NUMBERS)
    target = torch.from_numpy(squared[::every]).double().clamp_min(LEAST)
    values = torch.from_numpy(LogVariance.design(known[::every], mean[::every])).double()  # (s, features + 2)
    centre, scale = values.mean(dim=0), values.std(dim=0, correction=0).clamp_min(1e-6)
    design = (values - centre) / scale
    ridge = SPREAD_PRIOR_ROWS / max(len(np.unique(row)), 1)

    def loss(parameters: Tensor) -> Tensor:  # it is convex
        weight, bias = parameters[:-1], parameters[-1]
        log_variance = design @ weight + bias
        return (log_variance + target * (-log_variance).exp()).mean() + ridge * weight.square().sum()

    same_everywhere = torch.cat([torch.zeros(design.shape[1]), target.mean().log()[None]])
    found = minimum(loss, same_everywhere, SPREAD_STEPS)
    weight, bias = found[:-1], found[-1]
    fitted = design @ weight + bias
    raw = weight / scale
    weights = torch.cat([raw, (bias - raw @ centre)[None]]).float().numpy()
    return LogVariance(weights, np.array([float(fitted.min()), float(fitted.max())], dtype=np.float32))


def minimum(loss: Callable[[Tensor], Tensor], start: Tensor, steps: int) -> Tensor:
    """(p,) where the loss is least, from `start` (p,) on, after so many steps at most; in double precision."""

    def with_gradient(place: np.ndarray) -> tuple[float, np.ndarray]:
        at = torch.tensor(place, dtype=torch.float64, requires_grad=True)
        value = loss(at)
        (gradient,) = torch.autograd.grad(value, at)
        return float(value.detach()), gradient.numpy()

    start_at = start.detach().double().numpy()
    found = minimize(with_gradient, start_at, jac=True, method="L-BFGS-B", options={"maxiter": steps})
    return torch.from_numpy(found.x)


MOST_STATES = 1 << 16  # that temperatures are fitted on
RANDOM_SETS = 2  # of each row, beside those of the policy
PRIOR_ROWS = 1  # rows that say that the temperature is the same everywhere
FOLDS = 2
STEPS = 50  # at most, to fit them
LARGEST = 2.0  # log temperature, either way

Losses = Callable[[Tensor], Tensor]
"""From the log temperature of each state (s,) to its loss (s,)."""


@dataclass(frozen=True)
class _Seen:
    """What the predictor says in partial records of the validation rows."""

    outputs: np.ndarray  # (s, outputs) logits, or means
    count: np.ndarray  # (s,) how many features are known
    known: np.ndarray  # (s, features) which, for a regression; nothing for classes
    row: np.ndarray  # (s,) the validation row


def calibrated(predictor: NetPredictor, policy: Policy, problem: Problem) -> NetPredictor:
    """The predictor with temperatures, if these help on validation rows; a regression's gets its spread first."""
    with one_thread(), seeded(0):
        seen = _seen(predictor, policy, problem)
        if seen is None:
            return predictor
        _, y = problem.validation_sample
        fold = np.random.default_rng(0).permutation(len(y)) % FOLDS  # (n,) of each row
        if problem.task == "classification":
            logits, target = torch.from_numpy(seen.outputs.astype(np.float64)), torch.from_numpy(y[seen.row]).long()
            losses = lambda t: functional.cross_entropy(  # noqa: E731
                logits * (-t).exp()[:, None], target, reduction="none"
            )
        else:
            z = _standardized(predictor, seen, y, fold)
            losses = lambda t: t + 0.5 * z * (-2.0 * t).exp()  # noqa: E731
        known = torch.from_numpy(seen.count)
        predictor.temperatures = _temperatures(losses, known, seen.row, fold, len(problem.schema))
    return predictor


def _seen(predictor: NetPredictor, policy: Policy, problem: Problem) -> _Seen | None:
    """All records with something known, one set of features at a time: together they would take much room."""
    cases, _ = problem.validation_sample
    classes = problem.task == "classification"
    parts = []
    trajectory = validation_rollout(policy, predictor, problem)
    last = trajectory.order.shape[1]
    enough = min(last, max(1, MOST_STATES // len(trajectory)))
    steps = np.unique(np.linspace(1, last, enough).round().astype(int)).tolist() if last else []
    askable = problem.rows("sample").askable
    as_asked = (trajectory.selected(step) for step in steps)
    at_random = (bernoulli_sets(askable).numpy() for _ in range(RANDOM_SETS))
    for asked in chain(as_asked, at_random):  # (n, features) what is asked of each validation row
        state = State.of(cases, problem.schema.column_feature, asked)
        row = np.flatnonzero(state.known.any(axis=1))  # nothing known: the prior needs no temperature
        if not len(row):
            continue
        state = state[row]
        outputs = predictor.network.outputs(state) if classes else predictor.predict(state)
        which = state.known[:, :0] if classes else state.known
        parts.append((outputs.reshape(len(row), -1), state.known.sum(axis=1), which, row))
    return _Seen(*(np.concatenate(part) for part in zip(*parts, strict=True))) if parts else None


def _standardized(predictor: NetPredictor, seen: _Seen, y: np.ndarray, fold: np.ndarray) -> Tensor:
    """(s,) squared residuals by variances that were learned from other rows; the predictor gets those of all rows."""
    row = seen.row
    mean = (seen.outputs[:, 0] - predictor.offset) / predictor.scale
    squared = (mean - (y[row] - predictor.offset) / predictor.scale) ** 2
    predictor.log_variance = fit_spread(seen.known, mean, squared, row)
    variance = np.empty_like(squared)
    for part in range(FOLDS):
        here = fold[row] == part
        found = predictor.log_variance  # of few rows none may be left to learn from
        if not here.all():
            found = fit_spread(seen.known[~here], mean[~here], squared[~here], row[~here])
        variance[here] = np.exp(found(seen.known[here], mean[here]))
    return torch.from_numpy(squared / variance)


def _temperatures(
    losses: Losses, known: Tensor, row: np.ndarray, fold: np.ndarray, n_features: int
) -> np.ndarray | None:
    """(features + 1,) by how many are known; None where rows that were not fitted get no better."""
    if not len(row):
        return None
    n_rows = len(fold)
    u = (1.0 + torch.arange(n_features + 1).double()).log() / np.log(1.0 + n_features)
    # (features + 1, 3) a parabola over the logarithm of how many features are known
    basis = torch.stack([torch.ones_like(u), u - 0.5, (u - 0.5) ** 2], dim=1)
    design = basis[known]  # (s, 3)
    change = np.zeros(n_rows)
    for part in range(FOLDS):
        here = torch.from_numpy(fold[row] != part)
        t = design @ _fit(losses, design, here.double(), n_rows)
        better = (losses(torch.zeros_like(t)) - losses(t)).numpy()
        np.add.at(change, row[~here.numpy()], better[~here.numpy()])
    if not change.mean() > change.std() / np.sqrt(n_rows):
        return None
    weight = _fit(losses, design, torch.ones(len(row), dtype=torch.float64), n_rows)
    result: np.ndarray = (basis @ weight).clamp(-LARGEST, LARGEST).exp().float().numpy()
    return result


def _fit(losses: Losses, design: Tensor, weights: Tensor, n_rows: int) -> Tensor:
    """(3,) what gives the log temperatures with the least mean loss of the states with weights (s,)."""
    total = weights.sum().clamp_min(1.0)

    def loss(weight: Tensor) -> Tensor:
        fit = (losses(design @ weight) * weights).sum() / total
        return fit + PRIOR_ROWS / n_rows * weight[1:].square().sum()

    return minimum(loss, torch.zeros(design.shape[1]), STEPS)
