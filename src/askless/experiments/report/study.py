"""The results of many runs, grouped by data set, method and run."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from askless.exceptions import ExperimentError
from askless.experiments.report.kinds import CONTROL, default_metric, kind_of, rank_of
from askless.experiments.report.numbers import Scale, scale_of
from askless.experiments.report.published import Published, published_for
from askless.experiments.report.statistics import Estimate, best, t_interval
from askless.experiments.results import unpack_loss, unpack_order
from askless.experiments.task import Task
from askless.hints import listed
from askless.metrics import Metric
from askless.metrics import metric as find_metric

__all__ = ["Entry", "Row", "Run", "Study", "Subject", "collect"]

Result = dict[str, Any]
CUTS = (
    "rows",
    "max_features",
    "missing",
    "test_fraction",
    "validation_fraction",
)  # fields of a task that determine its data
PRICES = ("used", "ignored")


@dataclass(frozen=True, eq=False)
class Run:
    """One result."""

    result: Result

    @property
    def key(self) -> tuple[int, int]:
        """The seed and the seed of the split: two methods are compared on runs with equal keys."""
        return int(self.result["task"]["seed"]), int(self.result["task"]["split_seed"])

    @cached_property
    def budgets(self) -> np.ndarray:
        """(k + 1,) how many features were asked."""
        return np.asarray(self.result["curves"]["budget"], dtype=np.int64)

    def curve(self, name: str) -> np.ndarray:
        """(k + 1,) a score after each budget."""
        source = self.result.get("calibration", {}) if name == "ece" else self.result["curves"]
        if name not in source:
            task = self.result["task"]
            known = [known for known in self.result["curves"] if known not in ("budget", "cost")]
            raise ExperimentError(
                "unknown_name",
                f"the result of {task['label']} on {task['dataset']} has no score {name!r}; it has {listed(known)}",
                name=name,
                choices=known,
            )
        return np.asarray(source[name], dtype=np.float64)

    @cached_property
    def order(self) -> np.ndarray:
        """(n, k) features asked of each test case, -1 after the last."""
        return unpack_order(self.result)

    @cached_property
    def loss(self) -> np.ndarray | None:
        """(n, k + 1) the loss of each test case after each budget; None in a copy without losses."""
        return unpack_loss(self.result)


@dataclass(frozen=True)
class Row:
    """A method with its options, as a line of the tables."""

    label: str
    method: str
    kind: str

    @property
    def everything(self) -> bool:
        """Whether the method asks for all features, so that only its last score counts."""
        return self.method == "all_features"


@dataclass(frozen=True, eq=False)
class Entry:
    """One method on one data set."""

    row: Row
    runs: tuple[Run, ...]
    limit: int  # the largest budget that counts

    @cached_property
    def budgets(self) -> np.ndarray:
        """The budgets that count: 1..k, or the last one of a method that asks for all features."""
        if self.row.everything:  # with missing values, the longest path depends on the test rows
            return np.array([max(run.budgets[-1] for run in self.runs)])
        every = self.runs[0].budgets
        return every[(every >= 1) & (every <= self.limit)]

    def curves(self, name: str) -> np.ndarray:
        """(runs, budgets) a score at the budgets that count."""
        if self.row.everything:
            return np.array([run.curve(name)[-1:] for run in self.runs])
        return np.array([run.curve(name)[np.isin(run.budgets, self.budgets)] for run in self.runs])

    def scores(self, name: str) -> dict[tuple[int, int], float]:
        """The mean over the budgets, by run; raises if two runs have the same seeds."""
        means: dict[tuple[int, int], float] = {}
        for run, line in zip(self.runs, self.curves(name), strict=True):
            if run.key in means:
                what = f"{self.row.label} on {run.result['task']['dataset']}"
                raise ExperimentError(
                    "duplicate_name",
                    f"there are two results of {what} with seed {run.key[0]} and split seed {run.key[1]}",
                    name=self.row.label,
                    value=run.key,
                )
            means[run.key] = float(line.mean())
        return means

    def estimate(self, name: str) -> Estimate:
        """The mean over budgets and runs."""
        return t_interval(list(self.scores(name).values()))

    def measured(self, name: str) -> list[float]:
        """A time or a size, by run; without runs that continued from a checkpoint if there are others."""
        whole = [run for run in self.runs if not run.result["measured"].get("resumed")]
        return [float(run.result["measured"][name]) for run in whole or self.runs]


@dataclass(frozen=True, eq=False)
class Subject:
    """One data set with one set of rows and budgets, and all methods that were run on it."""

    name: str
    dataset: str
    limit: int
    data: Mapping[str, Any]  # of the first result
    cut: Mapping[str, Any]
    entries: Mapping[str, Entry]  # by label
    metric: Metric

    @property
    def classifies(self) -> bool:
        """Whether classes are predicted."""
        return bool(self.data["task"] == "classification")

    @cached_property
    def scores(self) -> dict[str, Estimate]:
        """By label: the mean over budgets and runs."""
        return {label: entry.estimate(self.metric.__name__) for label, entry in self.entries.items()}

    @cached_property
    def scale(self) -> Scale:
        """The number format of its scores."""
        return scale_of(self.metric.__name__, [estimate.mean for estimate in self.scores.values()])

    @cached_property
    def best(self) -> frozenset[str]:
        """The labels of the best methods, controls aside."""
        means = {
            label: estimate.mean * self.scale.factor
            for label, estimate in self.scores.items()
            if self.entries[label].row.kind != CONTROL
        }
        return best(means, self.scale.decimals, greater_is_better=self.metric.greater_is_better)

    @cached_property
    def published(self) -> Published | None:
        """Published results on it."""
        return published_for(self.dataset, self.cut["dataset_options"], self.metric.__name__, self.limit)

    @property
    def metric_label(self) -> str:
        """The metric as a column heading."""
        return self.metric.label + (" ×100" if self.scale.factor == 100.0 else "")

    @property
    def runs(self) -> int:
        """How many runs most methods have."""
        counts = [len(entry.runs) for entry in self.entries.values()]
        return max(sorted(set(counts), reverse=True), key=counts.count)

    @property
    def splits(self) -> int:
        """How many different splits there are."""
        return len({run.key[1] for entry in self.entries.values() for run in entry.runs})


@dataclass(frozen=True, eq=False)
class Study:
    """Everything that is reported."""

    subjects: tuple[Subject, ...]
    rows: tuple[Row, ...]  # by kind: dynamic, static, unknown, controls

    def of_kind(self, kind: str) -> list[Row]:
        """The rows of a kind."""
        return [row for row in self.rows if row.kind == kind]


def collect(
    results: Iterable[Result],
    metric: str | Mapping[str, str] | None = None,
    prices: Mapping[str, Collection[str]] | None = None,
) -> Study:
    """Group results into a study.

    `metric` replaces the default metric of the data sets whose task it fits; a mapping names metrics by data set.
    `prices` holds the keys of the tasks on data sets that the experiment lists with prices "used" and "ignored".
    """
    every = sorted(results, key=lambda result: _text(result["task"]))
    if not every:
        raise ExperimentError("required", "there are no results to report", name="results")
    if isinstance(metric, str):
        _check_task(find_metric(metric), every)
    rows = _rows([result["task"] for result in every])
    groups: dict[str, list[Result]] = {}
    for result in every:
        groups.setdefault(_text(_cut(result["task"])), []).append(result)
    by_costs = [(costs, part) for group in groups.values() for costs, part in _by_costs(group, prices).items()]
    parts = [part for _, part in by_costs]
    cuts = [{**_cut(part[0]["task"]), "costs": costs} for costs, part in by_costs]
    subjects = [
        _subject(name, part, cut, rows, metric) for name, part, cut in zip(_names(cuts), parts, cuts, strict=True)
    ]
    ranked = sorted(set(rows.values()), key=lambda row: (rank_of(row.method), row.label != row.method, row.label))
    return Study(tuple(sorted(subjects, key=lambda subject: subject.name)), tuple(ranked))


def _check_task(metric: Metric, results: Sequence[Result]) -> None:
    if all(result["data"]["task"] != metric.task for result in results):
        raise ExperimentError(
            "conflicting_settings",
            f"the metric {metric.__name__!r} is for {metric.task}, but no data set of these results is",
            name="metric",
            value=metric.__name__,
        )


def _by_costs(group: Sequence[Result], prices: Mapping[str, Collection[str]] | None) -> dict[str, list[Result]]:
    """The results on a data set, by whether the experiment lists it with prices "used" or "ignored".

    Methods that always ignore prices are in the same parts as the others. A data set that is listed in both ways has
    two parts.
    """
    parts: dict[str, list[Result]] = {}
    for result in group:
        for costs in _listed_with(result["task"], prices):
            parts.setdefault(costs, []).append(result)
    return parts


def _listed_with(task: Mapping[str, Any], prices: Mapping[str, Collection[str]] | None) -> list[str]:
    """How the data set of a task is listed; if this is not known, how the task itself was run."""
    key = Task.from_json(task).key
    listed_so = [costs for costs in PRICES if prices is not None and key in prices.get(costs, ())]
    return listed_so or [str(task.get("costs", "used"))]  # a task without the key used them


def _subject(
    name: str,
    group: Sequence[Result],
    cut: Mapping[str, Any],
    rows: Mapping[str, Row],
    metric: str | Mapping[str, str] | None,
) -> Subject:
    task, data = group[0]["task"], group[0]["data"]
    named = metric.get(task["dataset"]) if isinstance(metric, Mapping) else metric
    chosen = None if named is None else find_metric(named)
    if chosen is None or chosen.task != data["task"]:
        chosen = find_metric(default_metric(task["dataset"], data["task"]))
    by_row: dict[Row, list[Run]] = {}
    for result in group:
        by_row.setdefault(rows[_how(result["task"])], []).append(Run(result))
    limit = int(task["max_features"])
    entries = {
        row.label: Entry(row, tuple(sorted(runs, key=lambda run: run.key)), limit) for row, runs in by_row.items()
    }
    return Subject(
        name=name,
        dataset=task["dataset"],
        limit=limit,
        data=data,
        cut=cut,
        entries=entries,
        metric=chosen,
    )


def _rows(tasks: Sequence[Mapping[str, Any]]) -> dict[str, Row]:
    """The rows by method and options. If several have the same label, their options are added to it."""
    labels: dict[str, set[str]] = {}
    for task in tasks:
        labels.setdefault(task["label"], set()).add(_how(task))
    rows = {}
    for task in tasks:
        options = ", ".join(f"{name}={value}" for name, value in sorted(task["method_options"].items()))
        alone = len(labels[task["label"]]) == 1
        label = task["label"] if alone else f"{task['label']}: {task['method']}({options})"
        rows[_how(task)] = Row(label, task["method"], kind_of(task["method"]))
    return rows


def _names(cuts: Sequence[Mapping[str, Any]]) -> list[str]:
    """A unique name for each data set: its name, its options, and its other settings where they differ."""
    bases = []
    for cut in cuts:
        options = ", ".join(_option(name, value) for name, value in sorted(cut["dataset_options"].items()))
        bases.append(f"{cut['dataset']} ({options})" if options else str(cut["dataset"]))
    names: list[str] = []
    for base, cut in zip(bases, cuts, strict=True):
        alike = [other for other, name in zip(cuts, bases, strict=True) if name == base]
        differing = [key for key in (*CUTS, "costs") if len({other[key] for other in alike}) > 1]
        more = ", ".join(f"{key}={'all' if cut[key] is None else cut[key]}" for key in differing)
        names.append(f"{base} [{more}]" if more else base)
    before = [names[:place].count(name) for place, name in enumerate(names)]
    return [f"{name} #{alike + 1}" if alike else name for name, alike in zip(names, before, strict=True)]


def _option(name: str, value: object) -> str:
    """An option in a few characters; a long list becomes its length."""
    return f"{len(value)} {name}" if isinstance(value, list) and len(value) > 3 else f"{name}={value}"


def _cut(task: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a task that determine its data, except seeds and costs."""
    return {name: task[name] for name in ("dataset", "dataset_options", *CUTS)}


def _how(task: Mapping[str, Any]) -> str:
    """The label, the method and its options, as a key."""
    return _text([task["label"], task["method"], task["method_options"]])


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)
