"""Writing the report's files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askless.experiments.folder import EXPERIMENT
from askless.experiments.results import read_results
from askless.experiments.task import ExperimentError, Task
from askless.files import write_atomic
from askless.hints import did_you_mean, listed

if TYPE_CHECKING:
    from askless.experiments.report.study import Study

__all__ = ["write_report"]

AGAINST = "greedy"
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
        What the tables hold, by name; else for each data set what the experiment's file says, or AUROC, for some
        accuracy, and for a regression R². A data set of another task than the metric's keeps its own.
    against
        The label of the method whose lead over the others is shown.
    output
        The folder of the report, `folder`/report unless given.
    tell
        Is called with a line for each thing worth knowing.
    """
    source = Path(folder)
    if not source.is_dir():
        raise ExperimentError(f"{source} is not a folder")
    noted = _noted(source)
    results = _of_experiment(read_results(source), noted)
    if not results:
        raise ExperimentError(f"there are no results in {source / 'results'}; `askless experiment run` makes them")
    from askless.experiments.report.content import content_of
    from askless.experiments.report.frames import frames
    from askless.experiments.report.leads import leads_over
    from askless.experiments.report.markdown import as_markdown
    from askless.experiments.report.numbers import count
    from askless.experiments.report.page import as_page
    from askless.experiments.report.study import collect
    from askless.report.figures import png

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
    """The label of the method that the others are compared with; None if it is the usual one and was not run."""
    labels = [row.label for row in study.rows]
    if against in labels:
        return against
    if against == AGAINST:
        tell(f"{AGAINST} was not run, so nothing is compared with it; choose another with --against")
        return None
    hint = did_you_mean(against, labels)
    raise ExperimentError(f"no method of these results is called {against!r}{hint}; there are {listed(labels, 20)}")


def _noted(folder: Path) -> dict[str, Any]:
    """What the folder says of the experiment as it was last run: `tasks` and `prices`, if it does, and `metrics`."""
    noted: Any = None
    with suppress(FileNotFoundError, ValueError, RecursionError):
        noted = json.loads((folder / EXPERIMENT).read_bytes())
    known = noted if isinstance(noted, dict) else {}
    metrics = known.get("metrics")
    return {
        "tasks": known.get("tasks"),
        "metrics": metrics if isinstance(metrics, dict) else {},
        "prices": _prices(known.get("prices")),
    }


def _prices(noted: Any) -> dict[str, set[str]] | None:
    """The keys of tasks by whether their data set is listed with its prices; None where nothing readable says so."""
    if not isinstance(noted, dict) or not all(isinstance(keys, list) for keys in noted.values()):
        return None
    return {str(costs): set(map(str, keys)) for costs, keys in noted.items()}


def _of_experiment(results: list[dict[str, Any]], noted: dict[str, Any]) -> list[dict[str, Any]]:
    """The results that belong to the experiment as it was last run; all of them where the folder does not say."""
    if not isinstance(noted["tasks"], list):
        return results
    return [result for result in results if Task.from_json(result["task"]).key in noted["tasks"]]
