"""The forward pass of a fitted masked network, on any array library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like

__all__ = ["Network"]


@dataclass(frozen=True)
class Network:
    """A multilayer perceptron over (values, mask): the first layer has one weight block for each of the two."""

    value_weight: np.ndarray  # (columns, hidden)
    mask_weight: np.ndarray  # (features, hidden)
    biases: tuple[np.ndarray, ...]  # one for each layer
    weights: tuple[np.ndarray, ...]  # of the layers after the first, each (inputs, outputs)

    def features(self, x: Array, known: Array) -> Array:
        """(n, hidden): what the last layer sees, from values (n, columns) and the mask of known features."""
        xp = array_namespace(x)
        mask = xp.astype(known, x.dtype)
        h = x @ _as(self.value_weight, x) + mask @ _as(self.mask_weight, x) + _as(self.biases[0], x)
        for weight, bias in zip(self.weights[:-1], self.biases[1:-1], strict=True):
            h = _relu(h) @ _as(weight, x) + _as(bias, x)
        return _relu(h)

    def head(self, hidden: Array) -> Array:
        """(n, outputs) from what `features` returned."""
        return hidden @ _as(self.weights[-1], hidden) + _as(self.biases[-1], hidden)

    def __call__(self, x: Array, known: Array) -> Array:
        """(n, outputs) from values (n, columns) and the mask of known features."""
        return self.head(self.features(x, known))

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


def _as(weight: np.ndarray, like: Array) -> Array:
    return weight if isinstance(like, np.ndarray) else constant_like(weight, like, dtype=like.dtype)


def _relu(h: Array) -> Array:
    xp = array_namespace(h)
    return xp.where(h > 0, h, xp.zeros_like(h))
