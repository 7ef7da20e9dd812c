"""Ranking by mutual information, the classic filter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.acquisition import Feature
from askless.methods.columns import telling_columns
from askless.methods.settings import NETWORK, Flag, Number
from askless.methods.static import RankingMethod, Scores
from askless.training import Checkpoint, Problem, Progress, gain_per_price, some_rows, static_rates

ROWS = 1 << 16  # at most; the estimates get no better for a ranking
DOUBT = 50  # rows without information that are added where nearly all are missing: few rows tell much by chance
ROWS_PER_CELL = 5  # on average, in the table of a group and the target


@dataclass(eq=False, repr=False, kw_only=True)
class MutualInformation(RankingMethod):
    """Asks in the order of each feature's mutual information with the target, estimated one feature at a time.

    The filter of Battiti, "Using mutual information for selecting features in supervised neural net learning" (1994)
    without its penalty; Brown et al., "Conditional likelihood maximisation: a unifying framework for information
    theoretic feature selection" (2012), call it MIM. It takes a second. It does not notice that two features say the
    same, or that two say something only together. Choose it as a baseline, or where nothing else is affordable.
    If features have prices, the order is by information for the money.

    Parameters
    ----------
    bins : numbers are cut into at most so many bins of equal frequency; equal values stay together. So is the target
        of a regression.
    bias_correction : whether to correct each entropy for the number of cells (Miller and Madow); else features with
        many values look better than they are.
    hidden, dropout, batch_size, learning_rate, weight_decay, epochs : of the predictor, as for `Greedy`.
    """

    limits = NETWORK | {"bins": Number(2, 1000, whole=True), "bias_correction": Flag()}

    bins: int = 16
    bias_correction: bool = True

    def _order_work(self, problem: Problem) -> float:
        return 0.1

    def _scores(self, problem: Problem, seed: int, progress: Progress, checkpoint: Checkpoint | None) -> Scores:
        n = len(problem.y_train)
        rows = slice(None) if n <= ROWS else some_rows(n, ROWS)
        x, present, y = (part[rows] for part in (problem.train.x, problem.train.present, problem.y_train))
        target = y if problem.task == "classification" else equal_frequency_bins(y, self.bins)
        scores = np.empty(len(problem.schema))
        progress.start(len(scores))
        for i, feature in enumerate(problem.schema.features):
            there = present[:, i]
            scores[i] = self._information(feature, x[there, feature.start : feature.stop], target[there])
            scores[i] *= there.sum() / (there.sum() + DOUBT * (~there).mean())
            if problem.missing == "answer":  # the question is asked where there is no answer, too
                scores[i] *= there.mean()
            progress.epoch(i + 1, "mutual information", {"epoch": i + 1})
        return gain_per_price(scores, static_rates(problem, [])), []

    def _information(self, feature: Feature, x: np.ndarray, y: np.ndarray) -> float:
        """How much a feature's columns (n, width) say about y (n,), in nats; 0 where there are no rows."""
        if not len(y):
            return 0.0
        if feature.kind == "category":  # which column is 1; the number of choices where none is
            codes = np.where(x.any(axis=1), x.argmax(axis=1), x.shape[1])
        else:
            codes = self._joint_codes(x, y)
        entropy = _entropy(np.bincount(y), corrected=False)  # no feature can say more
        return min(max(estimated_information(codes, y, corrected=self.bias_correction), 0.0), entropy)

    def _joint_codes(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(n,) what the columns (n, width) say together, in few enough cells for the rows to fill them.

        Several columns get fewer bins each. Where even that is too much, those that say most alone are taken.
        """
        kept = telling_columns(x)
        if len(kept) == 1:
            return equal_frequency_bins(x[:, kept[0]], self.bins)
        cells = max(self.bins, len(y) // (ROWS_PER_CELL * len(np.unique(y))))
        fine = sum(len(np.unique(x[:, j])) > 2 for j in kept)  # the others need no more than two bins
        bins = max(2, min(self.bins, int(cells ** (1 / max(fine, 1)) + 1e-9)))
        columns = [equal_frequency_bins(x[:, j], bins) for j in kept]
        alone = [estimated_information(codes, y, corrected=self.bias_correction) for codes in columns]
        joint = np.zeros(len(y), dtype=np.int64)
        for j in np.argsort(-np.array(alone), kind="stable"):
            finer = np.unique(joint * bins + columns[j], return_inverse=True)[1]
            if finer.max() < cells:
                joint = finer
        return joint


def equal_frequency_bins(values: np.ndarray, bins: int) -> np.ndarray:
    """(n,) codes of at most so many bins; equal values share one, and few values have one each.

    A value that is more frequent than a bin should be gets a bin of its own, and the other values share the other
    bins. Many columns of some tables are mostly zeros.

    >>> equal_frequency_bins(np.array([0, 0, 0, 0, 0, 0, 1, 2, 3, 4]), 3).tolist()
    [2, 2, 2, 2, 2, 2, 0, 0, 1, 1]
    """
    levels, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(levels) <= bins:
        return codes
    heavy = np.zeros(len(levels), dtype=bool)
    while True:
        room, rest = bins - heavy.sum(), counts[~heavy].sum()
        more = ~heavy & (counts * room > rest)
        if not more.any():
            break
        heavy |= more
    bin_of = np.empty(len(levels), dtype=np.int64)
    bin_of[heavy] = room + np.arange(heavy.sum())
    light = counts[~heavy]
    middle = np.cumsum(light) - 0.5 * light  # of each level, in rows
    bin_of[~heavy] = (middle * room / rest).astype(np.int64)
    return bin_of[codes]


def estimated_information(codes: np.ndarray, y: np.ndarray, *, corrected: bool) -> float:
    """I(codes; y) in nats of two columns of small whole numbers (n,), from their table of counts."""
    classes = int(y.max()) + 1
    table = np.bincount(codes * classes + y, minlength=(int(codes.max()) + 1) * classes).reshape(-1, classes)
    parts = (table.sum(axis=1), table.sum(axis=0), table.ravel())
    first, second, both = (_entropy(counts, corrected) for counts in parts)
    return first + second - both


def _entropy(counts: np.ndarray, corrected: bool) -> float:
    """In nats. Counts make it too small by about (cells - 1) / 2n, where cells are those that occur."""
    counts = counts[counts > 0]
    n = counts.sum()
    plain = np.log(n) - (counts * np.log(counts)).sum() / n
    return float(plain + (len(counts) - 1) / (2 * n) if corrected else plain)
