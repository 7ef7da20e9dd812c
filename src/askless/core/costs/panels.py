"""Questions that are cheaper together: one sample of blood, one visit, one machine that is warm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like
from askless.core.costs.base import broadcast_prices, checked_price, named_prices
from askless.core.schema import Schema
from askless.core.state import State
from askless.exceptions import ParameterError

__all__ = ["Panels"]


class Panels:
    """The first test of a panel pays its own price, and with it the set-up; the others pay less from then on.

    `prices` are by feature, 1 where not named. `panels` gives for each panel its features, each with the price that
    it has once another one of the panel was asked. What is known beforehand has opened no panel.

    >>> blood = Panels({"cholesterol": 7.27, "sugar": 5.20}, {"blood": {"cholesterol": 5.17, "sugar": 3.10}})
    >>> costs = blood.bound(Schema.of_numbers(["age", "cholesterol", "sugar"]))
    >>> asked = np.array([[False, False, False], [False, True, False]])
    >>> costs.prices(State(np.zeros((2, 3)), asked, asked)).tolist()
    [[1.0, 7.27, 5.2], [1.0, 5.17, 3.1]]
    """

    treats_alike = True

    def __init__(self, prices: Mapping[str, float], panels: Mapping[str, Mapping[str, float]]) -> None:
        self.by_name = {str(name): checked_price(name, price) for name, price in prices.items()}
        self.panels: dict[str, dict[str, float]] = {}
        seen: dict[str, str] = {}
        for panel, members in panels.items():
            if not isinstance(members, Mapping):
                raise ParameterError(
                    "wrong_type",
                    f"the panel {panel!r} must be a mapping from features to their prices once the panel is open, "
                    f"not {members!r}",
                    name="panels",
                    panel=panel,
                    value=members,
                )
            for name in members:
                if name in seen:
                    raise ParameterError(
                        "conflicting_settings",
                        f"{name!r} is in two panels, {seen[name]!r} and {panel!r}",
                        name="panels",
                        feature=name,
                        panels=[seen[name], panel],
                    )
                seen[name] = panel
            self.panels[str(panel)] = {str(name): checked_price(name, price) for name, price in members.items()}
        self._own: np.ndarray | None = None  # (features,) the prices of a schema's features, once bound
        self._less = self._within = np.empty(0)

    def bound(self, schema: Schema) -> Panels:
        """The prices of a schema's features."""
        bound = Panels(self.by_name, self.panels)
        bound._own = named_prices(self.by_name, schema, np.ones(len(schema)))
        bound._less = bound._own.copy()
        bound._within = np.zeros((len(schema), len(schema)))  # 1 where two features share a panel
        for panel, members in self.panels.items():
            places = [schema.index(name) for name in members]
            bound._within[np.ix_(places, places)] = 1.0
            for place, (name, price) in zip(places, members.items(), strict=True):
                if price > bound._own[place]:
                    own = f"{bound._own[place]:g}"
                    raise ParameterError(
                        "out_of_range",
                        f"{name!r} costs {price:g} in the panel {panel!r}, which is more than {own} on its own",
                        name="panels",
                        panel=panel,
                        feature=name,
                        value=price,
                        high=float(bound._own[place]),
                    )
                bound._less[place] = price
        return bound

    def changed(self, prices: Mapping[str, float]) -> Panels:
        """The same panels with other prices for some features; a price in a panel is at most the new one."""
        own = self.by_name | {str(name): checked_price(name, price) for name, price in prices.items()}
        panels = {
            panel: {name: min(price, own.get(name, price)) for name, price in members.items()}
            for panel, members in self.panels.items()
        }
        return Panels(own, panels)

    def prices(self, state: State) -> Array:
        """(n, features), given which panels are open."""
        if self._own is None:
            raise ParameterError(
                "required", "these panels belong to no schema yet; use `cost_model` or `bound`", name="schema"
            )
        xp = array_namespace(state.x)
        asked = xp.astype(state.asked, xp.float64)
        opened = asked @ constant_like(self._within, state.x, dtype=xp.float64) > 0.5  # (n, features)
        return xp.where(opened, broadcast_prices(self._less, state), broadcast_prices(self._own, state))

    # Files

    def config(self) -> dict[str, Any]:
        """What a model file needs to make it again."""
        return {"prices": self.by_name, "panels": self.panels}

    def __repr__(self) -> str:
        return f"Panels({self.by_name}, {self.panels})"
