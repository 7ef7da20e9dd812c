"""The best that any policy can do for an amount of money."""

from __future__ import annotations

import numpy as np

from askless.acquisition import CostModel, Schema, State
from askless.acquisition.stopping.rules import CENT
from askless.theory.records import Floats
from askless.theory.table import StateTable

__all__ = ["best_for_money"]


def best_for_money(table: StateTable, schema: Schema, costs: CostModel, money: float) -> float:
    """The least expected entropy that any adaptive policy reaches without ever spending more than `money`.

    Bellman's equation over records and money spent: what a question costs may depend on what was asked before it.
    """
    prices = _prices(table, schema, costs)
    steps = [each.tolist() for each in table.steps]
    limit = money + CENT * (1.0 + money)
    known: dict[tuple[int, float], float] = {}

    def best(number: int, spent: float) -> float:
        key = number, round(spent, 9)
        if key not in known:
            values = [float(table.entropy[number])]
            for feature in np.flatnonzero(table.open[number]).tolist():
                after = spent + float(prices[number, feature])
                if after <= limit:
                    values.append(sum(best(number + step, after) for step in steps[feature]))
            known[key] = min(values)
        return known[key]

    return best(table.root, 0.0)


def _prices(table: StateTable, schema: Schema, costs: CostModel) -> Floats:
    """(S, features) the price of each question in each record; one of a half-known group never comes up."""
    shape = tuple(int(level) + 1 for level in table.levels)
    codes = np.stack(np.unravel_index(np.arange(len(table.weight)), shape), axis=1)  # (S, columns)
    known = codes < table.levels
    x = np.where(known, codes, 0).astype(np.float64)
    asked = np.logical_and.reduceat(known, schema.starts, axis=1)  # (S, features)
    return np.asarray(costs.prices(State(x, asked, asked)), dtype=np.float64)
