"""Shapley additive global importance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from askless.acquisition import Cases
from askless.methods.importance import Additive, ImportanceMethod
from askless.methods.settings import NETWORK, Choice, Number
from askless.networks import MaskedMLP
from askless.training import Problem, Progress, exported_predictor, some_rows

ROWS = 1024  # validation rows at most
RUN = 1024  # network inputs that are predicted at once: what fits a processor's cache
PARTS = 1 << 24  # numbers that the features of these rows add to the first layer's sums, at most
TINY = 1e-12  # probabilities are kept so far from 0


@dataclass(eq=False, repr=False, kw_only=True)
class Sage(ImportanceMethod):
    """Ranks features by their Shapley values in the game of lowering a network's loss.

    SAGE, after Covert, Lundberg and Lee, "Understanding Global Feature Contributions With Additive Importance
    Measures" (2020). A network is trained on all features. A removed feature takes the values of random training
    rows, and the predictions are averaged over them. A feature's value is the mean drop of the loss on the validation
    rows when it joins the features before it in a random order. It is the most careful ranking by one network and the
    slowest: features that say the same share their worth.

    Parameters
    ----------
    imputer : what stands for a removed feature. "marginal": its values in `samples` training rows. "zero": nothing,
        as if it were missing (0 in the encoded row, and not present); quick, for many features such as pixels.
    samples : how many training rows a marginal imputer averages over.
    threshold : the orders are enough when the largest standard error of a value is at most this share of the
        distance between the largest and the smallest value.
    orders : how many random orders there are at most, each for one validation row; every row has at least four.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the networks, as for `Greedy`.
    """

    limits = NETWORK | {
        "imputer": Choice(("marginal", "zero")),
        "samples": Number(1, whole=True),
        "threshold": Number(1e-6, 1),
        "orders": Number(1, whole=True),
    }

    importance_work = 6.0

    imputer: Literal["marginal", "zero"] = "marginal"
    samples: int = 128
    threshold: float = 0.025
    orders: int = 1 << 13

    def _importance(self, module: MaskedMLP, problem: Problem, seed: int, progress: Progress) -> np.ndarray:
        rng = np.random.default_rng(seed)
        model = Additive(exported_predictor(module, problem), problem.schema)
        if self.imputer == "zero":
            removed = np.zeros((len(problem.schema), 1, len(model.bias)), model.bias.dtype)
        else:
            n = len(problem.train)
            removed = model.parts(problem.train, rng.choice(n, min(n, self.samples), replace=False))
        rows = some_rows(len(problem.valid), ROWS)
        cases = Cases(problem.valid.x[rows], problem.valid.present[rows])
        game = Game(model, cases, problem.y_valid[rows], removed)
        return shapley_values(game, self.threshold, self.orders, rng, progress)


@dataclass(frozen=True)
class Game:
    """The drop of a validation row's loss when features join those that the network knows."""

    model: Additive
    cases: Cases
    y: np.ndarray  # (n,)
    removed: np.ndarray  # (features, samples, hidden) what removed features add to the first layer's sums

    @property
    def n_features(self) -> int:
        return len(self.removed)

    def drops(self, rows: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """(b, features) how much each lowers the loss of the rows (b,) when they join in the orders (b, features)."""
        b, own = np.arange(len(rows)), self.model.parts(self.cases, rows)  # own: (features, b, hidden)
        nobody = self.model.bias + self.removed.sum(axis=0)  # (samples, hidden)
        sums = np.repeat(nobody[None], len(rows), axis=0)  # (b, samples, hidden)
        before = self._losses(sums, rows)
        drops = np.empty(orders.shape)
        for joining in orders.T:  # (b,)
            sums -= self.removed[joining]
            sums += own[joining, b][:, None]
            after = self._losses(sums, rows)
            drops[b, joining] = before - after
            before = after
        return drops

    def _losses(self, sums: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(b,) the loss of the mean prediction over the samples, from the sums (b, samples, hidden)."""
        n, samples, hidden = sums.shape
        each = self.model.predictions(sums.reshape(-1, hidden)).reshape(n, samples, -1)
        mean = each.mean(axis=1, dtype=np.float64)  # (b, outputs)
        if self.model.predictor.classes:
            losses: np.ndarray = -np.log(np.maximum(mean[np.arange(n), self.y[rows]], TINY))
        else:
            losses = np.square(mean[:, 0] - self.y[rows])
        return losses


def shapley_values(
    game: Game, threshold: float, at_most: int, rng: np.random.Generator, progress: Progress
) -> np.ndarray:
    """(features,) the mean drops over random orders, as many as make the standard errors small.

    Every pass gives each row one order and its reverse, so that neither the choice of rows nor the position in the
    order adds noise. A row's means of such pairs differ by the orders alone, which gives the standard errors.
    """
    total, squares = np.zeros((2, len(game.y), game.n_features))
    values: np.ndarray = total[0]
    passes = max(2, at_most // (2 * len(game.y)))
    for done in range(1, passes + 1):
        pairs = _one_pass(game, rng)
        total += pairs
        squares += np.square(pairs)
        values = total.mean(axis=0) / done
        error, enough = _largest_error(total, squares, done), threshold * float(values.max() - values.min())
        _report(progress, done, error, enough, passes)
        if error <= enough:
            break
    return values


def _largest_error(total: np.ndarray, squares: np.ndarray, done: int) -> float:
    if done == 1:
        return np.inf
    variances = (squares - np.square(total) / done) / (done - 1)  # of one pair
    return float(np.sqrt(max(0.0, variances.mean(axis=0).max()) / (done * len(total))))


def _one_pass(game: Game, rng: np.random.Generator) -> np.ndarray:
    """(n, features) the drops of each row, as the mean of a random order and its reverse."""
    orders = rng.permuted(np.tile(np.arange(game.n_features), (len(game.y), 1)), axis=1)
    features, samples, hidden = game.removed.shape
    at_once = max(1, min(RUN // samples, PARTS // (features * hidden)))
    drops = np.empty(orders.shape)
    for start in range(0, len(orders), at_once):
        some = orders[start : start + at_once]
        rows = np.arange(start, start + len(some))
        drops[rows] = (game.drops(rows, some) + game.drops(rows, some[:, ::-1])) / 2.0
    return drops


def _report(progress: Progress, done: int, error: float, enough: float, at_most: int) -> None:
    if error <= enough:
        expected = done
    elif error >= enough * np.sqrt(at_most / done):
        expected = at_most
    else:
        expected = int(np.ceil(done * (error / enough) ** 2))
    progress.start(expected)
    progress.epoch(done, "shapley values", {"epoch": done})
