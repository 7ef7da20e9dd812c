"""Prices that differ between cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like, to_numpy
from askless.core.schema import Schema
from askless.core.state import State
from askless.exceptions import ParameterError

__all__ = ["Depends"]


class Depends:
    """Prices as a function of what is known: `function(state)` gives (n, features), or (features,) for all cases.

    The state holds encoded columns `x`, and the masks `asked` (asked and paid for) and `known`, in the order of the
    schema's features; numpy arrays, always. For use from Python: a function cannot be saved in a model file.

    >>> def rising(state):  # each question costs one more than the one before
    ...     return np.broadcast_to(1.0 + state.asked.sum(axis=1, keepdims=True), state.asked.shape)
    >>> asked = np.array([[True, False]])
    >>> Depends(rising).prices(State(np.zeros((1, 2)), asked, asked)).tolist()
    [[2.0, 2.0]]
    """

    def __init__(self, function: Callable[[State], Any]) -> None:
        if not callable(function):
            raise ParameterError(
                "wrong_type",
                f"Depends takes a function of a state, not {function!r}",
                name="function",
                value=function,
            )
        self.function = function
        self._names: tuple[str, ...] | None = None

    def bound(self, schema: Schema) -> Depends:
        """The same prices; errors name the features."""
        bound = Depends(self.function)
        bound._names = schema.names
        return bound

    def prices(self, state: State) -> Array:
        """(n, features), checked each time."""
        xp = array_namespace(state.x)
        seen = State(to_numpy(state.x), to_numpy(state.asked), to_numpy(state.known))
        given, shape = self.function(seen), tuple(state.asked.shape)
        try:
            prices = constant_like(np.array(given, dtype=np.float64), state.x)
        except (TypeError, ValueError):
            raise ParameterError(
                "wrong_type",
                f"the function of Depends must return an array of prices of shape {shape} or {shape[1:]}, not a "
                f"{type(given).__name__}",
                name="function",
                value=given,
                expected=shape,
            ) from None
        if tuple(prices.shape) not in (shape, shape[1:]):
            raise ParameterError(
                "wrong_shape",
                f"the function of Depends returns prices of shape {tuple(prices.shape)} for a state of shape {shape}",
                name="function",
                shape=tuple(prices.shape),
                expected=shape,
            )
        prices = xp.broadcast_to(prices, shape)
        bad = ~(xp.isfinite(prices) & (prices >= 0))
        if bool(xp.any(bad)):
            place = int(xp.argmax(xp.astype(xp.any(bad, axis=0), xp.int64)))
            case = int(xp.argmax(xp.astype(bad[:, place], xp.int64)))
            name = place if self._names is None else self._names[place]
            price = float(prices[case, place])
            raise ParameterError(
                "out_of_range",
                f"the cost of {name!r} is {price!r}; it must be a number of at least 0",
                name="costs",
                feature=name,
                value=price,
                low=0,
            )
        return prices

    def __repr__(self) -> str:
        return f"Depends({self.function!r})"
