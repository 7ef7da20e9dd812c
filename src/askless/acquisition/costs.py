"""What asking costs.

A cost model gives prices and nothing else. How they weigh on the choice is decided in one place, `choice.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from askless.acquisition.numbers import checked_number
from askless.acquisition.schema import Schema
from askless.acquisition.state import State
from askless.exceptions import ParameterError, bad_value

__all__ = [
    "CostModel",
    "Costs",
    "Depends",
    "Panels",
    "PerFeature",
    "Uniform",
    "checked_price",
    "cost_model",
    "split_costs",
]


class CostModel(ABC):
    """Prices for the next question, which may depend on what is known and on what was done.

    In the state that it sees, `asked` is what was asked and paid for; what was known beforehand is in `known` only.
    A cost model of your own derives from this class and writes `prices`.

    >>> class Rising(CostModel):  # each question costs one more than the one before
    ...     def prices(self, state):
    ...         return np.broadcast_to(1.0 + state.asked.sum(axis=1, keepdims=True), state.asked.shape)
    >>> asked = np.array([[True, False]])
    >>> Rising().prices(State(np.zeros((1, 2)), asked, asked)).tolist()
    [[2.0, 2.0]]
    """

    fixed: bool = False
    """The prices are the same in every state."""

    equal: bool = False
    """All features cost the same in every state, so that prices change no choice."""

    by_name: Mapping[str, float] | None = None
    """The prices that features have alone, where they were given by name."""

    @abstractmethod
    def prices(self, state: State) -> np.ndarray:
        """(n, features), the price of asking each feature next."""

    def bound(self, schema: Schema) -> CostModel:
        """The model for the features of a schema; itself unless it names features."""
        return self

    def config(self) -> dict[str, Any]:
        """The arguments that make it again, for model files; an error, the default, if a file cannot hold them."""
        name = type(self).__name__
        message = f"{name} cannot be saved: a model file holds no functions; pass it to rollout and interview instead"
        raise ParameterError("cannot_save", message, name=name)


class Uniform(CostModel):
    """Every question costs 1."""

    fixed = True
    equal = True

    def prices(self, state: State) -> np.ndarray:
        return np.ones(state.asked.shape)

    def config(self) -> dict[str, Any]:
        return {}

    def __repr__(self) -> str:
        return "Uniform()"


class PerFeature(CostModel):
    """One fixed price per feature: by name (what is not named costs 1), or an array in the order of the features.

    >>> PerFeature({"age": 0, "scan": 90}).bound(Schema.of_numbers(["age", "sex", "scan"])).by_feature.tolist()
    [0.0, 1.0, 90.0]
    """

    fixed = True

    def __init__(self, prices: Mapping[str, float] | np.ndarray | Sequence[float]) -> None:
        pairs = prices.items() if isinstance(prices, Mapping) else enumerate(np.asarray(prices).tolist())
        checked: dict[Any, float] = {name: checked_price(str(name), price) for name, price in pairs}
        self.by_name = checked if isinstance(prices, Mapping) else None
        self.by_feature = np.array(list(checked.values()), dtype=np.float64)  # (features,) once bound
        self.equal = len(set(checked.values())) == 1 and bool(self.by_feature[0] > 0)

    def bound(self, schema: Schema) -> PerFeature:
        if self.by_name is not None:
            return PerFeature(_named_prices(self.by_name, schema, np.ones(len(schema))))
        if self.by_feature.shape != (len(schema),):
            message = f"there are {len(self.by_feature)} prices for {len(schema)} features"
            raise ParameterError(
                "wrong_shape", message, name="costs", shape=self.by_feature.shape, expected=(len(schema),)
            )
        return self

    def prices(self, state: State) -> np.ndarray:
        return np.broadcast_to(self.by_feature, state.asked.shape)

    def config(self) -> dict[str, Any]:
        return {"prices": self.by_feature.tolist() if self.by_name is None else self.by_name}

    def __repr__(self) -> str:
        return f"PerFeature({self.by_name or self.by_feature.tolist()})"


class Panels(CostModel):
    """The first test of a panel pays its own price, and with it the set-up; the others pay less from then on.

    `prices` are by feature, 1 where not named. `panels` gives for each panel its features, each with the price that
    it has once another one of the panel was asked. What is known beforehand has opened no panel.

    >>> blood = Panels({"cholesterol": 7.27, "sugar": 5.20}, {"blood": {"cholesterol": 5.17, "sugar": 3.10}})
    >>> costs = blood.bound(Schema.of_numbers(["age", "cholesterol", "sugar"]))
    >>> asked = np.array([[False, False, False], [False, True, False]])
    >>> costs.prices(State(np.zeros((2, 3)), asked, asked)).tolist()
    [[1.0, 7.27, 5.2], [1.0, 5.17, 3.1]]
    """

    by_name: dict[str, float]

    def __init__(self, prices: Mapping[str, float], panels: Mapping[str, Mapping[str, float]]) -> None:
        self.by_name = {str(name): checked_price(name, price) for name, price in prices.items()}
        self.panels: dict[str, dict[str, float]] = {}
        seen: dict[str, str] = {}
        for panel, members in panels.items():
            if not isinstance(members, Mapping):
                message = (
                    f"the panel {panel!r} must be a mapping from features to their prices once the panel is open, "
                    f"not {members!r}"
                )
                raise ParameterError("wrong_type", message, name="panels", panel=panel, value=members)
            for name in members:
                if name in seen:
                    message = f"{name!r} is in two panels, {seen[name]!r} and {panel!r}"
                    where = [seen[name], panel]
                    raise ParameterError("conflicting_settings", message, name="panels", feature=name, panels=where)
                seen[name] = panel
            self.panels[str(panel)] = {str(name): checked_price(name, price) for name, price in members.items()}
        self._own: np.ndarray | None = None  # (features,) the prices of a schema's features, once bound
        self._less = self._within = np.empty(0)

    def bound(self, schema: Schema) -> Panels:
        bound = Panels(self.by_name, self.panels)
        bound._own = _named_prices(self.by_name, schema, np.ones(len(schema)))
        bound._less = bound._own.copy()
        bound._within = np.zeros((len(schema), len(schema)))  # 1 where two features share a panel
        for panel, members in self.panels.items():
            places = [schema.index(name) for name in members]
            bound._within[np.ix_(places, places)] = 1.0
            for place, (name, price) in zip(places, members.items(), strict=True):
                own = float(bound._own[place])
                if price > own:
                    message = (
                        f"{name!r} costs {price:g} in the panel {panel!r}, which is more than {own:g} on its own"
                    )
                    fields = {"panel": panel, "feature": name, "value": price, "high": own}
                    raise ParameterError("out_of_range", message, name="panels", **fields)
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

    def prices(self, state: State) -> np.ndarray:
        if self._own is None:
            raise ParameterError(
                "required", "these panels belong to no schema yet; use `cost_model` or `bound`", name="schema"
            )
        opened = state.asked @ self._within > 0.5  # (n, features)
        return np.where(opened, self._less, self._own)

    def config(self) -> dict[str, Any]:
        return {"prices": self.by_name, "panels": self.panels}

    def __repr__(self) -> str:
        return f"Panels({self.by_name}, {self.panels})"


class Depends(CostModel):
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
            message = f"Depends takes a function of a state, not {function!r}"
            raise ParameterError("wrong_type", message, name="function", value=function)
        self.function = function
        self._names: tuple[str, ...] | None = None

    def bound(self, schema: Schema) -> Depends:
        """The same prices; errors name the features."""
        bound = Depends(self.function)
        bound._names = schema.names
        return bound

    def prices(self, state: State) -> np.ndarray:
        given, shape = self.function(state), state.asked.shape
        try:
            prices = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            message = (
                f"the function of Depends must return an array of prices of shape {shape} or {shape[1:]}, not a "
                f"{type(given).__name__}"
            )
            raise ParameterError("wrong_type", message, name="function", value=given, expected=shape) from None
        if prices.shape not in (shape, shape[1:]):
            message = f"the function of Depends returns prices of shape {prices.shape} for a state of shape {shape}"
            raise ParameterError("wrong_shape", message, name="function", shape=prices.shape, expected=shape)
        prices = np.broadcast_to(prices, shape)
        bad = ~(np.isfinite(prices) & (prices >= 0))
        if bad.any():
            place = int(bad.any(axis=0).argmax())
            case = int(bad[:, place].argmax())
            checked_price(place if self._names is None else self._names[place], float(prices[case, place]))  # raises
        return prices

    def __repr__(self) -> str:
        return f"Depends({self.function!r})"


Costs = Mapping[str, float] | CostModel
"""What a user may give as `costs`: prices by name, or a cost model."""


def cost_model(costs: Costs | None, schema: Schema, fitted: CostModel | None = None) -> CostModel:
    """The cost model that a user means by `costs`, for the features of a schema.

    Prices by name change those that the model was fitted with, be they the schema's or `fitted`; None changes none.
    """
    costs = _checked_costs(costs)
    if isinstance(costs, CostModel):
        return costs.bound(schema)
    if costs is None:
        if fitted is not None:
            return fitted.bound(schema)
        return Uniform() if bool(np.all(schema.prices == 1.0)) else PerFeature(schema.prices)
    if isinstance(fitted, Panels):
        return fitted.changed(costs).bound(schema)
    if fitted is not None and not isinstance(fitted, PerFeature):
        message = f"prices by name cannot change {fitted!r}, which the model was fitted with; use a cost model"
        raise ParameterError("not_supported", message, name="costs", value=dict(costs))
    before = schema.prices if fitted is None else fitted.bound(schema).by_feature
    return PerFeature(_named_prices(costs, schema, before))


def split_costs(costs: Costs | None) -> tuple[Mapping[str, float] | None, CostModel | None]:
    """What a fit is given as `costs`: the prices that its features have alone, and a model that says more."""
    costs = _checked_costs(costs)
    if not isinstance(costs, CostModel):
        return costs, None
    says_all = isinstance(costs, Uniform) or (isinstance(costs, PerFeature) and costs.by_name is not None)
    return costs.by_name, None if says_all else costs


def checked_price(name: object, price: object) -> float:
    """`price` as a number, or an error that names the feature."""
    return checked_number(price, f"the cost of {name!r}", low=0, name="costs", feature=name)


def _named_prices(prices: Mapping[Any, Any], schema: Schema, others: np.ndarray) -> np.ndarray:
    """(features,) prices by name; those of `others` where no price is named."""
    row = np.array(others, dtype=np.float64)
    for name, price in prices.items():
        row[schema.index(name)] = checked_price(name, price)
    return row


def _checked_costs(costs: Any) -> Costs | None:
    """What can be used as `costs`, or an error. A pandas Series is prices by name."""
    if hasattr(costs, "to_dict") and not isinstance(costs, Mapping):
        costs = costs.to_dict()
    if costs is not None and not isinstance(costs, (Mapping, CostModel)):
        expected = "a mapping from names to prices, or an object whose class derives from CostModel"
        raise bad_value("wrong_type", "costs", costs, expected)
    return costs
