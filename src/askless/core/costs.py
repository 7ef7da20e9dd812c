"""What asking costs, and how prices weigh on the choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like, device
from askless.core.schema import Schema
from askless.core.state import State

__all__ = ["CostModel", "PerFeature", "Uniform", "cost_model"]


class CostModel(Protocol):
    """Prices for the next question, which may depend on what is known.

    A model whose prices are the same in every state may say `fixed = True`; an interview then looks them up once.
    """

    def prices(self, state: State) -> Array:
        """(n, features), the price of asking each feature next."""
        ...

    def weigh(self, scores: Array, state: State) -> Array:
        """(n, features), the policy's scores after prices had their say."""
        ...


class Uniform:
    """Every question costs 1."""

    fixed = True

    def prices(self, state: State) -> Array:
        """(n, features) of ones."""
        xp = array_namespace(state.x)
        one = xp.ones((1, 1), dtype=xp.float64, device=device(state.x))
        return xp.broadcast_to(one, state.asked.shape)

    def weigh(self, scores: Array, state: State) -> Array:
        """Equal prices change no choice."""
        return scores


class PerFeature:
    """One fixed price per feature. Prices are added up and reported; they do not change what is asked."""

    fixed = True

    def __init__(self, prices: np.ndarray) -> None:
        self.by_feature = np.asarray(prices, dtype=np.float64)

    def prices(self, state: State) -> Array:
        """(n, features), the same row for every case."""
        xp = array_namespace(state.x)
        row = constant_like(self.by_feature, state.x, dtype=xp.float64)
        return xp.broadcast_to(row[None, :], state.asked.shape)

    def weigh(self, scores: Array, state: State) -> Array:
        """The scores as they are."""
        return scores


def cost_model(costs: Mapping[str, float] | CostModel | None, schema: Schema) -> CostModel:
    """The cost model a user means by `costs`: prices by name (what is not named costs 1), a model, or None."""
    if costs is None:
        same = bool(np.all(schema.prices == 1.0))
        return Uniform() if same else PerFeature(schema.prices)
    if not isinstance(costs, Mapping):
        return costs
    prices = np.ones(len(schema))
    for name, price in costs.items():
        prices[schema.index(name)] = checked_price(name, price)
    return PerFeature(prices)


def checked_price(name: str, price: object) -> float:
    """`price` as a number, or an error that names the feature."""
    number = isinstance(price, (int, float, np.integer, np.floating)) and not isinstance(price, bool)
    if not number or not np.isfinite(price) or price < 0:  # type: ignore[call-overload,operator]
        raise ValueError(f"the cost of {name!r} is {price!r}; it must be a number of at least 0")
    return float(price)  # type: ignore[arg-type]
