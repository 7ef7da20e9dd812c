"""The forward pass of a fitted convolutional network over images, in numpy, channels last.

A convolution is one matrix product over the windows of its input. Batch normalisation was folded into the weights
when the network was exported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from askless.acquisition.grid import Grid
from askless.acquisition.state import State

ROWS_AT_ONCE = 32  # whose windows stay in the processor's cache
TRUNK = "trunk."  # in front of the names of its arrays


@dataclass(frozen=True, eq=False)
class Convolution:
    """A convolution of a square kernel and a bias, with zeros around the image unless its windows do not overlap."""

    weight: np.ndarray  # (kernel * kernel * inputs, outputs)
    bias: np.ndarray  # (outputs,)
    kernel: int
    stride: int

    def __call__(self, h: np.ndarray) -> np.ndarray:
        """(n, rows, columns, outputs) from (n, height, width, inputs); the sides are divided by the stride."""
        windows = h[:, :: self.stride, :: self.stride] if self.kernel == 1 else self._windows(h)
        n, rows, columns = windows.shape[:3]
        out = windows.reshape(n * rows * columns, -1) @ self.weight
        out += self.bias
        return out.reshape(n, rows, columns, -1)

    def _windows(self, h: np.ndarray) -> np.ndarray:
        """(n, rows, columns, kernel, kernel, inputs), a view."""
        edge = padding_of(self.kernel, self.stride)
        n, height, width, channels = h.shape
        padded = np.zeros((n, height + 2 * edge, width + 2 * edge, channels), h.dtype)
        padded[:, edge : edge + height, edge : edge + width] = h
        sides = [(side + 2 * edge - self.kernel) // self.stride + 1 for side in (height, width)]
        case, row, column, channel = padded.strides
        strides = (case, row * self.stride, column * self.stride, row, column, channel)
        shape = (n, *sides, self.kernel, self.kernel, channels)
        return np.lib.stride_tricks.as_strided(padded, shape, strides, writeable=False)


@dataclass(frozen=True, eq=False)
class Block:
    """Two convolutions beside a shortcut."""

    first: Convolution
    second: Convolution
    shortcut: Convolution | None

    def __call__(self, h: np.ndarray) -> np.ndarray:
        """(n, rows, columns, outputs)"""
        out = self.second(_relu(self.first(h)))
        out += h if self.shortcut is None else self.shortcut(h)
        return _relu(out)


@dataclass(frozen=True, eq=False)
class ConvTrunk:
    """A residual trunk: from an image and its mask to a coarse map of many channels."""

    grid: Grid
    stem: Convolution
    blocks: tuple[Block, ...]

    def __call__(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(n, rows, columns, width) from values (n, columns) and the mask of known patches (n, features)."""
        runs = range(0, max(len(x), 1), ROWS_AT_ONCE)
        return np.concatenate([self._some(x[i : i + ROWS_AT_ONCE], known[i : i + ROWS_AT_ONCE]) for i in runs])

    def _some(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        mask = self.grid.upsample(known)[..., None].astype(x.dtype)
        h = _relu(self.stem(np.concatenate([self.grid.to_pixels(x), mask], axis=3)))
        for block in self.blocks:
            h = block(h)
        return h

    def config(self) -> dict[str, Any]:
        """The grid, the strides, the stem's kernel, and which blocks have a shortcut of their own."""
        return {
            "grid": asdict(self.grid),
            "stem": self.stem.stride,
            "kernel": self.stem.kernel,
            "blocks": [[block.first.stride, block.shortcut is not None] for block in self.blocks],
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Every weight by a name."""
        parts = {"stem": self.stem}
        for i, block in enumerate(self.blocks):
            parts |= {f"{i}.first": block.first, f"{i}.second": block.second}
            parts |= {} if block.shortcut is None else {f"{i}.shortcut": block.shortcut}
        return {
            f"{TRUNK}{name}.{kind}": array
            for name, part in parts.items()
            for kind, array in (("weight", part.weight), ("bias", part.bias))
        }

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> ConvTrunk:
        """The trunk that `config` and `arrays` came from."""
        grid = Grid(**config["grid"])
        stem, width = _built(arrays, "stem", grid.channels + 1, config["kernel"], config["stem"])
        blocks = []
        for i, (stride, has_shortcut) in enumerate(config["blocks"]):
            first, hidden = _built(arrays, f"{i}.first", width, 3, stride)
            second, outputs = _built(arrays, f"{i}.second", hidden, 3, 1)
            shortcut, same = _built(arrays, f"{i}.shortcut", width, 1, stride) if has_shortcut else (None, width)
            if outputs != same or (shortcut is None and stride != 1):
                raise ValueError(f"the parts of block {i} do not fit one another")
            blocks.append(Block(first, second, shortcut))
            width = outputs
        return cls(grid, stem, tuple(blocks))

    @property
    def width(self) -> int:
        """The channels of the map."""
        return len((self.blocks[-1].second if self.blocks else self.stem).bias)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True, eq=False)
class ConvNetwork:
    """A trunk and one of two heads: "classes" has a number for each output, "patches" one for each patch."""

    trunk: ConvTrunk
    kind: str  # of the head
    parts: dict[str, np.ndarray]  # of the head

    def outputs(self, state: State) -> np.ndarray:
        """(n, outputs)."""
        if len(state) > 1 and not state.known.any():  # all cases look the same
            return np.repeat(self(state.x[:1], state.known[:1]), len(state), axis=0)
        return self(state.x, state.known)

    def __call__(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(n, outputs) from values (n, columns) and the mask of known patches."""
        return self._head(self.trunk(x, known))

    @property
    def _head(self) -> Callable[[np.ndarray], np.ndarray]:
        return self._classes if self.kind == "classes" else self._patches

    def _classes(self, h: np.ndarray) -> np.ndarray:
        outputs: np.ndarray = h.mean(axis=(1, 2)) @ self.parts["weight"] + self.parts["bias"]
        return outputs

    def _patches(self, h: np.ndarray) -> np.ndarray:
        n, rows, columns, width = h.shape
        hidden = len(self.parts["up_bias"])
        factor = self._factor
        up = (h.reshape(-1, width) @ self.parts["up_weight"]).reshape(n, rows, columns, factor, factor, hidden)
        up = _relu(up + self.parts["up_bias"])
        logits = (up @ self.parts["weight"] + self.parts["bias"])[..., 0].transpose(0, 1, 3, 2, 4)
        logits = logits.reshape(n, rows * factor, columns * factor)
        grid = self.trunk.grid
        chosen = logits[:, _nearest(rows * factor, grid.rows)][:, :, _nearest(columns * factor, grid.columns)]
        return np.ascontiguousarray(chosen.reshape(n, -1))

    @property
    def _factor(self) -> int:
        return math.isqrt(self.parts["up_weight"].shape[1] // len(self.parts["up_bias"]))

    @property
    def n_features(self) -> int:
        """How many patches there are."""
        return self.trunk.grid.n_patches

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return len(self.parts["bias"]) if self.kind == "classes" else self.trunk.grid.n_patches

    # Files

    def config(self) -> dict[str, Any]:
        """The trunk's, and the kind of the head."""
        return {"network": self.trunk.config() | {"head": self.kind}}

    def arrays(self) -> dict[str, np.ndarray]:
        """Every weight by a name."""
        return self.trunk.arrays() | {f"head.{name}": array for name, array in self.parts.items()}

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> ConvNetwork:
        """The network that `config()["network"]` and `arrays` came from."""
        parts = {name.removeprefix("head."): a for name, a in arrays.items() if name.startswith("head.")}
        return cls(ConvTrunk.build(config, arrays), config["head"], parts).checked()

    def checked(self) -> ConvNetwork:
        """Itself, if the head fits the trunk."""
        shapes = {name: array.shape for name, array in self.parts.items()}
        outputs, width = shapes["bias"], self.trunk.width
        if self.kind == "classes":
            fits = shapes == {"weight": (width, *outputs), "bias": outputs}
        elif self.kind == "patches":
            hidden = shapes["up_bias"][0]
            up = (width, self._factor**2 * hidden)
            fits = shapes == {"up_weight": up, "up_bias": (hidden,), "weight": (hidden, 1), "bias": (1,)}
        else:
            raise ValueError(f"there is no head for {self.kind!r}")
        if not fits:
            raise ValueError(f"the head of the network has arrays of the shapes {shapes}")
        if any(array.dtype.kind != "f" for array in self.arrays().values()):
            raise ValueError("a network's weights are floating-point numbers")
        return self


def _built(
    arrays: dict[str, np.ndarray], name: str, inputs: int, kernel: int, stride: int
) -> tuple[Convolution, int]:
    """A convolution from its arrays, and how many channels it gives."""
    weight, bias = arrays[f"{TRUNK}{name}.weight"], arrays[f"{TRUNK}{name}.bias"]
    whole = all(type(number) is int and number > 0 for number in (kernel, stride))
    if not whole or weight.shape != (kernel**2 * inputs, len(bias)) or bias.ndim != 1:
        raise ValueError(
            f"the convolution {name!r} has weights of shape {weight.shape}, "
            f"the kernel {kernel!r} and the stride {stride!r}"
        )
    return Convolution(weight, bias, kernel, stride), len(bias)


def padding_of(kernel: int, stride: int) -> int:
    """How many zeros stand on each side of an image: none where the windows do not overlap."""
    return 0 if kernel == stride else kernel // 2


def _nearest(have: int, want: int) -> list[int] | slice:
    """The place among `have` that is nearest to each of `want` equal parts."""
    return slice(None) if have == want else [int((i + 0.5) * have / want) for i in range(want)]


def _relu(h: np.ndarray) -> np.ndarray:
    return np.maximum(h, 0, out=h)
