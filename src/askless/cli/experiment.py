"""`askless experiment`: run what a TOML file says, report it, keep it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from askless.cli.console import count, make_console, quoted, say
from askless.cli.parser import Commands, UsageError, positive, text_help

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
Run every task (data set, method, seed) of an experiment's TOML file that has no result yet.

Stop it whenever you like, with Ctrl-C or kill: the same command goes on where it was, in the middle of a fit, and the
results are the same. A task that fails does not stop the others; the exit code is then 1."""
REPORT = """\
Make tables and figures of the results in a folder: Markdown, CSV, PNG and one HTML page."""
KEEP = """\
Copy the results in a folder to another one, without the loss of each single test case, which takes most of the room.
The copy is made to be kept, beside a paper or in a repository: it makes the same report (but for the lines on single
test cases where there is one seed only), and `run --output` takes what it holds as done."""


def add(commands: Commands) -> None:
    """Describe the command."""
    words = "compare methods on data sets: run a TOML file, report the results"
    parser = commands.add_parser("experiment", help=words, **text_help(f"{words.capitalize()}.", EPILOG))
    parser.set_defaults(run=lambda args: parser.error("say `run FILE.toml`, `report DIR` or `keep DIR COPY`"))
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    runner = actions.add_parser("run", help="run an experiment's file", **text_help(RUN, EPILOG))
    runner.add_argument(
        "file", metavar="FILE.toml", help="data sets, methods, seeds and budgets: docs/experiments.md"
    )
    runner.add_argument("--workers", type=positive, metavar="N", help="tasks at once (default: one for each core)")
    runner.add_argument(
        "--output", metavar="DIR", help="the folder of results (default: runs/ and the name in the file)"
    )
    runner.add_argument("--quick", action="store_true", help="the smaller variant that the file describes in [quick]")
    runner.add_argument("--dask", metavar="ADDRESS", help="run on a Dask cluster, such as tcp://host:8786")
    runner.set_defaults(run=run_file)
    reporter = actions.add_parser("report", help="report the results in a folder", **text_help(REPORT, EPILOG))
    reporter.add_argument("folder", metavar="DIR", help="as `askless experiment run` has written it")
    reporter.add_argument(
        "--metric", metavar="NAME", help="what the tables show (default: what the file says of each data set)"
    )
    reporter.add_argument("--against", metavar="LABEL", help="the method that the others are compared with")
    reporter.add_argument("--output", metavar="DIR", help="where the report goes")
    reporter.set_defaults(run=run_report)
    keeper = actions.add_parser("keep", help="make a small copy of results", **text_help(KEEP, EPILOG))
    keeper.add_argument("folder", metavar="DIR", help="as `askless experiment run` has written it")
    keeper.add_argument("copy", metavar="COPY", help="the folder of the copy; what it holds already is renewed")
    keeper.set_defaults(run=run_keep)


def run_file(args: argparse.Namespace) -> int:
    """Run what is not done yet."""
    from askless.experiments.config import read_experiment
    from askless.experiments.folder import Folder

    experiment = read_experiment(args.file, args.quick)
    tasks = experiment.tasks()
    path = Path(args.output or Path("runs") / experiment.name)
    if path.exists() and not path.is_dir():
        raise UsageError(f"--output: {path} is not a folder")
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
        say(console, f"{count(len(failures), 'task')} failed; {where} says more, and the same command tries again")
        return FAILED
    say(console, f"next: askless experiment report {quoted(path)}", style="dim")
    return 0


def _here(console: Console, tasks: list[Task], folder: Folder, workers: int | None) -> Mapping[str, str]:
    from askless.experiments.live import watcher_for
    from askless.experiments.runner import check_tables, run_tasks

    check_tables([task for task in tasks if folder.done(task) is None])
    return run_tasks(tasks, folder, watcher_for(console), workers).failures


def _on_dask(console: Console, tasks: list[Task], folder: Folder, address: str) -> Mapping[str, str]:
    """Run on a cluster, whose machines have the data sets."""
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
    """Copy results, smaller."""
    from askless.experiments.keeping import keep

    console = make_console()
    kept = keep(_with_results(args.folder), Path(args.copy))
    say(console, f"{count(kept.results, 'result')} in {quoted(Path(args.copy))}, {kept.megabytes:.1f} MB")
    return 0


def _with_results(name: str) -> Path:
    folder = Path(name)
    if not (folder / "results").is_dir():
        raise UsageError(f"{folder} holds no results; `askless experiment run FILE.toml` makes some")
    return folder
