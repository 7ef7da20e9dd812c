"""From columns to features: which columns are asked together, and how a feature of several columns is encoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from askless.acquisition.costs import checked_price
from askless.acquisition.numbers import is_whole
from askless.encoding.codec import PartCodec
from askless.encoding.errors import BadCell
from askless.encoding.table import Columns
from askless.exceptions import TableError
from askless.hints import did_you_mean, listed, nearest

__all__ = ["FeatureCodec", "plan_costs", "plan_features"]


@dataclass(frozen=True)
class FeatureCodec:
    """The columns of one feature, side by side.

    In a feature of several parts each part is followed by one more column, which is 1 where the part has a value:
    parts may be missing one by one.
    """

    name: str
    parts: tuple[PartCodec, ...]

    @property
    def flagged(self) -> bool:
        """Whether the parts have a column that says they are present."""
        return len(self.parts) > 1

    @property
    def flags(self) -> list[int]:
        """The places of the columns that say whether each part is present; empty where they have none."""
        ends = accumulate(part.width + 1 for part in self.parts)
        return [end - 1 for end in ends] if self.flagged else []

    @property
    def width(self) -> int:
        """How many encoded columns there are."""
        return sum(part.width + self.flagged for part in self.parts)

    def encode_into(self, x: np.ndarray, values: Iterable[np.ndarray]) -> np.ndarray:
        """Write the encoding of the parts' cells into `x` (n, width); returns where any is present (n,)."""
        present = np.zeros(len(x), dtype=bool)
        start = 0
        for part, cells in zip(self.parts, values, strict=True):
            try:
                encoded = part.encode(cells)
            except BadCell as bad:
                bad.column = part.part.name
                raise
            x[:, start : start + part.width] = encoded.x
            start += part.width
            if self.flagged:
                x[:, start] = encoded.present
                start += 1
            present |= encoded.present
        return present

    def encode_one(self, cells: Iterable[Any]) -> list[float] | None:
        """The columns of one answer, given by a cell for each part; None where no part is present."""
        columns: list[float] = []
        present = False
        for part, cell in zip(self.parts, cells, strict=True):
            try:
                encoded = part.encode_one(cell)
            except BadCell as bad:
                bad.column = part.part.name
                raise
            columns += [0.0] * part.width if encoded is None else encoded
            if self.flagged:
                columns.append(float(encoded is not None))
            present = present or encoded is not None
        return columns if present else None


def plan_features(columns: Columns, groups: Mapping[str, Sequence[Any]] | None) -> list[tuple[str, tuple[int, ...]]]:
    """Each feature's name and the positions of its columns; a group stands where its first column does."""
    members = {str(name): _members(columns, str(name), group) for name, group in _items(groups, "groups")}
    group_of: dict[int, str] = {}
    for name, positions in members.items():
        for position in positions:
            if position in group_of:
                column = columns.names[position]
                other = group_of[position]
                where = f"twice in the group {name!r}" if other == name else f"in two groups, {other!r} and {name!r}"
                raise TableError(
                    "duplicate_name", f"column {column!r} is {where}", column=column, name=name, setting="groups"
                )
            group_of[position] = name
    features: dict[str, tuple[int, ...]] = {}
    for position, column in enumerate(columns.names):
        name = group_of.get(position, column)
        if position not in group_of and name in members:
            raise TableError(
                "duplicate_name",
                f"the group {name!r} has the name of a column outside the group",
                name=name,
                column=name,
                setting="groups",
            )
        features[name] = members.get(name, (position,))
    return list(features.items())


def plan_costs(
    columns: Columns, features: Sequence[tuple[str, tuple[int, ...]]], costs: Mapping[str, float] | None
) -> dict[str, float]:
    """The price of each feature, 1 where `costs` does not say."""
    prices = {name: 1.0 for name, _ in features}
    group_of = {columns.names[i]: name for name, positions in features for i in positions}
    for given, price in _items(costs, "costs"):
        name = columns.names[_position(columns, given)] if _is_position(columns, given) else str(given)
        if name not in prices and name in group_of:
            raise TableError(
                "unknown_name",
                f"costs: {name!r} is part of the group {group_of[name]!r}; give the cost of the group",
                name=name,
                nearest=group_of[name],
                setting="costs",
            )
        if name not in prices:
            known = (*prices, *group_of)
            raise TableError(
                "unknown_name",
                f"costs: there is no feature {name!r}{did_you_mean(name, known)}",
                name=name,
                nearest=nearest(name, known),
                setting="costs",
            )
        prices[name] = checked_price(name, price)
    return prices


def _items(mapping: Any, what: str) -> Iterable[tuple[Any, Any]]:
    if mapping is None:
        return ()
    if not isinstance(mapping, Mapping):
        raise TableError(
            "wrong_type", f"{what} must be a mapping from names, not {mapping!r}", name=what, value=mapping
        )
    return mapping.items()


def _members(columns: Columns, name: str, group: Any) -> tuple[int, ...]:
    if isinstance(group, (str, bytes)) or not isinstance(group, Iterable):
        raise TableError(
            "wrong_type",
            f"the group {name!r} must be a list of columns, not {group!r}",
            name=name,
            value=group,
            setting="groups",
        )
    positions = tuple(_position(columns, column, f"the group {name!r}: ") for column in group)
    if not positions:
        raise TableError("required", f"the group {name!r} is empty", name=name, setting="groups")
    return positions


def _is_position(columns: Columns, column: Any) -> bool:
    return not columns.named and is_whole(column)


def _position(columns: Columns, column: Any, where: str = "") -> int:
    """Where a column is: by name, or in a table without names also by position."""
    if _is_position(columns, column):
        if not 0 <= column < len(columns):
            last = len(columns) - 1
            raise TableError(
                "missing_column",
                f"{where}there is no column {column}; the positions are 0 to {last}",
                column=int(column),
                high=last,
            )
        return int(column)
    name = str(column)
    if name not in columns.names:
        raise TableError(
            "missing_column",
            f"{where}there is no column {name!r}{did_you_mean(name, columns.names)}; "
            f"the columns are {listed(columns.names)}",
            column=name,
            nearest=nearest(name, columns.names),
            choices=list(columns.names),
            setting="groups",
        )
    return columns.names.index(name)
