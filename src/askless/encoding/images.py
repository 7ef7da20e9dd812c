"""Images to the arrays that models see: one column for each pixel and channel, patch by patch."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from askless.acquisition.costs import checked_price
from askless.acquisition.schema import Grid, Schema
from askless.acquisition.state import Cases
from askless.exceptions import AsklessWarning, InterviewError, ModelFileError, TableError
from askless.hints import listed

BRIGHTEST = 255  # of images of whole numbers
MOST_PIXELS = 1 << 22  # values of an image: a file may ask for any number
BACKGROUND = 0.2  # share of the values that makes the darkest or the brightest value a background
FAR = 2.0  # times the training range beyond it: such pixels are on another scale,
TINY = 0.01  # and so are those that all lie within such a share of it,
TENFOLD = 10.0  # or that are fractions from 0 to 1, where the training range was so wide
GAP = 0.25  # how far what is just not background is from it


class ImageEncoder:
    """Scales pixels to 0 (darkest) to 1, and puts those of a patch side by side; made by `fit` or `from_json`.

    Tables of images have one row for each image, and its pixels row by row, the channels of a pixel together. All
    pixels are scaled alike. A patch with a missing pixel (NaN) is missing.

    Where many values are the darkest, or the brightest, there are, they are a background: whether a pixel belongs to
    it says more than a shade does, so the shades keep a gap from it.

    >>> encoder = ImageEncoder.fit(np.array([[0, 51, 102, 255]], dtype=np.uint8), Grid(1, 4, 1, 1))
    >>> encoder.transform(np.array([[255, 0, 51, 0]])).x.tolist()[0][:2]
    [1.0, 0.0]
    >>> encoder.schema.features[2].name, encoder.schema.features[2].kind
    ('row 0, column 2', 'patch')
    """

    schema: Schema
    columns: tuple[str, ...]
    named = False
    part_flags: Mapping[str, int] = MappingProxyType({})  # patches are no groups of columns

    def __init__(
        self,
        grid: Grid,
        low: float,
        high: float,
        prices: Sequence[float],
        gaps: tuple[float, float] = (0.0, 0.0),  # between the shades and a dark and a bright background
    ) -> None:
        if not low < high or not np.isfinite([low, high]).all():
            raise ValueError(f"the pixels range from {low!r} to {high!r}")
        dark, bright = map(float, gaps)
        if not (min(dark, bright) >= 0.0 and dark + bright < 1.0):
            raise ValueError(f"the gaps beside the shades are {gaps!r}")
        self.grid, self.low, self.high = grid, float(low), float(high)
        self.gaps = (dark, bright)
        _refuse_large(grid)
        schema = Schema.of_patches(grid, list(prices))
        features = tuple(
            replace(feature, parts=(replace(feature.parts[0], low=self.low, high=self.high),))
            for feature in schema.features
        )
        self.schema = Schema(features, grid)
        self.columns = tuple(f"x{i}" for i in range(grid.n_columns))

    # Learning

    @classmethod
    def fit(
        cls,
        table: Any,
        grid: Grid,
        costs: Mapping[str, float] | None = None,
        *,
        row_numbers: Sequence[int] | None = None,
    ) -> Self:
        """Learn the pixels' background, and their range.

        Fractions go from 0 to 1, bytes from 0 to 255 if something is in the brighter half, else from 0 to the
        brightest that there is; other pixels from the darkest to the brightest. `row_numbers` say where the rows
        stand in a larger table, for errors to name.
        """
        _refuse_large(grid)
        pixels = _numbers(table)
        _refuse_infinite(pixels, row_numbers)
        seen = pixels[~np.isnan(pixels)] if pixels.dtype.kind == "f" else pixels
        if not seen.size:
            raise TableError("bad_column", "every pixel is missing")
        low, high = float(seen.min()), float(seen.max())
        if low >= 0.0 and high <= BRIGHTEST:
            low = 0.0
            if high > BRIGHTEST / 2:
                high = float(BRIGHTEST)
            elif high <= 1.0 and pixels.dtype.kind in "fb":
                high = 1.0
        if low == high:
            high = low + 1.0
        schema, prices = Schema.of_patches(grid), [1.0] * grid.n_patches
        for name, price in (costs or {}).items():
            prices[schema.index(name)] = checked_price(name, price)
        dark, bright = (GAP if np.mean(seen == end) >= BACKGROUND else 0.0 for end in (low, high))
        return cls(grid, low, high, prices, (dark, bright))

    # Encoding

    def transform(self, table: Any, row_numbers: Sequence[int] | None = None) -> Cases:
        """Encode images: `x` (n, columns) float32 and `present` (n, features). What is out of range is cut.

        `row_numbers` say where the rows stand in a larger table, for errors to name.
        """
        pixels = _numbers(table)
        if pixels.ndim != 2 or pixels.shape[1] != self.grid.n_columns:
            message = (
                f"X has {pixels.shape[-1]} features, but {type(self).__name__} is expecting {self.grid.n_columns}: "
                f"the pixels of images of {self.grid.height} x {self.grid.width}"
            )
            raise TableError("wrong_shape", message, value=pixels.shape[-1], expected=self.grid.n_columns)
        _refuse_infinite(pixels, row_numbers)
        x = self._scaled(self.grid.to_columns(pixels))
        if pixels.dtype.kind != "f":
            return Cases(x, np.ones((len(x), len(self.schema)), dtype=bool))
        known = ~np.isnan(x).reshape(len(x), len(self.schema), -1)
        x[np.isnan(x)] = 0.0
        return Cases(x, known.all(axis=2))

    def scale_warning(self, table: Any) -> AsklessWarning | None:
        """A warning if the pixels seem to be on another scale than in training.

        They are far outside the training range, or use very little of it, like fractions after a fit on bytes. A
        single shade says nothing: a blank image is the same on every scale.
        """
        pixels = _numbers(table)
        low, high = _range_of(pixels)
        span = self.high - self.low
        tiny = high - low <= TINY * span
        fractions = pixels.dtype.kind in "fb" and low >= 0.0 and high <= 1.0 and span >= TENFOLD
        if self._is_far(low, high) or (low < high and (tiny or fractions)):
            message = f"the pixels of X {self._ranges(low, high)}"
            return AsklessWarning("other_scale", message, low=low, high=high, expected=(self.low, self.high))
        return None

    def _is_far(self, low: float, high: float) -> bool:
        reach = FAR * (self.high - self.low)
        return high > self.high + reach or low < self.low - reach

    def _ranges(self, low: float, high: float) -> str:
        given = f"range from {low:g} to {high:g}" if low < high else f"are {low:g}"
        return f"{given}, but in training they ranged from {self.low:g} to {self.high:g}; use the same scale"

    def encode_answer(self, feature: int, answer: Any) -> np.ndarray | None:
        """The columns of a patch, from (size, size[, channels]) pixels or a number for all; None for nothing."""
        name, size = self.schema.features[feature].name, self.grid.patch_size
        if isinstance(answer, Mapping):
            if set(answer) != {name}:
                raise _bad_answer(name, f"unknown names {listed(answer)}", choices=list(answer))
            answer = answer[name]
        if answer is None:
            return None
        try:
            values = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError):
            raise _bad_answer(name, "expected an array of numbers") from None
        shape = (size, size, self.grid.channels)
        if values.ndim and values.shape not in (shape, shape[: 2 + (shape[2] > 1)]):
            raise _bad_answer(
                name, f"the shape is {values.shape}; a patch has {shape}", shape=values.shape, expected=shape
            )
        if np.isinf(values).any():
            raise _bad_answer(name, "infinity is not allowed", value=np.inf)
        if np.isnan(values).any():
            return None
        self._warn_of_answer(name, values)
        return self._scaled(np.broadcast_to(values, self.grid.patch_columns) if not values.ndim else values.ravel())

    def _warn_of_answer(self, name: str, values: np.ndarray) -> None:
        """Tell where a patch seems to be on another scale. Any may be dark, but bytes are whole numbers."""
        low, high = _range_of(values)
        bytes_learned = (self.low, self.high) == (0.0, BRIGHTEST)
        fractions = bytes_learned and low >= 0.0 and high <= 1.0 and (values % 1.0 > 0.0).any()
        if fractions or self._is_far(low, high):
            message = f"answer to {name!r}: the pixels {self._ranges(low, high)}"
            warnings.warn(AsklessWarning("other_scale", message, feature=name, low=low, high=high), stacklevel=3)

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        """float32, 0 to 1."""
        if self.low != 0.0:  # shades that differ little, far from zero, are the same in single precision
            values = np.subtract(values, self.low, dtype=np.float64)
        scaled = values.astype(np.float32)
        scaled /= max(np.float32(self.high - self.low), np.finfo(np.float32).tiny)  # the high end becomes 1, exactly
        np.clip(scaled, 0.0, 1.0, out=scaled)
        dark, bright = self.gaps
        if dark or bright:
            shade = (scaled > 0.0) & (scaled < 1.0)
            np.multiply(scaled, np.float32(1.0 - dark - bright), out=scaled, where=shade)
            np.add(scaled, np.float32(dark), out=scaled, where=shade)
        return scaled

    # Files

    def to_json(self) -> dict[str, Any]:
        """All that `from_json` needs, as JSON can hold it."""
        grid = self.grid
        gaps = {"gaps": list(self.gaps)} if any(self.gaps) else {}
        return {
            "kind": "images",
            "grid": [grid.height, grid.width, grid.channels, grid.patch_size],
            "low": self.low,
            "high": self.high,
            "costs": self.schema.prices.tolist(),
        } | gaps

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """The encoder that `to_json` described."""
        try:
            gaps = data.get("gaps", (0.0, 0.0))
            return cls(Grid(*data["grid"]), data["low"], data["high"], data["costs"], gaps)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError("wrong_file", f"the description of the images is damaged: {error!r}") from error

    def __repr__(self) -> str:
        return f"ImageEncoder({self.grid})"


def _refuse_large(grid: Grid) -> None:
    if grid.n_columns > MOST_PIXELS:
        channels = f" of {grid.channels} channels" if grid.channels > 1 else ""
        size = f"{grid.height:,} x {grid.width:,} pixels{channels}"
        message = f"images of {size} are too large; the limit is {MOST_PIXELS:,} values per image"
        raise TableError("too_large", message, value=grid.n_columns, high=MOST_PIXELS)


def _refuse_infinite(pixels: np.ndarray, row_numbers: Sequence[int] | None) -> None:
    if pixels.dtype.kind == "f" and (infinite := np.isinf(pixels).any(axis=1)).any():
        place = int(infinite.argmax())
        row = int(place if row_numbers is None else row_numbers[place])
        raise TableError("bad_cell", f"row {row} (0-based): infinite pixels", row=row, value=np.inf)


def _range_of(pixels: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest of the pixels that are not missing; NaN where all are."""
    return float(np.fmin.reduce(pixels, axis=None)), float(np.fmax.reduce(pixels, axis=None))


def _numbers(table: Any) -> np.ndarray:
    """(n, columns) numbers of any type, from an array or a frame."""
    array = np.asarray(table.to_numpy() if hasattr(table, "to_numpy") else table)
    if len(array) == 0:
        raise TableError(
            "too_few_rows", "the table is empty: 0 images while a minimum of 1 is required", rows=0, needed=1
        )
    if array.dtype.kind in "biuf":
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TableError("bad_column", f"images must hold numbers ({error})") from None


def _bad_answer(name: str, problem: str, **fields: Any) -> InterviewError:
    return InterviewError("bad_answer", f"answer to {name!r}: {problem}", feature=name, **fields)
