"""Matrix products of training, which large networks spend most of their time in.

Large ones are torch's, whose threads share them; numpy has less to do before it begins with a small one. A processor
that multiplies in bfloat16 does so twice as fast. Sums are kept in single precision, and what rounding a
factor or a result to eight bits adds is far below the noise of a minibatch; weights, their averages, losses and
whatever is evaluated for use rather than for training stay in single precision.
"""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np
import torch
from torch import Tensor

__all__ = ["LayerProducts", "product", "sixteen_bits"]

LARGE = 1 << 25  # multiplications of a product, from which on rounding the factors costs next to nothing


@cache
def sixteen_bits() -> bool:
    """Whether this processor multiplies in bfloat16."""
    return bool(getattr(torch.cpu, "_is_avx512_bf16_supported", bool)())  # older ones of torch do not tell


def product(a: np.ndarray, b: np.ndarray, *, rows_for_one: int = 1) -> np.ndarray:
    """a @ b, in sixteen bits where that is faster.

    Where several rows of `a` are variants of one, to be compared with it, what counts is the size of that one's
    product: either both are rounded, or none.
    """
    if not _is_large(a, b.shape[1], rows_for_one):
        return _small_product(a, b)
    return _large_product(_factor(a), _factor(b))


class LayerProducts:
    """The three products of a dense layer in one pass; what is large is rounded once for all of them."""

    def __init__(self, inputs: np.ndarray, weight: np.ndarray) -> None:
        self.inputs = inputs  # (b, inputs)
        self.weight = weight  # (outputs, inputs)
        self._large = _is_large(inputs, len(weight))  # all three have as many multiplications
        self._gradient: tuple[np.ndarray, Tensor] | None = None  # of the outputs, and how it is multiplied

    def outputs(self) -> np.ndarray:
        """(b, outputs) without the bias."""
        if not self._large:
            return _small_product(self.inputs, self.weight.T)
        return _large_product(self._input_factor, self._weight_factor.t())

    def weight_gradient(self, gradient: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """(outputs, inputs) from that of the outputs (b, outputs)."""
        if not self._large:
            return _small_product(gradient.T, self.inputs, out)
        self._gradient = gradient, _factor(gradient)
        return _large_product(self._gradient[1].t(), self._input_factor, out)

    def input_gradient(self, gradient: np.ndarray) -> np.ndarray:
        """(b, inputs) from that of the outputs (b, outputs)."""
        if not self._large:
            return _small_product(gradient, self.weight)
        if self._gradient is None or self._gradient[0] is not gradient:
            self._gradient = gradient, _factor(gradient)
        return _large_product(self._gradient[1], self._weight_factor)

    @cached_property
    def _input_factor(self) -> Tensor:
        return _factor(self.inputs)

    @cached_property
    def _weight_factor(self) -> Tensor:
        return _factor(self.weight)


def _is_large(a: np.ndarray, columns: int, rows_for_one: int = 1) -> bool:
    return a.dtype == np.float32 and a.size // rows_for_one * columns >= LARGE


def _small_product(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    result: np.ndarray = np.matmul(a, b, out=out)
    return result


def _large_product(a: Tensor, b: Tensor, out: np.ndarray | None = None) -> np.ndarray:
    result = np.empty((len(a), b.shape[1]), np.float32) if out is None else out
    if a.dtype == torch.float32:
        torch.mm(a, b, out=torch.from_numpy(result))
    else:
        torch.from_numpy(result).copy_(torch.mm(a, b))
    return result


def _factor(array: np.ndarray) -> Tensor:
    tensor = torch.from_numpy(array)
    return tensor.to(torch.bfloat16) if sixteen_bits() else tensor
