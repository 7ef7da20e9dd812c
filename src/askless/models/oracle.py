"""A policy that looks at the truth: for experiments only."""

from __future__ import annotations

from typing import Any

import numpy as np

from askless.acquisition import State, TruthPolicy
from askless.models.network import Network


class OraclePolicy(TruthPolicy):
    """Prefers the feature whose true value brings the prediction nearest to that of the complete case.

    The distance is KL(complete || with the feature) of class probabilities, or the squared difference of means.
    """

    def __init__(self, network: Network, *, classes: bool, starts: np.ndarray, zero_is_missing: np.ndarray) -> None:
        self.network = network  # of the predictor
        self.classes = classes
        self.starts = starts  # (features,) the first encoded column of each
        self.zero_is_missing = zero_is_missing  # (features,) bool: zeros in all its columns stand for no value

    def score_with_truth(self, state: State, truth: np.ndarray) -> np.ndarray:
        """(n, features) minus the distances that remain, given the complete encoded records (n, columns).

        What is known already, or has no value, leaves the prediction as it is.
        """
        network = self.network
        there = np.logical_or.reduceat(truth != 0, self.starts, axis=1) | ~self.zero_is_missing  # (n, features)
        complete = self._outputs(network.first_sums(truth, there))
        sums = network.first_sums(state.x, state.known)
        news = (there & ~state.known).astype(sums.dtype)
        stops = [*self.starts[1:], truth.shape[1]]
        scores = np.empty(there.shape)
        for i, (start, stop) in enumerate(zip(self.starts, stops, strict=True)):
            added = truth[:, start:stop] @ network.value_weight[start:stop] + network.mask_weight[i]  # (n, hidden)
            scores[:, i] = -self._distance(complete, self._outputs(sums + news[:, i, None] * added))
        return scores

    def _outputs(self, sums: np.ndarray) -> np.ndarray:
        """(n, outputs) log probabilities, or means, from the first layer's sums (n, hidden)."""
        outputs: np.ndarray = self.network.from_sums(sums).astype(np.float64)
        if self.classes:
            outputs -= outputs.max(axis=1, keepdims=True)
            outputs -= np.log(np.exp(outputs).sum(axis=1, keepdims=True))
        return outputs

    def _distance(self, complete: np.ndarray, partial: np.ndarray) -> np.ndarray:
        """(n,) between what `_outputs` gave."""
        each = np.exp(complete) * (complete - partial) if self.classes else (complete - partial) ** 2
        distance: np.ndarray = each.sum(axis=1)
        return distance

    def config(self) -> dict[str, Any]:
        """Whether there are classes."""
        return {"classes": self.classes}

    def arrays(self) -> dict[str, np.ndarray]:
        """The network's weights, and what is known of the features."""
        starts, zeros = self.starts.astype(np.int64), self.zero_is_missing.astype(np.uint8)
        return self.network.arrays() | {"starts": starts, "zero_is_missing": zeros}

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> OraclePolicy:
        """The policy that `config` and `arrays` came from."""
        rest = dict(arrays)
        starts, zero = rest.pop("starts"), rest.pop("zero_is_missing")
        network, classes = Network.build(rest), config["classes"]
        columns, features = len(network.value_weight), len(network.mask_weight)
        inside = starts.shape == (features,) and starts[0] == 0 and starts[-1] < columns
        if not inside or starts.dtype.kind != "i" or not (np.diff(starts) > 0).all() or zero.shape != (features,):
            raise ValueError(f"the columns of {features} features begin at {starts.tolist()}")
        if classes is not (len(network.biases[-1]) > 1):
            raise ValueError(f"the oracle's network has {len(network.biases[-1])} outputs")
        return cls(network, classes=classes, starts=starts, zero_is_missing=zero.astype(bool))
