"""`askless experiment`: run the tasks of a TOML file, report the results, and copy them."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from askless.cli.console import count, make_console, quoted, say
from askless.cli.parser import DEVICES, Commands, UsageError, positive, text_help

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from askless.experiments import Task
    from askless.experiments.folder import Folder

__all__ = ["add", "run_file", "run_keep", "run_report"]

FAILED = 1  # the exit code where a task has failed
EPILOG = """\
examples:
  askless experiment run experiments/paper-tabular.toml --quick
  askless experiment run mine.toml --workers 4 --output runs/mine
  askless experiment report runs/mine
  askless experiment keep runs/mine results/mine"""
RUN = """\
Run every task (data set, method, seed) of a TOML file that has no result yet.

An interrupted run continues when you run the same command again, even in the middle of a fit; the results are the
same. A failed task does not stop the others. The exit code is then 1."""
REPORT = """\
Write tables and figures of the results in a folder: Markdown, CSV, PNG and one HTML page."""
KEEP = """\
Copy results to another folder without the losses of single test cases, which take most of the space.

Keep the copy beside a paper or in a repository. Its report is the same, except for lines on single test cases where
there is only one seed. `run --output` treats its tasks as done."""


def add(commands: Commands) -> None:
    """Describe the command."""
    about = "Compare methods on data sets: run the tasks of a TOML file and report the results."
    parser = commands.add_parser("experiment", help="compare methods on data sets", **text_help(about, EPILOG))
    choices = "run FILE.toml, report DIR, keep DIR COPY"
    parser.set_defaults(run=lambda args: parser.error(f"choose a subcommand: {choices}"))
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    runner = actions.add_parser("run", help="run the tasks of a TOML file", **text_help(RUN, EPILOG))
    runner.add_argument(
        "file", metavar="FILE.toml", help="data sets, methods, seeds and budgets (see docs/experiments.md)"
    )
    runner.add_argument(
        "--workers", type=positive, metavar="N", help="number of tasks at a time (default: one for each core)"
    )
    runner.add_argument(
        "--output", metavar="DIR", help="folder of the results (default: runs/ and the name in the file)"
    )
    runner.add_argument(
        "--device", choices=DEVICES, help="where convolutional networks are trained (default: the file's, or cpu)"
    )
    runner.add_argument("--quick", action="store_true", help="run the smaller variant of the file's table [quick]")
    runner.add_argument(
        "--dask", metavar="ADDRESS", help="run on a Dask cluster, such as tcp://host:8786 (default: on this machine)"
    )
    runner.set_defaults(run=run_file)
    reporter = actions.add_parser("report", help="write tables and figures of results", **text_help(REPORT, EPILOG))
    reporter.add_argument("folder", metavar="DIR", help="a folder of `askless experiment run`")
    reporter.add_argument(
        "--metric",
        metavar="NAME",
        help="the metric of the tables (default: the metrics of the TOML file)",
    )
    reporter.add_argument(
        "--against", metavar="LABEL", help="the method to compare the others with (default: chosen by the report)"
    )
    reporter.add_argument("--output", metavar="DIR", help="folder of the report (default: report/ in DIR)")
    reporter.set_defaults(run=run_report)
    keeper = actions.add_parser("keep", help="copy results in a small form", **text_help(KEEP, EPILOG))
    keeper.add_argument("folder", metavar="DIR", help="a folder of `askless experiment run`")
    keeper.add_argument("copy", metavar="COPY", help="folder of the copy; existing results in it are replaced")
    keeper.set_defaults(run=run_keep)


def run_file(args: argparse.Namespace) -> int:
    """Run all tasks that have no result."""
    from askless.experiments.config import read_experiment
    from askless.experiments.folder import Folder

    experiment = read_experiment(args.file, args.quick)
    if args.device is not None:
        experiment = replace(experiment, device=args.device)
    tasks = experiment.tasks()
    path = Path(args.output or Path("runs") / experiment.name)
    if path.exists() and not path.is_dir():
        raise UsageError("wrong_file", f"--output: {path} is not a folder", option="--output", path=str(path))
    folder = Folder(path)
    folder.describe(experiment)
    console = make_console()
    say(console, f"{args.file}: {count(len(tasks), 'task')}; results in {path}")
    failures = (
        _on_dask(console, tasks, folder, args.dask) if args.dask else _here(console, tasks, folder, args.workers)
    )
    for task in tasks:
        if task.key in failures:
            say(console, f"failed: {task}: {failures[task.key]}")
    if failures:
        where = quoted(path / "failures")
        say(console, f"{count(len(failures), 'task')} failed; see {where}; the same command tries again")
        return FAILED
    say(console, f"next: askless experiment report {quoted(path)}", style="dim")
    return 0


def _here(console: Console, tasks: list[Task], folder: Folder, workers: int | None) -> Mapping[str, str]:
    from askless.experiments.live import watcher_for
    from askless.experiments.runner import check_tables, run_tasks

    check_tables([task for task in tasks if folder.done(task) is None])
    return run_tasks(tasks, folder, watcher_for(console), workers).failures


def _on_dask(console: Console, tasks: list[Task], folder: Folder, address: str) -> Mapping[str, str]:
    """Run on a cluster. Its machines must have the data sets."""
    from askless.experiments.clusters import run_on_dask
    from askless.experiments.live import watcher_for

    return run_on_dask(tasks, folder, watcher_for(console), address).failures


def run_report(args: argparse.Namespace) -> int:
    """Write tables and figures."""
    from askless.experiments.report import write_report

    folder = _with_results(args.folder)
    console = make_console()
    given = {"metric": args.metric, "against": args.against, "output": args.output}
    options = {name: value for name, value in given.items() if value is not None}
    write_report(folder, **options, tell=lambda text: say(console, text))
    return 0


def run_keep(args: argparse.Namespace) -> int:
    """Copy results in a small form."""
    from askless.experiments.keeping import keep

    console = make_console()
    kept = keep(_with_results(args.folder), Path(args.copy))
    say(console, f"{count(kept.results, 'result')} in {quoted(Path(args.copy))}, {kept.megabytes:.1f} MB")
    return 0


def _with_results(name: str) -> Path:
    folder = Path(name)
    if not (folder / "results").is_dir():
        message = f"{folder} contains no results; `askless experiment run FILE.toml` writes them"
        raise UsageError("file_not_found", message, path=str(folder))
    return folder
