"""Matrix products of training, which large networks spend most of their time in.

Large ones are torch's, whose threads share them; numpy has less to do before it begins with a small one. A processor
that multiplies in bfloat16 does so twice as fast. Sums are kept in single precision, and what rounding a
factor or a result to eight bits adds is far below the noise of a minibatch; weights, their averages, losses and
whatever is evaluated for use rather than for training stay in single precision.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor

__all__ = ["product", "sixteen_bits"]

LARGE = 1 << 25  # multiplications of a product, from which on rounding the factors costs next to nothing


@cache
def sixteen_bits() -> bool:
    """Whether this processor multiplies in bfloat16."""
    return bool(getattr(torch.cpu, "_is_avx512_bf16_supported", bool)())  # older ones of torch do not tell


def product(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None, *, rows_for_one: int = 1) -> np.ndarray:
    """a @ b, in sixteen bits where that is faster.

    Where several rows of `a` are variants of one, to be compared with it, what counts is the size of that one's
    product: either both are rounded, or none.
    """
    if a.dtype != np.float32 or a.size // rows_for_one * b.shape[1] < LARGE:
        return np.matmul(a, b, out=out)
    result = np.empty((len(a), b.shape[1]), a.dtype) if out is None else out
    if sixteen_bits():
        torch.from_numpy(result).copy_(torch.mm(_rounded(a), _rounded(b)))
    else:
        torch.mm(torch.from_numpy(a), torch.from_numpy(b), out=torch.from_numpy(result))
    return result


def _rounded(array: np.ndarray) -> Tensor:
    return torch.from_numpy(array).to(torch.bfloat16)
