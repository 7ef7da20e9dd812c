"""Prices that differ between cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from askless.core.schema import Schema
from askless.core.state import State
from askless.exceptions import ParameterError

__all__ = ["Depends"]


class Depends:
    """Prices as a function of what is known: `function(state)` gives (n, features), or (features,) for all cases.

    The state holds encoded columns `x`, and the masks `asked` (asked and paid for) and `known`, in the order of the
    schema's features. For use from Python: a function cannot be saved in a model file.

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

    def prices(self, state: State) -> np.ndarray:
        """(n, features), checked each time."""
        given, shape = self.function(state), state.asked.shape
        try:
            prices = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError(
                "wrong_type",
                f"the function of Depends must return an array of prices of shape {shape} or {shape[1:]}, not a "
                f"{type(given).__name__}",
                name="function",
                value=given,
                expected=shape,
            ) from None
        if prices.shape not in (shape, shape[1:]):
            raise ParameterError(
                "wrong_shape",
                f"the function of Depends returns prices of shape {prices.shape} for a state of shape {shape}",
                name="function",
                shape=prices.shape,
                expected=shape,
            )
        prices = np.broadcast_to(prices, shape)
        bad = ~(np.isfinite(prices) & (prices >= 0))
        if bad.any():
            place = int(bad.any(axis=0).argmax())
            case = int(bad[:, place].argmax())
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
