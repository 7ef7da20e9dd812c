"""Data sets: recorded tables, generators whose true distribution is known, and images as frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from askless.acquisition import Task
from askless.acquisition.costs import Panels
from askless.acquisition.numbers import is_whole
from askless.datasets.files import DatasetNotFound, DownloadFailed, data_home
from askless.exceptions import ParameterError, bad_value

if TYPE_CHECKING:
    import pandas as pd

Table: TypeAlias = "tuple[pd.DataFrame, pd.Series]"
Seed: TypeAlias = int | np.random.Generator | None


@dataclass(frozen=True, kw_only=True)
class Info:
    """Metadata of a data set, available without loading it.

    `features` counts what can be asked (a group is one feature), `columns` counts the columns of the table. For a
    generator, `rows` is the default number of rows. `costs` are the costs of single features. Features of one panel
    are measured together, such as in one sample of blood: once one of them was asked, each other one costs its
    `discounted_costs`. `Dataset.cost_model` combines costs and panels.
    """

    name: str
    description: str
    task: Task = "classification"
    rows: int
    columns: int
    source: str
    licence: str
    classes: tuple[object, ...] = ()  # sorted; empty for a regression
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the columns of each group
    costs: Mapping[str, float] = field(default_factory=dict)  # by feature; empty if all features cost the same
    panels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the features of each panel
    discounted_costs: Mapping[str, float] = field(default_factory=dict)  # by feature; empty without panels
    image_shape: tuple[int, ...] | None = None  # (height, width[, channels]) if the columns are pixels, row by row
    patch_size: int = 1  # of images: the side of the squares that are features, in pixels
    options: tuple[str, ...] = ()  # keyword arguments of `load_dataset`
    files: tuple[str, ...] = ()  # below the data home; one of them is enough; empty if no download is needed
    downloadable: bool = False  # whether `load_dataset` can download it

    @property
    def features(self) -> int:
        """The number of features; a group counts as one."""
        return self.columns - sum(len(columns) - 1 for columns in self.groups.values())

    @property
    def without_download(self) -> bool:
        """Whether the data set comes with askless and the packages it needs."""
        return not self.files

    @property
    def available(self) -> bool:
        """Whether the data set can be loaded on this machine now."""
        return self.without_download or any((data_home() / file).is_file() for file in self.files)


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table of cases and its target."""

    frame: pd.DataFrame  # the features only
    target: pd.Series
    info: Info
    relevant: np.ndarray | None = None  # (n, features) bool: which features each label depends on, if known

    @property
    def name(self) -> str:
        """The name for `load_dataset`."""
        return self.info.name

    @property
    def description(self) -> str:
        """A description, with the units of the numbers."""
        return self.info.description

    @property
    def task(self) -> str:
        """Either "classification" or "regression"."""
        return self.info.task

    @property
    def groups(self) -> dict[str, list[str]]:
        """The columns of each group, as the estimators take them; a copy."""
        return {name: list(columns) for name, columns in self.info.groups.items()}

    @property
    def costs(self) -> dict[str, float]:
        """The cost of each feature, as the estimators take it; empty if all cost the same; a copy."""
        return dict(self.info.costs)

    @property
    def panels(self) -> dict[str, dict[str, float]]:
        """The discounted costs of each panel's features, used once another feature of the panel was asked."""
        info = self.info
        return {panel: {name: info.discounted_costs[name] for name in names} for panel, names in info.panels.items()}

    @property
    def cost_model(self) -> dict[str, float] | Panels | None:
        """The costs with panels, as the estimators take them; None if all features cost the same."""
        return Panels(self.info.costs, self.panels) if self.panels else self.costs or None

    @property
    def images(self) -> np.ndarray:
        """(n, height, width[, channels]) the frame as images, which estimators take as well."""
        if self.info.image_shape is None:
            message = f"the data set {self.name!r} has no images; use its frame"
            raise ParameterError("not_supported", message, name="images", value=self.name)
        return self.frame.to_numpy().reshape(-1, *self.info.image_shape)

    @property
    def source(self) -> str:
        """The source of the data."""
        return self.info.source

    @property
    def licence(self) -> str:
        """The licence of the data."""
        return self.info.licence

    def __repr__(self) -> str:
        rows = len(self.frame)
        return f"<Dataset {self.name}: {rows} rows, {self.info.features} features, {self.task}>"


@dataclass(frozen=True)
class Recorded:
    """A data set of fixed rows. `read` returns a `Dataset` if an option changes the metadata."""

    info: Info
    read: Callable[..., Table | Dataset]
    fetch: Callable[[], None] | None = None  # downloads the files into the data home

    def load(self, *, download: bool = True, **options: Any) -> Dataset:
        """Load the whole table. Download it first if necessary."""
        try:
            return self._loaded(options)
        except DatasetNotFound as absent:
            if not download or self.fetch is None:
                raise
            try:
                self.fetch()
            except DownloadFailed as failed:
                message = f"{absent}. The download failed: {failed}"
                raise DatasetNotFound(
                    "download_failed", message, **absent.fields, url=failed.fields["url"]
                ) from failed
        return self._loaded(options)

    def _loaded(self, options: Mapping[str, Any]) -> Dataset:
        loaded = self.read(**options)
        return loaded if isinstance(loaded, Dataset) else Dataset(*loaded, self.info)


@dataclass(frozen=True)
class Generated:
    """A data set that is generated: any number of rows, the same for the same seed."""

    info: Info
    draw: Callable[[int, np.random.Generator], Table]
    relevant: Callable[[pd.DataFrame], np.ndarray] | None = None  # the features that the label of each row depends on

    def load(self, n: int | None = None, random_state: Seed = 0) -> Dataset:
        """Draw `n` rows; `info.rows` by default."""
        rows = self.info.rows if n is None else n
        if not is_whole(rows) or rows < 1:
            raise bad_value("out_of_range", "n", n, "an integer of at least 1", low=1)
        frame, target = self.draw(int(rows), np.random.default_rng(random_state))
        relevant = None if self.relevant is None else self.relevant(frame)
        return Dataset(frame, target, replace(self.info, rows=int(rows)), relevant)


Entry: TypeAlias = Recorded | Generated


def make_table(values: np.ndarray, columns: Sequence[str], target: Sequence[Any] | np.ndarray, name: str) -> Table:
    """A frame of (n, columns) values, and the target with its name."""
    import pandas as pd

    return pd.DataFrame(values, columns=list(columns)), pd.Series(target, name=name)


def pixel_names(shape: tuple[int, ...], channels: Sequence[str] = ()) -> list[str]:
    """The column names of images (height, width[, channels]): row by row, the channels of a pixel together.

    >>> pixel_names((1, 2)), pixel_names((1, 1, 2), ("red", "blue"))
    (['row 1, column 1', 'row 1, column 2'], ['row 1, column 1, red', 'row 1, column 1, blue'])
    """
    ends = [f", {channel}" for channel in channels] or [""]
    return [f"row {r + 1}, column {c + 1}{end}" for r, c, end in product(range(shape[0]), range(shape[1]), ends)]


def pixel_groups(shape: tuple[int, ...], side: int, channels: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """The columns of each square with a side of this many pixels; empty if each would be one column."""
    height, width = shape[:2]
    if not is_whole(side) or side < 1 or height % side or width % side:
        expected = f"an integer that divides {height} x {width} pixels"
        raise bad_value("out_of_range", "patch_size", side, expected, shape=(height, width))
    if side == 1 and not channels:
        return {}
    names = np.array(pixel_names(shape, channels)).reshape(height, width, -1)
    return {
        _square(top, left, side): tuple(names[top : top + side, left : left + side].ravel().tolist())
        for top, left in product(range(0, height, side), range(0, width, side))
    }


def _square(top: int, left: int, side: int) -> str:
    if side == 1:
        return f"row {top + 1}, column {left + 1}"
    return f"rows {top + 1}-{top + side}, columns {left + 1}-{left + side}"
