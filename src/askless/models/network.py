"""The numpy forward pass of a fitted dense network: serving a model needs no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from askless.acquisition.state import State

__all__ = ["Network", "NetworkFactory", "NetworkLike"]


NetworkFactory = Callable[[int, int, int], Any]
"""Takes n_columns, n_features and n_outputs; returns an `nn.Module` whose `forward(values, mask)` is (b, outputs)."""


class NetworkLike(ABC):
    """What policies and predictors need of a network."""

    @abstractmethod
    def outputs(self, state: State) -> np.ndarray:
        """(n, outputs)."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many features can be known."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """How many outputs there are."""

    @property
    def factory(self) -> NetworkFactory | None:
        """The function that made a user's own network; None for a network of askless."""
        return None

    @abstractmethod
    def config(self) -> dict[str, Any]:
        """What a file holds beside the arrays: nothing, or a description under "network"."""

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Every weight by a name."""


class FirstLayer:
    """The first layer's sums, with a cache of the last batch.

    A roll-out passes the same cases again and again, and each answer changes a few inputs. The layer is linear, so it
    is enough to add the weights of the inputs that changed. With MNIST's pixels (784 columns, 512 units) that is 4
    times as fast as the product; layers smaller than `SMALLEST` gain nothing and are multiplied as a whole.
    """

    SMALLEST = 1 << 17  # weights
    FEWEST_CASES = 64
    MOST_CHANGED = 0.05  # share of the inputs

    def __init__(self, value_weight: np.ndarray, mask_weight: np.ndarray, bias: np.ndarray) -> None:
        self._value_weight, self._mask_weight, self._bias = value_weight, mask_weight, bias
        self._last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # x, known and sums

    def __call__(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(n, hidden) from values (n, columns) and the mask (n, features); the caller must not change it."""
        if len(x) < self.FEWEST_CASES or self._value_weight.size < self.SMALLEST:
            return self._product(x, known)
        last = self._last  # read once: another thread may replace it
        sums = None if last is None or last[0].shape != x.shape else self._updated(last, x, known)
        if sums is None:
            sums = self._product(x, known)
        self._last = x, known, sums
        return sums

    def _product(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        sums: np.ndarray = x @ self._value_weight
        sums += known.astype(x.dtype) @ self._mask_weight
        sums += self._bias
        return sums

    def _updated(
        self, last: tuple[np.ndarray, np.ndarray, np.ndarray], x: np.ndarray, known: np.ndarray
    ) -> np.ndarray | None:
        """The last sums with what changed; None where too much did."""
        old_x, old_known, old_sums = last
        values, flags = x != old_x, known != old_known
        if np.count_nonzero(values) > self.MOST_CHANGED * values.size:
            return None
        sums: np.ndarray = old_sums + _difference(values, x, old_x) @ self._value_weight
        sums += _difference(flags, known, old_known) @ self._mask_weight
        return sums


def _difference(changed: np.ndarray, new: np.ndarray, old: np.ndarray) -> Any:
    """`new - old` as a sparse matrix, given where they differ (n, m)."""
    from scipy.sparse import csr_array  # a service that asks one case at a time never needs it

    rows, columns = np.nonzero(changed)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(changed, axis=1))])
    values = new[rows, columns].astype(np.float32) - old[rows, columns]
    return csr_array((values, columns, starts), shape=changed.shape)


@dataclass(frozen=True, eq=False)
class Network(NetworkLike):
    """A multilayer perceptron over (values, mask): the first layer has one weight block for each of the two."""

    value_weight: np.ndarray  # (columns, hidden)
    mask_weight: np.ndarray  # (features, hidden)
    biases: tuple[np.ndarray, ...]  # one for each layer
    weights: tuple[np.ndarray, ...]  # of the layers after the first, each (inputs, outputs)
    first_sums: FirstLayer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "first_sums", FirstLayer(self.value_weight, self.mask_weight, self.biases[0]))

    def __call__(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(n, outputs) from values (n, columns) and the mask of known features (n, features)."""
        return self.from_sums(self.first_sums(x, known))

    def outputs(self, state: State) -> np.ndarray:
        """(n, outputs)."""
        if len(state) > 1 and not state.known.any():  # all cases look the same
            return np.repeat(self(state.x[:1], state.known[:1]), len(state), axis=0)
        return self(state.x, state.known)

    # OpenBLAS 0.3.31 with AVX-512 reads beyond short inputs. The sums are right, but the invalid flag may be set.
    @np.errstate(invalid="ignore")
    def from_sums(self, sums: np.ndarray) -> np.ndarray:
        """(n, outputs) from what `first_sums` returned."""
        h = sums
        for weight, bias in zip(self.weights, self.biases[1:], strict=True):
            h = np.maximum(h, 0.0) @ weight
            h += bias
        return h

    @property
    def n_features(self) -> int:
        """How many features can be known."""
        return len(self.mask_weight)

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return len(self.biases[-1])

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy begins without the cache."""
        return Network, (self.value_weight, self.mask_weight, self.biases, self.weights)

    # Files

    def config(self) -> dict[str, Any]:
        """Nothing: the arrays say everything."""
        return {}

    def arrays(self) -> dict[str, np.ndarray]:
        """Every weight by a name."""
        named = {"value_weight": self.value_weight, "mask_weight": self.mask_weight}
        named |= {f"bias{i}": bias for i, bias in enumerate(self.biases)}
        return named | {f"weight{i}": weight for i, weight in enumerate(self.weights, start=1)}

    @classmethod
    def build(cls, arrays: dict[str, np.ndarray]) -> Network:
        """The network that `arrays` came from."""
        depth = sum(name.startswith("bias") for name in arrays)
        return cls(
            arrays["value_weight"],
            arrays["mask_weight"],
            tuple(arrays[f"bias{i}"] for i in range(depth)),
            tuple(arrays[f"weight{i}"] for i in range(1, depth)),
        ).checked()

    def checked(self) -> Network:
        """Itself, if the shapes fit one another."""
        widths: Sequence[tuple[int, int]] = [weight.shape for weight in self.weights]
        inputs = [self.value_weight.shape[1], *(out for _, out in widths)]
        fits = (
            self.mask_weight.shape[1] == inputs[0]
            and len(self.biases) == len(self.weights) + 1
            and len(self.weights) >= 1
            and all(given == width[0] for given, width in zip(inputs, widths, strict=False))
            and all(bias.shape == (given,) for bias, given in zip(self.biases, inputs, strict=True))
        )
        if not fits:
            raise ValueError("the layers of the network do not fit one another")
        if any(array.dtype.kind != "f" for array in self.arrays().values()):
            raise ValueError("a network's weights are floating-point numbers")
        return self
