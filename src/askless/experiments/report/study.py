"""The results of many runs, sorted: data sets, the methods run on each, and the runs of each method."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from askless.experiments.report.kinds import CONTROLS, default_metric, kind_of, rank_of
from askless.experiments.report.numbers import Scale, scale_of
from askless.experiments.report.published import Published, published_for
from askless.experiments.report.statistics import Estimate, best, t_interval
from askless.experiments.results import unpack_loss, unpack_order
from askless.experiments.task import ExperimentError, Task
from askless.hints import listed
from askless.metrics import Metric
from askless.metrics import metric as find_metric

__all__ = ["Entry", "Row", "Run", "Study", "Subject", "collect"]

Result = dict[str, Any]
CUTS = ("rows", "max_features", "missing", "test_fraction", "validation_fraction")  # of a task: which data it sees
PRICES = ("used", "ignored")


@dataclass(frozen=True, eq=False)
class Run:
    """One result."""

    result: Result

    @property
    def key(self) -> tuple[int, int]:
        """What two methods must share to be compared: the seed, and the seed of the split."""
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
                f"the result of {task['label']} on {task['dataset']} has no {name!r}; it has {listed(known)}"
            )
        return np.asarray(source[name], dtype=np.float64)

    @cached_property
    def order(self) -> np.ndarray:
        """(n, k) what was asked of each test case, -1 where nothing more was."""
        return unpack_order(self.result)

    @cached_property
    def loss(self) -> np.ndarray | None:
        """(n, k + 1) the loss of each test case after each budget; None in a copy without them."""
        return unpack_loss(self.result)


@dataclass(frozen=True)
class Row:
    """A method with its options, as a line of the tables."""

    label: str
    method: str
    kind: str

    @property
    def everything(self) -> bool:
        """Whether it asks for everything, so that only its last score means something."""
        return self.method == "all_features"


@dataclass(frozen=True, eq=False)
class Entry:
    """One method on one data set."""

    row: Row
    runs: tuple[Run, ...]
    limit: int  # the largest budget that counts

    @cached_property
    def budgets(self) -> np.ndarray:
        """The budgets that count: 1..k, or the last one of a method that asks for everything."""
        if self.row.everything:  # where values are missing, the longest path depends on the test rows
            return np.array([max(run.budgets[-1] for run in self.runs)])
        every = self.runs[0].budgets
        return every[(every >= 1) & (every <= self.limit)]

    def curves(self, name: str) -> np.ndarray:
        """(runs, budgets) a score at the budgets that count."""
        if self.row.everything:
            return np.array([run.curve(name)[-1:] for run in self.runs])
        return np.array([run.curve(name)[np.isin(run.budgets, self.budgets)] for run in self.runs])

    def scores(self, name: str) -> dict[tuple[int, int], float]:
        """By run, the mean over the budgets; no two runs may have the same seeds."""
        means: dict[tuple[int, int], float] = {}
        for run, line in zip(self.runs, self.curves(name), strict=True):
            if run.key in means:
                what = f"{self.row.label} on {run.result['task']['dataset']}"
                raise ExperimentError(f"there are two results of {what} with the seed and split {run.key}")
            means[run.key] = float(line.mean())
        return means

    def estimate(self, name: str) -> Estimate:
        """The mean over budgets and runs."""
        return t_interval(list(self.scores(name).values()))

    def measured(self, name: str) -> list[float]:
        """A time or a size, by run; not of runs that went on from a checkpoint, if there are others."""
        whole = [run for run in self.runs if not run.result["measured"].get("resumed")]
        return [float(run.result["measured"][name]) for run in whole or self.runs]


@dataclass(frozen=True, eq=False)
class Subject:
    """One data set, cut in one way, and all that was run on it."""

    name: str
    dataset: str
    limit: int
    data: Mapping[str, Any]  # as a result describes it
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
        """How its scores are written."""
        return scale_of(self.metric.__name__, [estimate.mean for estimate in self.scores.values()])

    @cached_property
    def best(self) -> frozenset[str]:
        """The labels of the best methods, controls aside."""
        means = {
            label: estimate.mean * self.scale.factor
            for label, estimate in self.scores.items()
            if self.entries[label].row.kind != CONTROLS
        }
        return best(means, self.scale.decimals, greater_is_better=self.metric.greater_is_better)

    @cached_property
    def published(self) -> Published | None:
        """What others report on it."""
        return published_for(self.dataset, self.cut["dataset_options"], self.metric.__name__, self.limit)

    @property
    def metric_label(self) -> str:
        """The metric as a column head."""
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
    rows: tuple[Row, ...]  # dynamic, static, controls

    def of_kind(self, kind: str) -> list[Row]:
        """The rows of a kind."""
        return [row for row in self.rows if row.kind == kind]


def collect(
    results: Iterable[Result],
    metric: str | Mapping[str, str] | None = None,
    prices: Mapping[str, Collection[str]] | None = None,
) -> Study:
    """Sort results into a study; `metric` replaces the usual one of the data sets whose task it is for.

    A mapping has metrics for some of the data sets, by name. `prices` has the keys of the tasks on data sets that the
    experiment lists with their prices "used", and of those "ignored".
    """
    every = sorted(results, key=lambda result: _text(result["task"]))
    if not every:
        raise ExperimentError("there are no results to report")
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
        raise ExperimentError(f"the metric {metric.__name__!r} is for {metric.task}; no data set of these results is")


def _by_costs(group: Sequence[Result], prices: Mapping[str, Collection[str]] | None) -> dict[str, list[Result]]:
    """The results on a data set, by whether it is listed with its prices "used" or "ignored".

    A method that ignores prices by itself stands beside the others; where a data set is listed in both ways, it is in
    both parts.
    """
    parts: dict[str, list[Result]] = {}
    for result in group:
        for costs in _listed_with(result["task"], prices):
            parts.setdefault(costs, []).append(result)
    return parts


def _listed_with(task: Mapping[str, Any], prices: Mapping[str, Collection[str]] | None) -> list[str]:
    """How the data set of a task is listed; where nothing says so, as the task itself was run."""
    key = Task.from_json(task).key
    listed_so = [costs for costs in PRICES if prices is not None and key in prices.get(costs, ())]
    return listed_so or [str(task.get("costs", "used"))]  # a task says it only where they are ignored


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
    """By method and options: its row. Where one label names several, the options tell them apart."""
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
    """A name for each data set: its own, its options, and what else is needed to tell two apart."""
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
    """An option in a few characters: of a long list its length."""
    return f"{len(value)} {name}" if isinstance(value, list) and len(value) > 3 else f"{name}={value}"


def _cut(task: Mapping[str, Any]) -> dict[str, Any]:
    """What of a task says which data it sees, beside the seeds; whose prices count is for `_by_costs`."""
    return {name: task[name] for name in ("dataset", "dataset_options", *CUTS)}


def _how(task: Mapping[str, Any]) -> str:
    """What of a task says how it asks."""
    return _text([task["label"], task["method"], task["method_options"]])


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)
