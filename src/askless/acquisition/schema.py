"""Features, how each maps to encoded columns, and which wait for others: the only place that knows groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from askless.exceptions import ParameterError, bad_value
from askless.hints import did_you_mean, listed, nearest

KINDS = ("number", "category", "boolean", "patch")


@dataclass(frozen=True)
class Grid:
    """How an image is cut into square patches, each a feature.

    Encoded columns go patch by patch, row by row of patches; within a patch pixel by pixel, row by row; within a
    pixel channel by channel. The methods take numpy arrays and torch tensors.

    >>> import numpy as np
    >>> grid = Grid(height=2, width=4, channels=1, patch_size=2)
    >>> grid.names
    ('row 0, column 0', 'row 0, column 1')
    >>> grid.to_pixels(np.arange(8.0)[None])[0, :, :, 0].tolist()
    [[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]]
    """

    height: int  # of the image, in pixels
    width: int
    channels: int
    patch_size: int  # the side of a patch, in pixels

    def __post_init__(self) -> None:
        sizes = (self.height, self.width, self.channels, self.patch_size)
        if not all(type(size) is int and size > 0 for size in sizes):
            message = f"height, width, channels and patch_size must be positive integers, not {sizes!r}"
            raise ParameterError(
                "out_of_range", message, name="height, width, channels, patch_size", value=sizes, low=1
            )
        if self.height % self.patch_size or self.width % self.patch_size:
            size, shape = self.patch_size, (self.height, self.width)
            message = f"patch_size is {size}; it must divide the images' {self.height} x {self.width} pixels"
            raise ParameterError("wrong_shape", message, name="patch_size", value=size, shape=shape)

    @property
    def rows(self) -> int:
        """Of patches."""
        return self.height // self.patch_size

    @property
    def columns(self) -> int:
        """Of patches."""
        return self.width // self.patch_size

    @property
    def n_patches(self) -> int:
        """How many patches there are."""
        return self.rows * self.columns

    @property
    def patch_columns(self) -> int:
        """How many encoded columns a patch has."""
        return self.patch_size**2 * self.channels

    @property
    def n_columns(self) -> int:
        """How many encoded columns there are."""
        return self.n_patches * self.patch_columns

    @property
    def names(self) -> tuple[str, ...]:
        """The patches by their places, counted from 0, row by row."""
        return tuple(f"row {r}, column {c}" for r in range(self.rows) for c in range(self.columns))

    def to_pixels(self, x: Any) -> Any:
        """(n, height, width, channels) images from encoded columns (n, columns)."""
        p = self.patch_size
        cut = x.reshape(len(x), self.rows, self.columns, p, p, self.channels)
        return cut.swapaxes(2, 3).reshape(len(x), self.height, self.width, self.channels)

    def to_columns(self, pixels: Any) -> Any:
        """(n, columns) encoded columns from images (n, height, width[, channels])."""
        p = self.patch_size
        cut = pixels.reshape(len(pixels), self.rows, p, self.columns, p, self.channels)
        return cut.swapaxes(2, 3).reshape(len(pixels), self.n_columns)

    def upsample(self, mask: Any) -> Any:
        """(n, height, width) the number of each pixel's patch, from one for each patch (n, features)."""
        row, column = np.ogrid[: self.height, : self.width]
        return mask[:, row // self.patch_size * self.columns + column // self.patch_size]


@dataclass(frozen=True)
class Part:
    """One column of the user's table: what a single value of an answer is."""

    name: str
    kind: str  # one of KINDS
    choices: tuple[Any, ...] | None = None  # of a category, as the user wrote them
    low: float | None = None  # the range of a number in the training rows
    high: float | None = None


@dataclass(frozen=True)
class Feature:
    """What can be asked for: one name, one price, one or more parts, and a run of encoded columns."""

    name: str
    parts: tuple[Part, ...]
    start: int  # the encoded columns are start, start + 1, ..., stop - 1
    stop: int
    cost: float = 1.0

    @property
    def is_group(self) -> bool:
        """Whether the feature is several columns of the user's table that are asked together."""
        return len(self.parts) > 1

    @property
    def kind(self) -> str:
        """The kind of the only part, or "group"."""
        return "group" if self.is_group else self.parts[0].kind

    @property
    def choices(self) -> tuple[Any, ...] | None:
        """What can be answered, for a category."""
        return None if self.is_group else self.parts[0].choices


@dataclass(frozen=True, kw_only=True)
class Question:
    """What to ask: a feature and its price."""

    name: str
    kind: str  # "number", "category", "boolean", "patch" or "group"
    choices: tuple[Any, ...] | None  # of a category
    cost: float
    parts: tuple[Part, ...]  # the columns that make up a group; one otherwise


@dataclass(frozen=True)
class Schema:
    """The ordered features of a model; their encoded columns follow one another without gaps."""

    features: tuple[Feature, ...]
    grid: Grid | None = None  # of an image, whose patches are the features; None for a table

    def __post_init__(self) -> None:
        if not self.features:
            raise ValueError("a schema needs at least one feature")
        if len(set(self.names)) < len(self.features) or not all(isinstance(name, str) for name in self.names):
            raise ValueError(f"the features' names must be text and distinct: {list(self.names)}")
        position = 0
        for feature in self.features:
            if feature.start != position or feature.stop <= feature.start:
                raise ValueError(f"the columns of {feature.name!r} do not follow those of the feature before")
            position = feature.stop
            for part in feature.parts:
                if part.kind not in KINDS:
                    raise ValueError(f"the kind of {part.name!r} is {part.kind!r}, not one of {', '.join(KINDS)}")
                if not all(limit is None or isinstance(limit, (int, float)) for limit in (part.low, part.high)):
                    raise ValueError(f"the range of {part.name!r} is {part.low!r} to {part.high!r}")
        widths = {feature.stop - feature.start for feature in self.features}
        if self.grid is not None and (len(self), widths) != (self.grid.n_patches, {self.grid.patch_columns}):
            shape, expected = (len(self.features), position), (self.grid.n_patches, self.grid.n_columns)
            message = f"{shape[0]} features of {position} columns are not the patches of {self.grid}"
            raise ParameterError("wrong_shape", message, name="grid", shape=shape, expected=expected)

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> Schema:
        """A schema of plain numbers, one encoded column each."""
        return cls(tuple(Feature(n, (Part(n, "number"),), i, i + 1) for i, n in enumerate(names)))

    @classmethod
    def of_patches(cls, grid: Grid, costs: Sequence[float] | None = None) -> Schema:
        """A schema of an image's patches; each costs 1 where no prices are given."""
        width, prices = grid.patch_columns, costs or [1.0] * grid.n_patches
        each = enumerate(zip(grid.names, prices, strict=True))
        features = (Feature(n, (Part(n, "patch"),), i * width, (i + 1) * width, price) for i, (n, price) in each)
        return cls(tuple(features), grid)

    def __len__(self) -> int:
        return len(self.features)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        return tuple(feature.name for feature in self.features)

    @property
    def all_names(self) -> frozenset[str]:
        """The names of features and of their parts."""
        parts = (part.name for feature in self.features for part in feature.parts)
        return frozenset((*self.names, *parts))

    @property
    def n_columns(self) -> int:
        """How many encoded columns there are."""
        return self.features[-1].stop

    @cached_property
    def column_feature(self) -> np.ndarray:
        """(columns,) the feature that each encoded column belongs to."""
        return np.repeat(np.arange(len(self.features)), self.widths)

    @cached_property
    def starts(self) -> np.ndarray:
        """(features,) the first encoded column of each."""
        return np.array([feature.start for feature in self.features])

    @cached_property
    def widths(self) -> np.ndarray:
        """(features,) how many encoded columns each has."""
        return np.array([feature.stop - feature.start for feature in self.features])

    @cached_property
    def prices(self) -> np.ndarray:
        """(features,) the price of each."""
        return np.array([feature.cost for feature in self.features], dtype=np.float64)

    def question(self, index: int, price: float) -> Question:
        """What to ask for a feature."""
        feature = self.features[index]
        return Question(
            name=feature.name, kind=feature.kind, choices=feature.choices, cost=price, parts=feature.parts
        )

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def columns_of(self, name: str) -> tuple[str, ...]:
        """The names of the columns that a feature is made of."""
        return tuple(part.name for part in self.features[self.index(name)].parts)

    def index(self, name: str) -> int:
        """The position of the feature called `name`; the error names its group, or the nearest match."""
        try:
            return self._index[str(name)]
        except KeyError:
            group = self._group_of.get(str(name))
            near = group or nearest(name, (*self.names, *self._group_of))
            message = f"there is no feature {name!r}{self.hint(name)}"
            raise ParameterError("unknown_name", message, name=name, nearest=near, group=group) from None

    def hint(self, name: object) -> str:
        """What to say of a name that no feature has: the group that it is a part of, or the name that is meant.

        Where none is near, the names that there are.
        """
        if str(name) in self._group_of:
            return f": it is a part of the group {self._group_of[str(name)]!r}"
        return did_you_mean(name, (*self.names, *self._group_of)) or f"; the features are {listed(self.names)}"

    @property
    def _group_of(self) -> dict[str, str]:
        """By column, the group that it is a part of."""
        return {part.name: feature.name for feature in self.features if feature.is_group for part in feature.parts}


@dataclass(frozen=True, eq=False)
class Precedence:
    """`needs[b, a]`: b is asked only once a was asked, whatever the answer, or is known.

    >>> rule = Precedence.of({"result": ["consent"]}, Schema.of_numbers(["result", "consent"]))
    >>> rule.blocked(np.array([[False, False], [False, True]])).tolist()
    [[True, False], [False, False]]
    """

    needs: np.ndarray  # (features, features) bool

    @classmethod
    def of(cls, precedence: Mapping[str, Sequence[str]] | None, schema: Schema) -> Precedence | None:
        """From names; None where nothing comes before anything. Unknown names and circles are errors."""
        needs = np.zeros((len(schema), len(schema)), dtype=bool)
        for later, firsts in checked_precedence(precedence).items():
            for first in firsts:
                needs[schema.index(later), schema.index(first)] = True
        if not needs.any():
            return None
        _refuse_circles(needs, schema.names)
        return cls(needs)

    def blocked(self, asked: np.ndarray) -> np.ndarray:
        """(n, features) bool: what has to wait, given what was asked (n, features)."""
        blocked: np.ndarray = ~asked @ self.needs.T  # boolean products: some needed feature was not asked
        return blocked


def checked_precedence(precedence: Any) -> dict[str, list[str]]:
    """`{"later": ["first", ...]}`, if it has that form; whether the features exist is for a schema to say."""
    if precedence is None:
        return {}
    if not isinstance(precedence, Mapping):
        raise bad_value("wrong_type", "precedence", precedence, "a mapping such as {'later': ['first']}")
    for later, firsts in precedence.items():
        if isinstance(firsts, (str, bytes)) or not isinstance(firsts, Sequence):
            message = f"precedence of {later!r} must be a list of features, not {firsts!r}"
            raise ParameterError("wrong_type", message, name="precedence", feature=later, value=firsts)
    return {str(later): [str(first) for first in firsts] for later, firsts in precedence.items()}


def _refuse_circles(needs: np.ndarray, names: tuple[str, ...]) -> None:
    """Take away what waits for nothing that is left, until nothing is; what cannot be taken away is in a circle."""
    left = np.ones(len(needs), dtype=bool)
    while True:
        free = left & ~(needs & left).any(axis=1)
        if not free.any():
            break
        left &= ~free
    if left.any():
        path = [int(np.argmax(left))]
        while path.count(path[-1]) < 2:
            path.append(int(np.argmax(needs[path[-1]] & left)))
        circle = [names[i] for i in path[path.index(path[-1]) :]]
        message = "precedence goes in a circle: " + " after ".join(map(repr, circle))
        raise ParameterError("conflicting_settings", message, name="precedence", features=circle)
