"""Answers that nobody has given yet, imagined from stored training rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from askless.acquisition.policy import Predictor, Task
from askless.acquisition.schema import Schema
from askless.acquisition.state import Cases, State

VALUES_STORED = 1 << 18  # encoded numbers that a model stores of training rows: 1 MiB,
LEAST_STORED = 32  # but of so many rows
ROWS_AT_ONCE = 8192  # imagined records
ALIKE = 0.995  # columns with at least this correlation say the same,
FEWEST_ROWS = 32  # where so many rows have both


@dataclass(frozen=True, eq=False)
class Reference:
    """A few hundred encoded training rows, in random order, with their labels.

    An imagined answer is that of a row whose label was drawn from the present prediction. All answers of one row
    belong together, so copies of a feature agree. There is no chance in it: the draws of a case are evenly spaced.
    """

    x: np.ndarray  # (rows, columns)
    present: np.ndarray  # (rows, features) bool
    y: np.ndarray  # (rows,) codes of classes, or the numbers of a regression

    @classmethod
    def sample(cls, cases: Cases, y: np.ndarray, task: Task, n: int, seed: int) -> Reference:
        """At most n training rows in random order, as many of each class as there are."""
        n = min(n, max(LEAST_STORED, VALUES_STORED // cases.x.shape[1]))
        order = np.random.default_rng(seed).permutation(len(y))
        if task == "classification":
            place = np.empty(len(y), dtype=np.int64)  # how many of its class come before a row
            for code in np.unique(y):
                own = order[y[order] == code]
                place[own] = np.arange(len(own))
            order = order[np.argsort(place[order], kind="stable")]
        rows = order[:n]
        labels = y[rows].astype(np.int64 if task == "classification" else np.float64)
        return cls(cases.x[rows], cases.present[rows], labels)

    def draw(self, prediction: np.ndarray, spread: np.ndarray | None, k: int) -> np.ndarray:
        """(n, k) rows for each case, given predictions (n, outputs) and standard deviations (n,) of a regression."""
        at = (np.arange(k) + 0.5) / k  # evenly spaced quantiles
        if prediction.shape[1] == 1:
            return self._near(prediction[:, 0], spread, at)
        upto = np.cumsum(prediction, axis=1)  # (n, classes)
        labels = (at[None, :, None] * upto[:, None, -1:] >= upto[:, None, :-1]).sum(axis=2)  # (n, k)
        # the draws of a case stand in the order of their labels: which of its label is each?
        place = np.arange(k) - (labels[:, :, None] > labels[:, None, :]).sum(axis=2)  # (n, k)
        starts, counts, order = self._by_label
        labels = np.minimum(labels, len(counts) - 1)
        counts_of = counts[labels]
        chosen = order.take(starts[labels] + place % np.maximum(counts_of, 1), mode="clip")
        anyone = np.arange(k) % len(self.y)  # a label that no stored row has
        return np.where(counts_of > 0, chosen, anyone)

    def _near(self, mean: np.ndarray, spread: np.ndarray | None, at: np.ndarray) -> np.ndarray:
        """Rows whose numbers are nearest to evenly spaced quantiles of the predicted normal distribution."""
        order, sorted_y = self._by_number
        sd = np.full(len(mean), sorted_y.std()) if spread is None else np.asarray(spread)
        normal = NormalDist()
        wanted = mean[:, None] + sd[:, None] * np.array([normal.inv_cdf(q) for q in at])  # (n, k)
        middles = 0.5 * (sorted_y[1:] + sorted_y[:-1])
        return order[np.searchsorted(middles, wanted)]

    @cached_property
    def _by_label(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the rows of each label begin, how many there are, and the rows in that order."""
        codes = self.y.astype(np.int64)
        counts = np.bincount(codes, minlength=int(codes.max()) + 2)  # one label more than there are, without rows
        return np.cumsum(counts) - counts, counts, np.argsort(codes, kind="stable")

    @cached_property
    def _by_number(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.y, kind="stable")
        return order, self.y[order].astype(np.float64)

    def answered(self, state: State, rows: np.ndarray, asked: np.ndarray, schema: Schema) -> State:
        """The (n k) states in which case i was asked `asked[i]` (n, features) and answered as rows[i, j] would."""
        k = rows.shape[1]
        flat = rows.ravel()
        news = np.repeat(asked & ~np.asarray(state.asked), k, axis=0)  # (n k, features)
        answered = news & self.present[flat]
        shown = answered[:, schema.column_feature]
        x = np.where(shown, self.x[flat], np.repeat(np.asarray(state.x), k, axis=0)).astype(self.x.dtype, copy=False)
        return State(x, np.repeat(state.asked, k, axis=0) | news, np.repeat(state.known, k, axis=0) | answered)

    def outcomes(
        self, predictor: Predictor, state: State, rows: np.ndarray, open_: np.ndarray, schema: Schema
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What would be predicted after one more answer: for each pair of a case and a feature that is open.

        Returns the cases (pairs,), the features (pairs,) and the predictions (pairs, k, outputs).
        """
        case, feature = np.nonzero(open_)
        k = rows.shape[1]
        step = max(1, ROWS_AT_ONCE // k)
        parts = []
        for start in range(0, len(case), step):
            who, what = case[start : start + step], feature[start : start + step]
            part = State(state.x[who], state.asked[who], state.known[who])
            asked = np.zeros((len(who), len(schema)), dtype=bool)
            asked[np.arange(len(who)), what] = True
            outputs = np.asarray(predictor.predict(self.answered(part, rows[who], asked, schema)))
            parts.append(outputs.reshape(len(who), k, -1))
        return case, feature, np.concatenate(parts)

    def copies(self, schema: Schema) -> np.ndarray:
        """(features, features) 1 where the second is a copy of the first: each column follows one of the first's.

        Other units, or the order of categories, do not matter. Only rows that have both features count; where these
        are few, or all agree, the features are not copies.
        """
        here = self.present[:, schema.column_feature].astype(np.float64)  # (rows, columns)
        x = np.where(here > 0, self.x - self.x.mean(axis=0, dtype=np.float64), 0.0)
        both = here.T @ here  # (columns, columns) how many rows have both; all sums below are over these
        n, sums = np.maximum(both, 1.0), x.T @ here  # sums[i, j]: of column i, in the rows that have j too
        squares = np.maximum((x**2).T @ here - sums**2 / n, 0.0)
        varies = (squares > 1e-9 * n) & (both >= FEWEST_ROWS)
        pairs = varies & varies.T
        lengths = np.sqrt(np.where(pairs, squares * squares.T, 1.0))
        alike = np.where(pairs, np.abs(x.T @ x - sums * sums.T / n) / lengths, 0.0)
        most = np.maximum.reduceat(alike, schema.starts, axis=0)  # (features, columns): of the first's columns
        some = np.logical_or.reduceat(varies.T, schema.starts, axis=0)  # where the second's column varies
        follows = np.logical_and.reduceat((most >= ALIKE) | ~some, schema.starts, axis=1)
        follows &= np.logical_or.reduceat(some, schema.starts, axis=1)
        np.fill_diagonal(follows, False)
        return follows.astype(np.float32)

    # Files

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything by a name."""
        return {"x": self.x, "present": self.present, "y": self.y}

    @classmethod
    def build(cls, arrays: dict[str, np.ndarray]) -> Reference:
        """The reference that `arrays` came from."""
        return cls(**arrays)

    def checked(self, schema: Schema, outputs: int) -> Reference:
        """Itself, if it fits the features and the outputs."""
        n = len(self.y)
        fits = (
            n > 0
            and self.x.shape == (n, schema.n_columns)
            and self.x.dtype == np.float32
            and self.present.shape == (n, len(schema))
            and self.present.dtype == bool
            and self.y.shape == (n,)
            and self.y.dtype == (np.float64 if outputs == 1 else np.int64)
            and bool(np.isfinite(self.x).all() and np.isfinite(self.y).all())
            and (outputs == 1 or bool((self.y >= 0).all() and (self.y < outputs).all()))
        )
        if not fits:
            raise ValueError("the stored rows do not fit the features and the classes")
        return self
