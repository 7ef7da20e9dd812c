"""The contract of a cost model, and what a price may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like
from askless.core.numbers import checked_number
from askless.core.schema import Schema
from askless.core.state import State

__all__ = ["CostModel", "broadcast_prices", "checked_price", "named_prices"]


class CostModel(Protocol):
    """Prices for the next question, which may depend on what is known and on what was done.

    In the state that it sees, `asked` is what was asked and paid for; what was known beforehand is in `known` only.
    A model whose prices are the same in every state may say `fixed = True`: an interview then looks them up once. One
    whose prices are all the same may say `equal = True`: they then change no choice. One that treats cases in the
    same state alike may say `treats_alike = True` (see `Policy`). One that names features has `bound(schema)`, which
    gives a model for the features of a schema.
    """

    def prices(self, state: State) -> Array:
        """(n, features), the price of asking each feature next."""
        ...


def checked_price(name: str, price: object) -> float:
    """`price` as a number, or an error that names the feature."""
    return checked_number(price, f"the cost of {name!r}", low=0, name="costs", feature=name)


def named_prices(prices: Mapping[Any, Any], schema: Schema, others: np.ndarray) -> np.ndarray:
    """(features,) prices by name; those of `others` where no price is named."""
    row = np.array(others, dtype=np.float64)
    for name, price in prices.items():
        row[schema.index(name)] = checked_price(name, price)
    return row


def broadcast_prices(row: np.ndarray, state: State) -> Array:
    """(n, features), the same row for every case, in the library of the state."""
    xp = array_namespace(state.x)
    return xp.broadcast_to(constant_like(row, state.x, dtype=xp.float64)[None, :], state.asked.shape)
