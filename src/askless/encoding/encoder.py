"""The user's table to the arrays that models see, and single answers likewise: columns, the features they make."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Self

import numpy as np

from askless.acquisition.costs import checked_price
from askless.acquisition.numbers import is_whole
from askless.acquisition.schema import Feature, Grid, Schema
from askless.acquisition.state import Cases
from askless.encoding.cells import BadCell, is_missing, is_unknown, shown
from askless.encoding.codec import PartCodec
from askless.encoding.images import ImageEncoder
from askless.encoding.kinds import CODECS, codec_from_json, codec_to_json, kind_of
from askless.encoding.table import Columns, read_table
from askless.exceptions import AsklessWarning, InterviewError, ModelFileError, TableError
from askless.hints import did_you_mean, listed, nearest
from askless.tables import ParquetTable, row_chunks, sample_rows, take_rows

SAMPLE = 200_000  # rows are enough to learn ranks, medians and categories from
ROWS_AT_ONCE = 65_536  # at most so many rows are encoded together,
VALUES_AT_ONCE = 1 << 22  # and so many encoded numbers: 16 MiB


class TableEncoder:
    """Encodes tables and answers as the training table taught; made by `fit` or `from_json`.

    >>> encoder = TableEncoder.fit(np.array([[20, "f"], [30, "m"], [50, None]], dtype=object))
    >>> [(feature.name, feature.kind, feature.choices) for feature in encoder.schema.features]
    [('x0', 'number', None), ('x1', 'category', ('f', 'm'))]
    >>> cases = encoder.transform([[20, "m"], [None, "f"]])
    >>> cases.x.shape, cases.present.tolist()
    ((2, 4), [[True, True], [False, True]])
    >>> encoder.encode_answer(1, "m").tolist()
    [0.0, 1.0]
    """

    schema: Schema
    columns: tuple[str, ...]
    named: bool  # the columns' names are the user's, not x0, x1, ...

    def __init__(
        self,
        columns: Sequence[str],
        features: Mapping[str, Sequence[PartCodec]],  # by name; each codec is for one of the columns
        prices: Sequence[float],
        *,
        named: bool,
    ) -> None:
        self.columns, self.named = tuple(columns), named
        self._codecs = dict(features)
        described: list[Feature] = []
        start = 0
        for (name, codecs), price in zip(features.items(), prices, strict=True):
            stop = start + sum(codec.width for codec in codecs) + (len(codecs) if len(codecs) > 1 else 0)
            described.append(Feature(name, tuple(codec.part for codec in codecs), start, stop, price))
            start = stop
        self.schema = Schema(tuple(described))
        if not {part.name for feature in described for part in feature.parts} <= set(self.columns):
            raise ValueError("a feature is made of columns that the table does not have")

    @property
    def part_flags(self) -> dict[str, int]:
        """The columns of groups, by their names, and which encoded column says whether each has a value."""
        flags: dict[str, int] = {}
        for feature, codecs in zip(self.schema.features, self._codecs.values(), strict=True):
            if feature.is_group:
                ends = accumulate(codec.width + 1 for codec in codecs)
                flags |= {codec.part.name: feature.start + end - 1 for codec, end in zip(codecs, ends, strict=True)}
        return flags

    # Learning

    @classmethod
    def fit(
        cls,
        table: Any,
        *,
        groups: Mapping[str, Sequence[Any]] | None = None,
        costs: Mapping[str, float] | None = None,
        row_numbers: Sequence[int] | None = None,
    ) -> Self:
        """Learn the features of a training table and how to encode them.

        Parameters
        ----------
        table : a pandas or polars DataFrame, a pyarrow table, or a 2-D array
            Numbers, booleans, text and categorical columns. NaN, None, nulls and text such as "", "NA", "nan",
            "null" and "?" are missing. Text that spells numbers throughout is read as numbers. A column without
            any value is left out, with a warning.
        groups : mapping from a name to columns, optional
            Columns that are asked together, as one feature of that name.
        costs : mapping from a feature's name to its price, optional
            What is not named costs 1.
        row_numbers : for each row its place in a larger table, optional
            What errors name.
        """
        columns = read_table(table)
        for what, given in (("groups", groups), ("costs", costs)):
            if given is not None and not isinstance(given, Mapping):
                message = f"{what} must be a mapping from names, not {given!r}"
                raise TableError("wrong_type", message, name=what, value=given)
        plan = plan_features(columns, groups or {})
        prices = plan_costs(columns, plan, costs or {})
        codecs: list[PartCodec | None] = []
        for position, name in enumerate(columns.names):
            try:
                column = columns.column(position)
                kind = kind_of(column)
                codecs.append(None if kind is None else CODECS[kind].fit(column))
            except BadCell as bad:
                raise bad.in_table(name, row_numbers) from None
        empty = [name for name, codec in zip(columns.names, codecs, strict=True) if codec is None]
        if len(empty) == len(columns.names):
            raise TableError("bad_column", "every value of the table is missing", columns=empty)
        if empty:
            message = f"dropped columns without any value: {listed(empty)}"
            warnings.warn(AsklessWarning("empty_column", message, column=empty[0], columns=empty), stacklevel=2)
        features = {
            name: [codec for codec in (codecs[i] for i in positions) if codec is not None]
            for name, positions in plan.items()
        }
        features = {name: parts for name, parts in features.items() if parts}
        return cls(columns.names, features, [prices[name] for name in features], named=columns.named)

    # Encoding

    def transform(self, table: Any, row_numbers: Sequence[int] | None = None) -> Cases:
        """Encode a table: `x` (n, columns) float32 and `present` (n, features).

        The columns of a frame are found by name, those of an array by position. Categories that the training table
        did not hold count as missing. `row_numbers` say where the rows stand in a larger table, for errors to name.
        """
        columns = read_table(table)
        positions = self._locate(columns)
        x = np.empty((columns.n_rows, self.schema.n_columns), dtype=np.float32)
        present = np.zeros((columns.n_rows, len(self.schema)), dtype=bool)
        for i, (feature, codecs) in enumerate(zip(self.schema.features, self._codecs.values(), strict=True)):
            start = feature.start
            for codec in codecs:
                name = codec.part.name
                try:
                    encoded = codec.encode(columns.column(positions[name]).values)
                except BadCell as bad:
                    raise bad.in_table(name, row_numbers) from None
                x[:, start : start + codec.width] = encoded.x
                start += codec.width
                if feature.is_group:
                    x[:, start] = encoded.present
                    start += 1
                present[:, i] |= encoded.present
        return Cases(x, present)

    def encode_answer(self, feature: int, answer: Any) -> np.ndarray | None:
        """The encoded columns of one answer; None where it says nothing, such as "unknown".

        A group is answered by a mapping from its columns' names to values; what is left out is missing.
        """
        asked = self.schema.features[feature]
        if isinstance(answer, str) and asked.kind != "category" and is_unknown(answer):
            return None  # a category comes later, as "unknown" may be one of its choices
        names = [part.name for part in asked.parts]
        given = self._by_part(asked, names, answer)
        columns: list[float] = []
        present = False
        for codec, name in zip(self._codecs[asked.name], names, strict=True):
            try:
                encoded = codec.encode_one(given.get(name))
            except BadCell as bad:
                raise bad.in_answer(asked.name, name, codec.accepts) from None
            columns += [0.0] * codec.width if encoded is None else encoded
            if asked.is_group:
                columns.append(float(encoded is not None))
            present = present or encoded is not None
        return np.array(columns, dtype=np.float32) if present else None

    def _by_part(self, feature: Feature, names: list[str], answer: Any) -> Mapping[str, Any]:
        """The answer as a mapping from the names of the feature's parts."""
        if not isinstance(answer, Mapping):
            if feature.is_group and not is_missing(answer):
                example = ", ".join(f"{name!r}: ..." for name in names)
                message = f"answer to {feature.name!r}: expected a mapping {{{example}}}, not {shown(answer)}"
                raise InterviewError("bad_answer", message, feature=feature.name, value=answer, choices=names)
            return {names[0]: None if feature.is_group else answer}
        for name in answer:
            if name not in names:
                hint, near = did_you_mean(name, names), nearest(name, names)
                message = f"{feature.name!r} has no part {name!r}{hint}; its parts are {listed(names)}"
                fields = {"feature": feature.name, "name": name, "nearest": near, "choices": names}
                raise InterviewError("bad_answer", message, **fields)
        return answer

    def _locate(self, columns: Columns) -> Mapping[str, int]:
        """Where the columns that are needed stand in a table."""
        at = {name: i for i, name in enumerate(columns.names)}
        needed = [part.name for feature in self.schema.features for part in feature.parts]
        absent = [name for name in needed if name not in at]
        if columns.named and not absent:
            return at
        if columns.named and self.named:
            lacking = ", ".join(f"{name!r}{did_you_mean(name, at)}" for name in absent)
            advice = "it is never available, add it" if len(absent) == 1 else "they are never available, add them"
            message, near = f"the table lacks {lacking}; if {advice} empty", nearest(absent[0], at)
            raise TableError("missing_column", message, column=absent[0], columns=absent, nearest=near)
        if len(columns.names) != len(self.columns):
            message = (
                f"X has {len(columns.names)} features, but {type(self).__name__} is expecting "
                f"{len(self.columns)} features as input"
            )
            raise TableError("wrong_shape", message, value=len(columns.names), expected=len(self.columns))
        return {name: i for i, name in enumerate(self.columns)}

    # Files

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs, as JSON can hold it; floats survive bit for bit."""
        return {
            "columns": list(self.columns),
            "named": self.named,
            "features": [
                {"name": feature.name, "cost": feature.cost, "parts": [codec_to_json(codec) for codec in codecs]}
                for feature, codecs in zip(self.schema.features, self._codecs.values(), strict=True)
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """The encoder that `to_json` described."""
        try:
            features = {each["name"]: [codec_from_json(part) for part in each["parts"]] for each in data["features"]}
            prices = [each["cost"] for each in data["features"]]
            return cls(data["columns"], features, prices, named=data["named"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelFileError("wrong_file", f"the description of the table is damaged: {error!r}") from error

    def __repr__(self) -> str:
        return f"TableEncoder({len(self.schema)} features from {len(self.columns)} columns)"


def plan_features(columns: Columns, groups: Mapping[str, Sequence[Any]]) -> dict[str, tuple[int, ...]]:
    """Each feature's name and the positions of its columns; a group stands where its first column does."""
    members = {str(name): _members(columns, str(name), group) for name, group in groups.items()}
    group_of: dict[int, str] = {}
    for name, positions in members.items():
        for position in positions:
            if position in group_of:
                column = columns.names[position]
                other = group_of[position]
                where = f"twice in the group {name!r}" if other == name else f"in two groups, {other!r} and {name!r}"
                message = f"column {column!r} is {where}"
                raise TableError("duplicate_name", message, column=column, name=name, setting="groups")
            group_of[position] = name
    features: dict[str, tuple[int, ...]] = {}
    for position, column in enumerate(columns.names):
        name = group_of.get(position, column)
        if position not in group_of and name in members:
            message = f"the group {name!r} has the name of a column outside the group"
            raise TableError("duplicate_name", message, name=name, column=name, setting="groups")
        features[name] = members.get(name, (position,))
    return features


def plan_costs(
    columns: Columns, features: Mapping[str, tuple[int, ...]], costs: Mapping[str, float]
) -> dict[str, float]:
    """The price of each feature, 1 where `costs` does not say."""
    prices = dict.fromkeys(features, 1.0)
    group_of = {columns.names[i]: name for name, positions in features.items() for i in positions}
    for given, price in costs.items():
        name = columns.names[_position(columns, given)] if _is_position(columns, given) else str(given)
        if name not in prices and name in group_of:
            message = f"costs: {name!r} is part of the group {group_of[name]!r}; give the cost of the group"
            raise TableError("unknown_name", message, name=name, nearest=group_of[name], setting="costs")
        if name not in prices:
            known = (*prices, *group_of)
            message = f"costs: there is no feature {name!r}{did_you_mean(name, known)}"
            raise TableError("unknown_name", message, name=name, nearest=nearest(name, known), setting="costs")
        prices[name] = checked_price(name, price)
    return prices


def _members(columns: Columns, name: str, group: Any) -> tuple[int, ...]:
    if isinstance(group, (str, bytes)) or not isinstance(group, Iterable):
        message = f"the group {name!r} must be a list of columns, not {group!r}"
        raise TableError("wrong_type", message, name=name, value=group, setting="groups")
    positions = tuple(_position(columns, column, f"the group {name!r}: ") for column in group)
    if not positions:
        raise TableError("required", f"the group {name!r} is empty", name=name, setting="groups")
    return positions


def _is_position(columns: Columns, column: Any) -> bool:
    return not columns.named and is_whole(column)


def _position(columns: Columns, column: Any, where: str = "") -> int:
    """Where a column is: by name, or in a table without names also by position."""
    if _is_position(columns, column):
        if not 0 <= column < len(columns.names):
            last = len(columns.names) - 1
            message = f"{where}there is no column {column}; the positions are 0 to {last}"
            raise TableError("missing_column", message, column=int(column), high=last)
        return int(column)
    name = str(column)
    if name not in columns.names:
        known = list(columns.names)
        message = f"{where}there is no column {name!r}{did_you_mean(name, known)}; the columns are {listed(known)}"
        fields = {"column": name, "nearest": nearest(name, known), "choices": known, "setting": "groups"}
        raise TableError("missing_column", message, **fields)
    return columns.names.index(name)


# Encoders, whatever they encode

Encoder = TableEncoder | ImageEncoder


def encoder_from_json(data: dict[str, Any]) -> Encoder:
    """The encoder that its `to_json` described."""
    return (ImageEncoder if data.get("kind") == "images" else TableEncoder).from_json(data)


def learn_encoder(
    table: Any,
    rows: np.ndarray,
    *,
    groups: Mapping[str, Sequence[Any]] | None,
    costs: Mapping[str, float] | None,
    grid: Grid | None = None,
    seed: int,
    numbers: np.ndarray | None = None,
) -> Encoder:
    """An encoder learned from the given rows (increasing), or from a random sample of them where they are many.

    With a `grid` the rows are images. `numbers` (n,) say where the table's rows stand in a larger one, for errors to
    name.
    """
    rows = rows[sample_rows(len(rows), SAMPLE, seed)]
    whole = len(rows) == len(table) and not isinstance(table, ParquetTable)
    part = table if whole else take_rows(table, rows)
    named: Any = rows if numbers is None else numbers[rows]
    if grid is not None:
        return ImageEncoder.fit(part, grid, costs, row_numbers=named)
    return TableEncoder.fit(part, groups=groups, costs=costs, row_numbers=named)


def rows_at_once(encoder: Encoder) -> int:
    """How many rows are encoded together."""
    return max(1, min(ROWS_AT_ONCE, VALUES_AT_ONCE // encoder.schema.n_columns))


def encode_rows(encoder: Encoder, table: Any, rows: np.ndarray) -> Cases:
    """The given rows (increasing) as the encoder sees them, encoded some at a time."""
    n, schema = len(rows), encoder.schema
    x, present = np.empty((n, schema.n_columns), np.float32), np.empty((n, len(schema)), np.bool_)
    for run, part in row_chunks(table, rows_at_once(encoder), None if n == len(table) else rows):
        numbers: Any = rows[run]
        cases = encoder.transform(part, numbers)
        x[run], present[run] = cases.x, cases.present
    return Cases(x, present)
