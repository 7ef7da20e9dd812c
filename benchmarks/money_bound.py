"""How good can a fixed set of questions be for half of the money, on nhanes, with hindsight?

    python benchmarks/money_bound.py            ten minutes; needs ASKLESS_DATA

Boosted trees are the predictor. Questions are added one by one, the largest gain for the price first. The gain is
measured on the same rows as the final scores, so the result is an optimistic bound for a learned fixed order.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

from askless.datasets import load_dataset

TEMPER = 0.7  # of the price; 0 is blind for it


class Bound:
    """Log losses on held-out rows by the columns that are known."""

    def __init__(self, dataset: str, rows: int, seed: int) -> None:
        data = load_dataset(dataset)
        order = np.random.default_rng(seed).permutation(len(data.frame))
        self.train, self.test = order[:rows], order[-6000:]
        self.x = np.column_stack([_numbers(data.frame[name]) for name in data.frame])
        self.y = pd.factorize(data.target)[0]
        self.names = list(data.frame)
        self.prices = np.array([data.costs[name] for name in self.names])

    def loss(self, columns: list[int]) -> float:
        """With trees that know these columns."""
        trees = HistGradientBoostingClassifier(
            max_iter=120, learning_rate=0.08, max_leaf_nodes=15, l2_regularization=5
        )
        trees.fit(self.x[self.train][:, columns], self.y[self.train])
        return float(log_loss(self.y[self.test], trees.predict_proba(self.x[self.test][:, columns])))

    def path(self, most: float) -> Iterator[tuple[str, float, float]]:
        """Questions in the order of their gain for the money, what they cost together, and the loss after each."""
        chosen: list[int] = []
        now = float(log_loss(self.y[self.test], np.tile(self._prior(), (len(self.test), 1))))
        while left := [j for j in range(len(self.names)) if j not in chosen and self._spent([*chosen, j]) <= most]:
            losses = {j: self.loss([*chosen, j]) for j in left}
            gains = {j: (now - loss) / self.prices[j] ** TEMPER for j, loss in losses.items()}
            best = max(gains, key=gains.__getitem__)
            chosen, now = [*chosen, best], losses[best]
            yield self.names[best], self._spent(chosen), now

    def _spent(self, columns: list[int]) -> float:
        return float(self.prices[columns].sum())

    def _prior(self) -> np.ndarray:
        return np.bincount(self.y[self.train]) / len(self.train)


def _numbers(column: pd.Series) -> np.ndarray:
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=float, na_value=np.nan)
    codes = pd.factorize(column)[0].astype(float)
    return np.where(codes < 0, np.nan, codes)


def main() -> None:
    """Print the path and what all columns give."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="nhanes")
    parser.add_argument("--rows", type=int, default=20_000, help="to train on (default: 20000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=0.5, help="of all money, up to which to add (default: 0.5)")
    given = parser.parse_args()
    bound = Bound(given.dataset, given.rows, given.seed)
    everything = list(range(len(bound.names)))
    print(f"everything: {bound.prices.sum():g} for {bound.loss(everything):.4f}\n\n| question | spent | log loss |")
    print("|---|---|---|")
    for name, spent, loss in bound.path(given.share * float(bound.prices.sum())):
        print(f"| {name} | {spent:g} | {loss:.4f} |", flush=True)


if __name__ == "__main__":
    main()
