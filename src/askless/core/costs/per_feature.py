"""One price for each feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from askless.core.arrays import Array
from askless.core.costs.base import broadcast_prices, checked_price, named_prices
from askless.core.schema import Schema
from askless.core.state import State
from askless.exceptions import ParameterError

__all__ = ["PerFeature"]


class PerFeature:
    """One fixed price per feature: by name (what is not named costs 1), or an array in the order of the features.

    >>> PerFeature({"age": 0, "scan": 90}).bound(Schema.of_numbers(["age", "sex", "scan"])).by_feature.tolist()
    [0.0, 1.0, 90.0]
    """

    treats_alike = True
    fixed = True

    def __init__(self, prices: Mapping[str, float] | np.ndarray | Sequence[float]) -> None:
        pairs = prices.items() if isinstance(prices, Mapping) else enumerate(np.asarray(prices).tolist())
        checked: dict[Any, float] = {name: checked_price(str(name), price) for name, price in pairs}
        self.by_name = checked if isinstance(prices, Mapping) else None
        self.by_feature = np.array(list(checked.values()), dtype=np.float64)  # (features,) once bound

    @property
    def equal(self) -> bool:
        """Whether all features cost the same, so that prices change no choice."""
        return len(set(self.by_feature.tolist())) == 1 and self.by_feature[0] > 0

    def bound(self, schema: Schema) -> PerFeature:
        """The prices of a schema's features."""
        if self.by_name is not None:
            return PerFeature(named_prices(self.by_name, schema, np.ones(len(schema))))
        if self.by_feature.shape != (len(schema),):
            raise ParameterError(
                "wrong_shape",
                f"there are {len(self.by_feature)} prices for {len(schema)} features",
                name="costs",
                shape=self.by_feature.shape,
                expected=(len(schema),),
            )
        return self

    def prices(self, state: State) -> Array:
        """(n, features), the same row for every case."""
        return broadcast_prices(self.by_feature, state)

    def config(self) -> dict[str, Any]:
        """What a model file needs to make it again."""
        return {"prices": self.by_feature.tolist() if self.by_name is None else self.by_name}

    def __repr__(self) -> str:
        return f"PerFeature({self.by_name or self.by_feature.tolist()})"
