"""What asking costs.

A cost model gives prices and nothing else; how they weigh on the choice is decided in one place, `core/choice.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from askless.core.costs.base import CostModel, checked_price, named_prices
from askless.core.costs.depends import Depends
from askless.core.costs.panels import Panels
from askless.core.costs.per_feature import PerFeature
from askless.core.costs.uniform import Uniform
from askless.core.schema import Schema
from askless.exceptions import ParameterError

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

Costs = Mapping[str, float] | CostModel
"""What a user may give as `costs`: prices by name, or a cost model."""


def cost_model(costs: Costs | None, schema: Schema, fitted: CostModel | None = None) -> CostModel:
    """The cost model that a user means by `costs`, for the features of a schema.

    Prices by name change those that the model was fitted with, be they the schema's or `fitted`; None changes none.
    """
    costs = _as_mapping(costs)
    if costs is None and fitted is None:
        same = bool(np.all(schema.prices == 1.0))
        return Uniform() if same else PerFeature(schema.prices)
    if isinstance(costs, Mapping):
        if isinstance(fitted, Panels):
            return fitted.changed(costs).bound(schema)
        if fitted is not None and not isinstance(fitted, PerFeature):
            raise ParameterError(
                "not_supported",
                f"prices by name cannot change {fitted!r}, which the model was fitted with; use a cost model",
                name="costs",
                value=dict(costs),
            )
        before = schema.prices if fitted is None else fitted.bound(schema).by_feature
        return PerFeature(named_prices(costs, schema, before))
    chosen: Any = fitted if costs is None else costs
    if not hasattr(chosen, "prices"):
        raise _not_costs(costs)
    model: CostModel = chosen.bound(schema) if hasattr(chosen, "bound") else chosen
    return model


def split_costs(costs: Costs | None) -> tuple[Mapping[str, float] | None, CostModel | None]:
    """What a fit is given as `costs`: the prices that its features have alone, and a model that says more."""
    costs = _as_mapping(costs)
    if costs is None or isinstance(costs, Mapping):
        return costs, None
    if not hasattr(costs, "prices"):
        raise _not_costs(costs)
    named: Mapping[str, float] | None = getattr(costs, "by_name", None)
    if isinstance(costs, Uniform) or (isinstance(costs, PerFeature) and named is not None):
        return named, None
    return named, costs


def _as_mapping(costs: Any) -> Any:
    """A pandas Series is prices by name."""
    return costs.to_dict() if hasattr(costs, "to_dict") and not isinstance(costs, Mapping) else costs


def _not_costs(costs: Any) -> ParameterError:
    return ParameterError(
        "wrong_type",
        f"costs must be a mapping from names to prices or a cost model, not {costs!r}",
        name="costs",
        value=costs,
    )
