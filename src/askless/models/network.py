"""The forward pass of a fitted masked network, on any array library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy import fmax

from askless.core.arrays import Array, array_namespace, cached_zeros, constant_like
from askless.core.state import Answer, Answers, PerCase, State
from askless.models.single import SingleCase

__all__ = ["Network", "NetworkLike"]


class NetworkLike(Protocol):
    """What policies and predictors ask of a network."""

    def outputs(self, state: State) -> Array:
        """(n, outputs); (outputs,) for a single case in numpy."""
        ...

    @property
    def n_features(self) -> int:
        """How many features can be known."""
        ...

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        ...

    def config(self) -> dict[str, Any]:
        """What a file holds beside the arrays: nothing, or its description under "network"."""
        ...

    def arrays(self) -> dict[str, np.ndarray]:
        """Every weight by a name."""
        ...


@dataclass(frozen=True, eq=False)
class Network:
    """A multilayer perceptron over (values, mask): the first layer has one weight block for each of the two.

    The first layer is linear in what is known. With numpy, `outputs` therefore keeps its sums in the state's
    memo, and an answer only adds the weights of its own columns to the sums of the state before.
    """

    value_weight: np.ndarray  # (columns, hidden)
    mask_weight: np.ndarray  # (features, hidden)
    biases: tuple[np.ndarray, ...]  # one for each layer
    weights: tuple[np.ndarray, ...]  # of the layers after the first, each (inputs, outputs)

    def features(self, x: Array, known: Array) -> Array:
        """(n, hidden): what the last layer sees, from values (n, columns) and the mask of known features."""
        h = _relu(self._dense(x, known))
        for weight, bias in zip(self.weights[:-1], self.biases[1:-1], strict=True):
            h = _relu(h @ _as(weight, x) + _as(bias, x))
        return h

    def head(self, hidden: Array) -> Array:
        """(n, outputs) from what `features` returned."""
        return hidden @ _as(self.weights[-1], hidden) + _as(self.biases[-1], hidden)

    def __call__(self, x: Array, known: Array) -> Array:
        """(n, outputs) from values (n, columns) and the mask of known features."""
        return self.head(self.features(x, known))

    def first_sums(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(n, hidden) what the first layer adds up, from values (n, columns) and the mask of known features."""
        sums: np.ndarray = self._dense(x, known)
        return sums

    def from_sums(self, sums: np.ndarray) -> np.ndarray:
        """(n, outputs) from what `first_sums` returned; numpy only."""
        h = sums
        for weight, bias in zip(self.weights, self.biases[1:], strict=True):
            h = fmax(h, cached_zeros(h.shape, h.dtype)).dot(weight)
            h += bias
        return h

    # From one state to the next

    def outputs(self, state: State) -> Array:
        """(n, outputs), what a call gives for the state; (outputs,) for a single case in numpy."""
        if _is_single(state):
            return self.single.outputs(state)
        if not isinstance(state.x, np.ndarray):
            return self(state.x, state.known)
        if state.nothing_known:
            shape, dtype = (len(state), len(self.biases[0])), np.result_type(state.x, self.biases[0])
            state.memo[self] = self._running(np.full(shape, self.biases[0], dtype))
            return np.broadcast_to(self._blank, (len(state), *self._blank.shape))
        return self._outputs_of_many(state)

    # OpenBLAS (0.3.31, AVX-512) multiplies what happens to lie on the stack along with five float32 inputs of a
    # single unit. It does not add it, the sums are right, but the processor's flag may be up, and np.dot would warn.
    @np.errstate(invalid="ignore")
    def _outputs_of_many(self, state: State) -> np.ndarray:
        outputs: np.ndarray = self._many(state).dot(self.weights[-1])
        outputs += self.biases[-1]
        return outputs

    @cached_property
    def _blank(self) -> np.ndarray:
        """(outputs,) where nothing is known."""
        columns, features = len(self.value_weight), len(self.mask_weight)
        blank = self(np.zeros((1, columns), self.value_weight.dtype), np.zeros((1, features), dtype=bool))
        row: np.ndarray = blank[0]
        return row

    @cached_property
    def single(self) -> SingleCase:
        """The network for a single case."""
        return SingleCase(self.value_weight, self.mask_weight, self.biases, self.weights)

    def _many(self, state: State) -> np.ndarray:
        """(n, hidden) the last hidden layer of many cases, in memory that the next call overwrites."""
        running = state.memo.get(self)
        if running is None:
            running = state.memo[self] = self._moved(state) or self._running(self._dense(state.x, state.known))
        h: np.ndarray = fmax(
            running.sums, cached_zeros(running.sums.shape, running.sums.dtype), out=running.layers[0]
        )
        for weight, bias, out in zip(self.weights[:-1], self.biases[1:-1], running.layers[1:], strict=True):
            h = np.dot(h, weight, out=out)
            h += bias
            fmax(h, cached_zeros(h.shape, h.dtype), out=h)
        return h

    def _running(self, sums: np.ndarray) -> _Running:
        return _Running.beginning(sums, [len(bias) for bias in self.biases[:-1]])

    def _moved(self, state: State) -> _Running | None:
        """The running sums of the state before, with what was told; the state before has to begin anew."""
        told = state.told
        running: _Running | None = told.before.pop(self, None) if isinstance(told, Answers) else None
        if running is None or not isinstance(told, Answers):
            return None
        added = running.spare[: len(told.rows)]
        for feature, start, stop in told.runs:
            described = told.schema.features[feature]
            block = self.single.block(feature, described.start, described.stop)[:, : added.shape[1]]
            np.dot(told.values[start:stop, : len(block)], block, out=added[start:stop])
        if told.places is None:
            running.sums[told.rows] += added
        else:
            running.sums += np.take(added, told.places, axis=0, out=running.layers[0], mode="clip")
        return running

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _dense(self, x: Array, known: Array) -> Array:
        mask = array_namespace(x).astype(known, x.dtype)
        return x @ _as(self.value_weight, x) + mask @ _as(self.mask_weight, x) + _as(self.biases[0], x)

    @property
    def n_features(self) -> int:
        """How many features can be known."""
        return len(self.mask_weight)

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return len(self.biases[-1])

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


@dataclass
class _Running(PerCase):
    """The first layer's sums of many cases, and memory for every hidden layer."""

    sums: np.ndarray  # (n, hidden)
    spare: np.ndarray  # (n, hidden)
    layers: list[np.ndarray]

    @classmethod
    def beginning(cls, sums: np.ndarray, widths: Iterable[int]) -> _Running:
        """With memory for layers of these widths."""
        return cls(sums, np.empty_like(sums), [np.empty((len(sums), width), sums.dtype) for width in widths])

    def at(self, cases: np.ndarray) -> _Running:
        """Those of some cases (m,)."""
        return _Running.beginning(self.sums[cases], [layer.shape[1] for layer in self.layers])


def _is_single(state: State) -> bool:
    return type(state.told) is Answer or (isinstance(state.x, np.ndarray) and len(state) == 1)


def _as(weight: np.ndarray, like: Array) -> Array:
    return weight if isinstance(like, np.ndarray) else constant_like(weight, like, dtype=like.dtype)


def _relu(h: Array) -> Array:
    xp = array_namespace(h)
    return xp.where(h > 0, h, xp.zeros_like(h))
