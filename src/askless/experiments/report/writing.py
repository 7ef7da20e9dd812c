"""Writing the report's files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askless.exceptions import ExperimentError
from askless.experiments.folder import EXPERIMENT
from askless.experiments.results import read_results
from askless.experiments.task import Task, canonical_json
from askless.files import write_atomic
from askless.hints import did_you_mean, listed, nearest

if TYPE_CHECKING:
    from askless.experiments.report.study import Study

__all__ = ["write_report"]

AGAINST = "greedy"
FORMAT = 1  # of experiment.json
DPI = 130  # of the PNG files


def write_report(
    folder: str | os.PathLike[str],
    *,
    metric: str | None = None,
    against: str = AGAINST,
    output: str | os.PathLike[str] | None = None,
    tell: Callable[[str], object] = print,
) -> Path:
    """Report the results in `folder`; returns the HTML page, with all other files beside it.

    Parameters
    ----------
    metric
        The metric of the tables, by name. The default is the metric in the experiment's file, else AUROC (accuracy
        for some data sets) or R² for regression. Data sets that the metric does not fit keep their default.
    against
        The label of the method that the others are compared with.
    output
        The folder of the report. The default is `folder`/report.
    tell
        A function that is called with each line of output.
    """
    source = Path(folder)
    if not source.is_dir():
        raise ExperimentError("file_not_found", f"there is no folder {source}", path=str(source))
    noted, results = _read_experiment(source), read_results(source)
    if noted is None:
        _check_one_experiment(results, source)
    else:
        results = _of_experiment(results, noted)
    if not results:
        raise ExperimentError(
            "file_not_found",
            f"there are no results in {source / 'results'}; `askless experiment run` creates them",
            path=str(source / "results"),
        )
    from askless.experiments.report.content import content_of
    from askless.experiments.report.frames import frames
    from askless.experiments.report.leads import leads_over
    from askless.experiments.report.markdown import as_markdown
    from askless.experiments.report.numbers import count
    from askless.experiments.report.page import as_page
    from askless.experiments.report.study import collect
    from askless.report.figures import png

    noted = noted or {"metrics": {}, "prices": None}
    study = collect(results, noted["metrics"] if metric is None else metric, noted["prices"])
    chosen = _chosen(study, against, tell)
    tables = frames(study, chosen, {} if chosen is None else leads_over(study, chosen))
    content = content_of(study, chosen, tuple(tables))
    target = source / "report" if output is None else Path(output)
    target.mkdir(parents=True, exist_ok=True)
    for name, frame in tables.items():
        write_atomic(target / name, frame.to_csv(index=False, lineterminator="\n").encode())
    for chapter in content.chapters:
        tell(f"drawing {chapter.title}")
        for shown in chapter.figures:
            write_atomic(target / shown.file, png(shown.whole, dpi=DPI))
    write_atomic(target / "report.md", as_markdown(content).encode())
    page = target / "index.html"
    write_atomic(page, as_page(content).encode())
    tell(f"{content.headline}; {count(len(results), 'result')}")
    tell(f"the report is {page}")
    return page


def _chosen(study: Study, against: str, tell: Callable[[str], object]) -> str | None:
    """The label of the method to compare with; None if it is the default one and was not run."""
    labels = [row.label for row in study.rows]
    if against in labels:
        return against
    if against == AGAINST:
        tell(f"{AGAINST} was not run, so there is no comparison; choose another method with --against")
        return None
    hint = did_you_mean(against, labels)
    raise ExperimentError(
        "unknown_name",
        f"no method of these results has the label {against!r}{hint}; the labels are {listed(labels, 20)}",
        name=against,
        nearest=nearest(against, labels),
        choices=labels,
    )


def _read_experiment(folder: Path) -> dict[str, Any] | None:
    """The content of `experiment.json`, checked; None if there is no such file."""
    path = folder / EXPERIMENT
    try:
        noted = json.loads(path.read_bytes())
        newer = noted.get("format", FORMAT) > FORMAT
        if not newer:
            noted = {"metrics": {}, "prices": None, **noted}
            _check(noted)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ExperimentError(
            "damaged_file",
            f"{path} is damaged ({error}), so older results cannot be excluded; {_how_to_restore(folder)}",
            path=str(path),
        ) from error
    if newer:
        raise ExperimentError(
            "newer_format",
            f"{path} was written by a newer version of askless; upgrade askless to read it",
            path=str(path),
        )
    return dict(noted)


def _check(noted: dict[str, Any]) -> None:
    """Raise an error if a part has the wrong type."""
    if not _is_list_of_keys(noted.get("tasks")):
        raise ValueError("'tasks' is not a list of keys")
    if not isinstance(noted["metrics"], dict):
        raise ValueError("'metrics' is not an object")
    prices = noted["prices"]  # files of earlier versions have none
    if prices is not None and not (isinstance(prices, dict) and all(map(_is_list_of_keys, prices.values()))):
        raise ValueError("'prices' is not an object with lists of keys")


def _is_list_of_keys(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(key, str) for key in value)


def _of_experiment(results: list[dict[str, Any]], noted: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of the tasks of the last run."""
    return [result for result in results if Task.from_json(result["task"]).key in noted["tasks"]]


def _check_one_experiment(results: list[dict[str, Any]], folder: Path) -> None:
    """Raise an error if the results cannot come from one list of tasks.

    In such a list a label means one method with one set of options, and a task has one split.
    """
    methods: dict[str, set[bytes]] = {}  # by label
    splits: dict[bytes, set[int]] = {}  # by all else that a task is
    for result in results:
        task = dict(result["task"])
        methods.setdefault(task["label"], set()).add(canonical_json([task["method"], task["method_options"]]))
        split = task.pop("split_seed")
        splits.setdefault(canonical_json(task), set()).add(split)
    if max(map(len, methods.values()), default=0) > 1 or max(map(len, splits.values()), default=0) > 1:
        path = folder / EXPERIMENT
        raise ExperimentError(
            "file_not_found",
            f"{path} is missing, and the results come from different lists of tasks; {_how_to_restore(folder)}",
            path=str(path),
        )


def _how_to_restore(folder: Path) -> str:
    return f"`askless experiment run FILE.toml --output {folder}` writes it again without repeating finished tasks"
