"""Every question costs the same."""

from __future__ import annotations

from askless.core.arrays import Array, array_namespace, device
from askless.core.state import State

__all__ = ["Uniform"]


class Uniform:
    """Every question costs 1."""

    treats_alike = True
    fixed = True
    equal = True

    def prices(self, state: State) -> Array:
        """(n, features) of ones."""
        xp = array_namespace(state.x)
        one = xp.ones((1, 1), dtype=xp.float64, device=device(state.x))
        return xp.broadcast_to(one, state.asked.shape)

    def __repr__(self) -> str:
        return "Uniform()"
