"""The file of an experiment: data sets, methods, seeds and budgets, checked before anything runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, cast

from askless.exceptions import AsklessError, ExperimentError
from askless.experiments.running import configured_method
from askless.experiments.task import Task, default_label
from askless.experiments.toml_file import Section, read_toml
from askless.hints import did_you_mean, listed, nearest

__all__ = ["Experiment", "MethodChoice", "Shares", "TableChoice", "read_experiment"]

TOP = (
    "name",
    "datasets",
    "methods",
    "seeds",
    "max_features",
    "rows",
    "missing",
    "costs",
    "device",
    "metric",
    "options",
    "split",
    "quick",
)
OF_DATASET = ("name", "options", "max_features", "missing", "costs", "rows", "metric", "seeds", "methods", "split")
OF_METHOD = ("name", "label", "options", "costs")
OF_SPLIT = ("test", "validation", "seed")
OF_QUICK = ("seeds", "max_features", "rows", "datasets", "methods", "options")
DRAWN = ("n", "random_state")  # options of a data set that change only its rows

Missing = Literal["skip", "answer"]
Prices = Literal["used", "ignored"]
PRICES = ("used", "ignored")
Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Shares:
    """The shares of rows for testing and validation."""

    test: float = 0.2
    validation: float = 0.2
    seed: int | None = None  # None: each seed of the experiment has its own split


@dataclass(frozen=True)
class TableChoice:
    """A data set with its settings."""

    name: str
    options: dict[str, Any]
    max_features: tuple[int, ...]
    seeds: tuple[int, ...]
    split: Shares
    missing: Missing = "skip"
    costs: Prices = "used"
    rows: int | None = None
    metric: str | None = None
    methods: tuple[str, ...] | None = None  # labels; None for all


@dataclass(frozen=True)
class MethodChoice:
    """A method with its settings and its label in tables."""

    name: str
    label: str
    options: dict[str, Any]
    costs: Prices = "used"


@dataclass(frozen=True)
class Experiment:
    """The content of an experiment's file."""

    name: str
    datasets: tuple[TableChoice, ...]
    methods: tuple[MethodChoice, ...]
    metrics: dict[str, str] = field(default_factory=dict)  # in tables, by data set
    device: str = "cpu"  # where convolutional networks are trained

    def tasks(self) -> list[Task]:
        """Every task once, seed by seed: the tasks of the first seed already make a whole table."""
        seeds = dict.fromkeys(seed for table in self.datasets for seed in table.seeds)
        every = [
            Task(
                dataset=table.name,
                dataset_options=table.options,
                method=method.name,
                method_options=method.options,
                label=method.label,
                seed=seed,
                max_features=budget,
                test_fraction=table.split.test,
                validation_fraction=table.split.validation,
                split_seed=seed if table.split.seed is None else table.split.seed,
                missing=table.missing,
                rows=table.rows,
                costs="ignored" if "ignored" in (table.costs, method.costs) else "used",
                device=self.device,
            )
            for seed in seeds
            for table in self.datasets
            if seed in table.seeds
            for budget in table.max_features
            for method in self.methods
            if table.methods is None or method.label in table.methods
        ]
        return list({task.key: task for task in every}.values())

    def to_json(self) -> dict[str, Any]:
        """The information that a report needs beside the results."""
        keys = [task.key for task in self.tasks()]
        prices = {costs: self._keys_of(costs) for costs in PRICES}
        return {"format": 1, "name": self.name, "metrics": self.metrics, "tasks": keys, "prices": prices}

    def _keys_of(self, costs: str) -> list[str]:
        """The tasks of data sets that are listed with these `costs`.

        The task alone is not enough: its method may ignore prices, and a data set may be listed with both.
        """
        listed_so = tuple(table for table in self.datasets if table.costs == costs)
        return [task.key for task in replace(self, datasets=listed_so).tasks()]


def read_experiment(path: str | os.PathLike[str], quick: bool = False) -> Experiment:
    """The experiment in a TOML file; `quick` applies its table [quick], which makes it smaller."""
    file, data = read_toml(Path(path))
    top = Section(file, "", data)
    top.allow(TOP)
    from askless.methods.settings import DEVICES

    name = top.text("name")
    if name is None or re.fullmatch(r"[\w.-]+", name) is None or not name.strip("."):
        code = "required" if name is None else "invalid_choice"
        top.fail(code, "name", f"must be a short name of letters, digits and hyphens, not {name!r}")
    methods = _methods(top)
    sections = top.sections("datasets", "data set")
    datasets = tuple(_dataset(section, top, methods) for section in sections)
    _check_metrics(sections, datasets)
    device = top.word("device", DEVICES, "cpu")
    assert device is not None
    experiment = Experiment(name, _distinct(datasets), methods, device=device)
    shared, limits = top.section("quick"), {}
    shared.allow(OF_QUICK)
    if quick:
        if not shared.data:
            file.fail("required", "the table [quick] is missing, so --quick has nothing to apply", name="quick")
        experiment = _quick(experiment, shared)
        limits = dict(shared.section("options").data)
    experiment = replace(experiment, methods=_with_options(top, experiment.methods, limits))
    return replace(experiment, metrics={table.name: table.metric for table in experiment.datasets if table.metric})


def _methods(top: Section) -> tuple[MethodChoice, ...]:
    """The methods with their own options; shared options are added later, because labels do not show them."""
    chosen: list[MethodChoice] = []
    for section in top.sections("methods", "method"):
        section.allow(OF_METHOD)
        options = dict(section.section("options").data)
        name = str(section.data["name"])
        _checked(section, name, lambda name=name, options=options: configured_method(name, options))  # type: ignore[misc]
        costs = cast(Prices, section.word("costs", PRICES, "used"))
        label = section.text("label") or default_label(name, options) + ("" if costs == "used" else ", costs ignored")
        chosen.append(MethodChoice(name, label, options, costs))
    methods = _distinct(chosen)
    labels = [method.label for method in methods]
    for method in methods:
        if labels.count(method.label) > 1:
            top.file.fail(
                "duplicate_name",
                f"two methods have the label {method.label!r}; give each its own `label`",
                quoted=method.label,
                name=method.label,
            )
    return methods


def _with_options(top: Section, methods: tuple[MethodChoice, ...], quick: dict[str, Any]) -> tuple[MethodChoice, ...]:
    """Every method with the shared options that it supports; options of [quick] override all others."""
    from askless.methods import find_method

    shared = top.section("options")
    known = {method.label: find_method(method.name).get_params(deep=False) for method in methods}
    for option in (*shared.data, *quick):
        if not any(option in settings for settings in known.values()):
            names = sorted({name for settings in known.values() for name in settings})
            shared.fail(
                "unknown_name",
                option,
                f"is not a setting of any of the methods{did_you_mean(option, names)}",
                nearest=nearest(option, names),
            )

    def merged(method: MethodChoice) -> MethodChoice:
        settings = known[method.label]
        here, last = ({k: v for k, v in given.items() if k in settings} for given in (shared.data, quick))
        return replace(method, options={**here, **method.options, **last})

    chosen = tuple(merged(method) for method in methods)
    for method in chosen:
        _checked(shared, None, lambda method=method: configured_method(method.name, method.options))  # type: ignore[misc]
    return chosen


def _dataset(section: Section, top: Section, methods: tuple[MethodChoice, ...]) -> TableChoice:
    from askless.datasets import describe
    from askless.metrics import metric

    section.allow(OF_DATASET)
    name = str(section.data["name"])
    _refuse_file(section, name)
    info = _checked(section, name, lambda: describe(name))
    given = section.section("options")
    options = dict(given.data)
    for option in options:
        if option not in info.options:
            takes = f"its options are {listed(info.options)}" if info.options else "this data set has no options"
            section.fail(
                "unknown_name",
                "options",
                f"must not hold {option!r}{did_you_mean(option, info.options)}; {takes}",
                name=option,
                nearest=nearest(option, info.options),
                choices=list(info.options),
            )
    n_rows = given.whole("n", info.rows, least=1)
    assert n_rows is not None
    rows = section.whole("rows", top.whole("rows", least=1), least=1)
    if rows is not None and rows > n_rows:
        section.fail(
            "out_of_range",
            "rows",
            f"must be at most {n_rows}, the rows of the table, not {rows}",
            value=rows,
            high=n_rows,
        )
    budgets = section.wholes("max_features", 1) or top.wholes("max_features", 1) or (min(10, info.features),)
    if max(budgets) > info.features and set(options) <= set(DRAWN):
        section.fail(
            "out_of_range",
            "max_features",
            f"must be at most {info.features}, the features of the table, not {max(budgets)}",
            value=max(budgets),
            high=info.features,
        )
    shown = section.text("metric", top.text("metric"))
    if shown is not None:
        found = _checked(section, shown, lambda: metric(shown))
        if found.task != info.task:
            section.fail(
                "conflicting_settings",
                "metric",
                f"must be a metric for {info.task}; {shown!r} is for {found.task}",
                value=shown,
                expected=info.task,
            )
    return TableChoice(
        name,
        options,
        budgets,
        section.wholes("seeds", 0) or _seeds(top),
        _shares(section.section("split"), _shares(top.section("split"), Shares())),
        cast(Missing, section.word("missing", ("skip", "answer"), top.word("missing", ("skip", "answer"), "skip"))),
        cast(Prices, section.word("costs", PRICES, top.word("costs", PRICES, "used"))),
        rows,
        shown,
        _selected(section, "methods", methods),
    )


def _refuse_file(section: Section, name: str) -> None:
    """Refuse the path of a file as the name of a data set."""
    if re.search(r"[./\\]", name):  # no data set has these characters in its name
        section.file.fail(
            "not_supported",
            f"{name!r} looks like a file; experiments use the built-in data sets (`askless datasets list`). "
            "For your own table, run `askless fit` for each --method and `askless evaluate` on each model",
            quoted=name,
            name="datasets",
            value=name,
        )


def _check_metrics(sections: Iterable[Section], tables: Iterable[TableChoice]) -> None:
    """Refuse two metrics for one data set: tables have one metric for each data set name."""
    metrics: dict[str, str | None] = {}
    for section, table in zip(sections, tables, strict=True):
        first = metrics.setdefault(table.name, table.metric)
        if first != table.metric:
            own, other = ("not given" if shown is None else repr(shown) for shown in (table.metric, first))
            section.fail(
                "conflicting_settings",
                "metric",
                f"is {other} where the data set is listed first and {own} here; use one metric for both",
                value=table.metric,
                expected=first,
            )


def _shares(section: Section, default: Shares) -> Shares:
    section.allow(OF_SPLIT)
    shares = Shares(
        section.share("test", default.test),
        section.share("validation", default.validation),
        section.whole("seed", default.seed),
    )
    if shares.test + shares.validation >= 1.0:
        section.fail(
            "conflicting_settings",
            "test",
            f"and validation must add up to less than 1; they are {shares.test} and {shares.validation}",
        )
    return shares


def _seeds(top: Section) -> tuple[int, ...]:
    seeds = top.wholes("seeds", 0)
    if seeds is None:
        top.file.fail("required", "seeds is missing; add a list such as seeds = [0, 1, 2, 3, 4]", name="seeds")
    return seeds


def _selected(section: Section, key: str, methods: Iterable[MethodChoice]) -> tuple[str, ...] | None:
    """The labels of a list of methods, which may hold labels or names."""
    wanted = section.words(key)
    if wanted is None:
        return None
    labels = [method.label for method in methods]
    names = [method.name for method in methods]
    for word in wanted:
        if word not in labels and word not in names:
            _fail_unknown(section, key, word, [*labels, *names])
    return tuple(m.label for m in methods if m.label in wanted or m.name in wanted)


def _fail_unknown(section: Section, key: str, word: str, known: list[str]) -> NoReturn:
    message = f"must hold {key} of the experiment, not {word!r}{did_you_mean(word, known)}"
    section.fail("unknown_name", key, message, name=word, nearest=nearest(word, known))


def _quick(experiment: Experiment, quick: Section) -> Experiment:
    """The same experiment with fewer methods, data sets, seeds, rows and features."""
    chosen, wanted = _selected(quick, "methods", experiment.methods), quick.words("datasets")
    names = [table.name for table in experiment.datasets]
    for word in wanted or ():
        if word not in names:
            _fail_unknown(quick, "datasets", word, names)
    most_rows, most_features = quick.whole("rows", least=1), quick.whole("max_features", least=1)
    seeds = quick.wholes("seeds", 0)
    return replace(
        experiment,
        name=f"{experiment.name}-quick",
        methods=tuple(m for m in experiment.methods if chosen is None or m.label in chosen),
        datasets=tuple(
            replace(
                table,
                rows=_fewer_rows(table, most_rows),
                max_features=tuple(dict.fromkeys(min(k, most_features or k) for k in table.max_features)),
                seeds=seeds or table.seeds,
            )
            for table in experiment.datasets
            if wanted is None or table.name in wanted
        ),
    )


def _fewer_rows(table: TableChoice, most: int | None) -> int | None:
    """`most` rows, or all rows if the data set has no more."""
    from askless.datasets import describe

    there = table.rows or int(table.options.get("n") or describe(table.name).rows)
    return table.rows if most is None or there <= most else most


def _checked(section: Section, value: str | None, check: Callable[[], Choice]) -> Choice:
    """The result of `check`; the file, and the line of the value, are added to its errors."""
    try:
        return check()
    except ExperimentError as error:  # about an option, not about the value
        section.file.fail(error.code, error.message, **error.fields)
    except AsklessError as error:
        section.file.fail(error.code, error.message, quoted=value, **error.fields)


def _distinct(items: Iterable[Choice]) -> tuple[Choice, ...]:
    """The items without duplicates, in order."""
    kept: list[Choice] = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return tuple(kept)
