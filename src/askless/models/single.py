"""Dense networks for a single case, where a call of numpy takes longer than what it computes.

In each hidden layer one more unit is 1 and stands for the next bias, and zeros fill up to whole LANES. The first
layer is linear in what is known: its sums go on from answer to answer, and those of two networks go together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy import fmax

from askless.core.state import Answer, State

__all__ = ["FirstLayers", "SingleCase"]

LANES = 4  # numbers: products with rows of a multiple of it are faster
FAR_BACK = 8  # answers; after more of them a product with the whole input is no slower than one for each


class SingleCase:
    """A network for a single case."""

    def __init__(
        self,
        value_weight: np.ndarray,  # (columns, hidden)
        mask_weight: np.ndarray,  # (features, hidden)
        biases: Sequence[np.ndarray],  # one for each layer
        weights: Sequence[np.ndarray],  # of the layers after the first, each (inputs, outputs)
    ) -> None:
        self._value_weight, self._mask_weight = value_weight, mask_weight
        self._bias = biases[0]
        self.blank: np.ndarray = _widened(biases[0][None], 1.0)[0]  # (units,) the first layer's sums of nothing
        *between, last = zip(weights, biases[1:], strict=True)
        joined = [_joined(weight, bias, _units(len(bias))) for weight, bias in between]
        self._between = [(weight, np.zeros(weight.shape[1], weight.dtype)) for weight in joined]
        self._last = np.asfortranarray(_joined(*last, len(biases[-1])))  # faster for one row
        self._blocks: dict[int, np.ndarray] = {}
        self._beside: dict[SingleCase, FirstLayers] = {}
        self.first = FirstLayers(self)

    def outputs(self, state: State) -> np.ndarray:
        """(outputs,)."""
        return self.from_first(self.first(state))

    def from_first(self, hidden: np.ndarray) -> np.ndarray:
        """(outputs,) from the first hidden layer (units,)."""
        for weight, zeros in self._between:
            hidden = fmax(hidden.dot(weight), zeros)
        outputs: np.ndarray = hidden.dot(self._last)
        return outputs

    def first_beside(self, other: SingleCase) -> FirstLayers:
        """The first hidden layers of this network and of another; the same object each time."""
        if other not in self._beside:
            self._beside[other] = FirstLayers(self, other)
        return self._beside[other]

    def sums(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(units,) what the first layer adds up, from values (1, columns) and the mask (1, features)."""
        sums = x @ self._value_weight + known.astype(x.dtype) @ self._mask_weight + self._bias
        row: np.ndarray = _widened(sums, 1.0)[0]
        return row

    def block(self, feature: int, start: int, stop: int) -> np.ndarray:
        """(1 + stop - start, units) the first layer's weights of a feature's mask and its columns."""
        block = self._blocks.get(feature)
        if block is None:
            rows = np.vstack([self._mask_weight[feature], self._value_weight[start:stop]])
            block = self._blocks[feature] = _widened(rows, 0.0)
        return block


class FirstLayers:
    """The first layers of networks side by side: one product with an answer's columns serves all.

    What they add up is kept in the state's memo; in the next state it is that, and what the answer adds.
    """

    def __init__(self, *networks: SingleCase) -> None:
        self._networks = networks
        self._blank = np.hstack([network.blank for network in networks])
        self._zeros = np.zeros_like(self._blank)
        self._blocks: dict[int, np.ndarray] = {}

    def __call__(self, state: State) -> np.ndarray:
        """(units of all networks,) the first hidden layers."""
        sums, told = state.memo.get(self), state.told
        if sums is None:
            sums = self._after(told) if type(told) is Answer else None
            if sums is None:
                sums = self._blank if state.nothing_known else self._anew(state)
            state.memo[self] = sums
        hidden: np.ndarray = fmax(sums, self._zeros)
        return hidden

    def _anew(self, state: State) -> np.ndarray:
        return np.hstack([network.sums(state.x, state.known) for network in self._networks])

    def _after(self, told: Answer, far: int = FAR_BACK) -> np.ndarray | None:
        """The sums after an answer; None where no state so few answers back has any."""
        before: np.ndarray | None = told.before.get(self)
        if before is None:
            earlier = told.earlier
            before = self._after(earlier, far - 1) if far > 1 and type(earlier) is Answer else None
            if before is None:
                return None
        block = self._blocks.get(told.feature)
        if block is None:
            blocks = [network.block(told.feature, told.start, told.stop) for network in self._networks]
            block = self._blocks[told.feature] = np.hstack(blocks) if len(blocks) > 1 else blocks[0]
        sums: np.ndarray = told.values.dot(block)
        sums += before
        return sums


def _units(width: int) -> int:
    """How many units stand for a hidden layer of that width."""
    return -(-(width + 1) // LANES) * LANES


def _widened(rows: np.ndarray, one: float) -> np.ndarray:
    """(n, units) the rows (n, hidden), with `one` in the unit that stands for the next bias."""
    n, width = rows.shape
    wide = np.zeros((n, _units(width)), rows.dtype)
    wide[:, :width], wide[:, width] = rows, one
    return wide


def _joined(weight: np.ndarray, bias: np.ndarray, width: int) -> np.ndarray:
    """(units, width) a layer's weights and its bias; where there is room for it, the unit that is 1 stays 1."""
    inputs, outputs = weight.shape
    joined = np.zeros((_units(inputs), width), weight.dtype)
    joined[:inputs, :outputs], joined[inputs, :outputs] = weight, bias
    joined[inputs, outputs : outputs + 1] = 1.0
    return joined
