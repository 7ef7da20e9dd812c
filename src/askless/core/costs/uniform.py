"""Every question costs the same."""

from __future__ import annotations

import numpy as np

from askless.core.state import State

__all__ = ["Uniform"]


class Uniform:
    """Every question costs 1."""

    fixed = True
    equal = True

    def prices(self, state: State) -> np.ndarray:
        """(n, features) of ones."""
        return np.ones(state.asked.shape)

    def __repr__(self) -> str:
        return "Uniform()"
