"""What a data set is, and the two ways to come by one: a recorded table, or a generator of known truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from askless.core import Task
from askless.core.costs import Panels
from askless.core.numbers import is_whole
from askless.datasets.download import DownloadFailed
from askless.datasets.home import DatasetNotFound, data_home
from askless.exceptions import ParameterError

if TYPE_CHECKING:
    import pandas as pd

    Table: TypeAlias = tuple[pd.DataFrame, pd.Series]

__all__ = ["Dataset", "Entry", "Generated", "Info", "Recorded"]

Seed: TypeAlias = int | np.random.Generator | None


@dataclass(frozen=True, kw_only=True)
class Info:
    """What is known of a data set before it is loaded.

    `features` counts what can be asked (a group is one), `columns` counts the table's. For a generator, `rows`
    is how many it draws unless told otherwise. `costs` are the prices of a question on its own. Where some are
    done together (one sample of blood), `panels` names them, and `discounted_costs` is what a question costs once
    another one of its panel was asked; `Dataset.cost_model` puts them together.
    """

    name: str
    description: str
    task: Task
    rows: int
    columns: int
    source: str
    licence: str
    classes: tuple[object, ...] = ()  # sorted; none for a regression
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by feature: its columns
    costs: Mapping[str, float] = field(default_factory=dict)  # by feature; empty where every question costs the same
    panels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by panel: its features
    discounted_costs: Mapping[str, float] = field(default_factory=dict)  # by feature; empty without panels
    image_shape: tuple[int, ...] | None = None  # (height, width[, channels]) where the columns are pixels, row by row
    patch_size: int = 1  # of images: the side, in pixels, of the squares that are asked for
    options: tuple[str, ...] = ()  # what `load_dataset` takes beside the name
    files: tuple[str, ...] = ()  # below the data home, any one will do; none where nothing has to be fetched
    downloadable: bool = False  # whether `load_dataset` can fetch it

    @property
    def features(self) -> int:
        """How many features can be asked for."""
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
    """A table of cases and what is to be predicted of each."""

    frame: pd.DataFrame  # the features only
    target: pd.Series
    info: Info
    relevant: np.ndarray | None = None  # (n, features) bool: what each label depends on, where that is known

    @property
    def name(self) -> str:
        """The name it was loaded by."""
        return self.info.name

    @property
    def description(self) -> str:
        """What the table is about, with the units of its numbers."""
        return self.info.description

    @property
    def task(self) -> str:
        """Either "classification" or "regression"."""
        return self.info.task

    @property
    def groups(self) -> dict[str, list[str]]:
        """The features that are several columns, as the estimators take them; a copy."""
        return {name: list(columns) for name, columns in self.info.groups.items()}

    @property
    def costs(self) -> dict[str, float]:
        """The price of each feature, as the estimators take it; empty where all cost the same; a copy."""
        return dict(self.info.costs)

    @property
    def panels(self) -> dict[str, dict[str, float]]:
        """By panel, what each of its features costs once another one of them was asked; empty without panels."""
        info = self.info
        return {panel: {name: info.discounted_costs[name] for name in names} for panel, names in info.panels.items()}

    @property
    def cost_model(self) -> dict[str, float] | Panels | None:
        """The prices as the estimators take them, panels and all; None where every question costs the same."""
        return Panels(self.info.costs, self.panels) if self.panels else self.costs or None

    @property
    def images(self) -> np.ndarray:
        """(n, height, width[, channels]) the frame as the images that it holds, which estimators take as well."""
        if self.info.image_shape is None:
            raise ParameterError(f"the data set {self.name!r} holds no images; use its frame")
        return self.frame.to_numpy().reshape(-1, *self.info.image_shape)

    @property
    def source(self) -> str:
        """Where the data comes from."""
        return self.info.source

    @property
    def licence(self) -> str:
        """Under which terms it can be used."""
        return self.info.licence

    def __repr__(self) -> str:
        rows = len(self.frame)
        return f"<Dataset {self.name}: {rows} rows, {self.info.features} features, {self.task}>"


@dataclass(frozen=True)
class Recorded:
    """A data set of fixed rows. `read` gives a `Dataset` of its own where an option changes what is known of it."""

    info: Info
    read: Callable[..., Table | Dataset]
    fetch: Callable[[], None] | None = None  # brings the files into the data home

    def load(self, *, download: bool = True, **options: Any) -> Dataset:
        """The whole table, downloaded first if it is not there."""
        try:
            return self._loaded(options)
        except DatasetNotFound as absent:
            if not download or self.fetch is None:
                raise
            try:
                self.fetch()
            except DownloadFailed as failed:
                raise DatasetNotFound(f"{absent}. Downloading it failed: {failed}") from failed
        return self._loaded(options)

    def _loaded(self, options: Mapping[str, Any]) -> Dataset:
        loaded = self.read(**options)
        return loaded if isinstance(loaded, Dataset) else Dataset(*loaded, self.info)


@dataclass(frozen=True)
class Generated:
    """A data set that is drawn: as many rows as wanted, the same for the same seed."""

    info: Info
    draw: Callable[[int, np.random.Generator], Table]
    relevant: Callable[[pd.DataFrame], np.ndarray] | None = None  # what the label of each row depends on

    def load(self, n: int | None = None, random_state: Seed = 0) -> Dataset:
        """`n` fresh rows, `info.rows` unless told."""
        rows = self.info.rows if n is None else n
        if not is_whole(rows) or rows < 1:
            raise ParameterError(f"the number of rows is {n!r}; it must be an integer of at least 1")
        frame, target = self.draw(int(rows), np.random.default_rng(random_state))
        relevant = None if self.relevant is None else self.relevant(frame)
        return Dataset(frame, target, replace(self.info, rows=int(rows)), relevant)


Entry: TypeAlias = Recorded | Generated
