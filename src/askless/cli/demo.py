"""`askless demo`: train, compare, interview and report on a built-in data set."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askless.cli.console import count, make_console, make_table, quoted, say
from askless.cli.parser import Commands, natural, positive, text_help

if TYPE_CHECKING:
    from rich.console import Console

    from askless.datasets import Dataset
    from askless.report import Comparison

__all__ = ["add", "run"]

ROWS = 6000  # of a generated data set
DESCRIPTION = """\
See in about a minute what dynamic feature selection does.

The demo trains the greedy method on a built-in data set and compares it with a fixed and a random order of questions
on test rows. It then shows the interview of one case and writes a report. An interrupted demo continues when you run
the same command again. The demo overwrites its own files in the output folder."""
EPILOG = """\
examples:
  askless demo
  askless demo --dataset breast_cancer --budget 5 --output cancer-report

files in the output folder:  index.html (the report), curve.png, demo.askless (the model)"""


def add(commands: Commands) -> None:
    """Describe the command."""
    words = "see what askless does, on a built-in data set"
    parser = commands.add_parser("demo", help=words, **text_help(DESCRIPTION, EPILOG))
    add = parser.add_argument
    add("--dataset", default="triage", metavar="NAME", help="a name from `askless datasets list` (default: triage)")
    add("--output", default="demo-report", metavar="FOLDER", help="folder of the report (default: demo-report)")
    add("--budget", type=positive, default=8, metavar="K", help="ask at most K features of a case (default: 8)")
    add(
        "--rows",
        type=positive,
        metavar="N",
        help=f"number of rows (default: {ROWS} of a generated data set, all rows of others)",
    )
    add("--seed", type=natural, default=0, help="seed of all random numbers (default: 0)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Run the demo."""
    start = time.perf_counter()
    data = _load(args.dataset, args.rows, args.seed)
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    from askless.cli.compare import compare, split
    from askless.cli.walk import choose_case, walk
    from askless.report.html import first_sentence

    rows, budget = split(data, args.seed), min(args.budget, data.info.features)
    console = make_console()
    say(console, f"{data.name}: {first_sentence(data.description)}")
    words = f"{count(len(rows.train), 'training row')}, {count(len(rows.test), 'test row')}, seed {args.seed}; "
    say(console, words + f"each case is asked at most {budget} of {data.info.features} features\n")
    try:
        comparison, estimator = compare(
            rows, budget, args.seed, folder, on_progress=lambda name: say(console, f"training: {name}", "dim")
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("run the same command again to continue") from None
    _print_scores(console, comparison)
    X, y = rows.part(rows.test)
    case = choose_case(comparison.contenders[0].trajectory, X, y, estimator.schema_, data.task)
    walk(console, estimator.interview, case, X.iloc[case.row], estimator.schema_)
    _write(folder, comparison, case, estimator, args)
    say(console, f"\ndone in {time.perf_counter() - start:.0f} s: the report is {folder / 'index.html'}", "bold")
    say(console, f"next: askless ask {quoted(folder / 'demo.askless')}", "dim")


def _load(name: str, rows: int | None, seed: int) -> Dataset:
    """The data set, with at most `rows` rows."""
    from dataclasses import replace

    from askless.datasets import describe, load_dataset

    if "n" in describe(name).options:
        return load_dataset(name, n=rows or ROWS, random_state=seed)
    data = load_dataset(name)
    if rows is None or rows >= len(data.frame):
        return data
    frame = data.frame.sample(rows, random_state=seed).reset_index(drop=True)
    target = data.target.sample(rows, random_state=seed).reset_index(drop=True)
    return replace(data, frame=frame, target=target)


def _print_scores(console: Console, comparison: Comparison) -> None:
    from askless.cli.scores import shown_budgets
    from askless.report.sections import sentence

    names = [contender.name for contender in comparison.contenders]
    table = make_table("features asked", *names, numbers=range(1 + len(names)))
    last = len(comparison.contenders[0].curve) - 1
    for i in shown_budgets(last):
        lines = [contender.curve.iloc[i] for contender in comparison.contenders]
        cells = [f"{line['score']:.3f} ({line['low']:.3f} to {line['high']:.3f})" for line in lines]
        table.add_row(str(i), *cells)
    say(console, f"\n{comparison.metric.label} on test rows, with 95 % intervals:")
    console.print(table)
    say(console, f"{sentence(comparison)}.", "bold")


def _write(folder: Path, comparison: Comparison, case: Any, estimator: Any, args: argparse.Namespace) -> None:
    """The report, the picture and the model."""
    from askless.files import write_atomic
    from askless.report import render_report
    from askless.report.figures import curve_figure, png

    command = f"askless demo --dataset {args.dataset} --budget {args.budget} --seed {args.seed}"
    facts = {"command": command + (f" --rows {args.rows}" if args.rows else ""), "made with": _versions()}
    write_atomic(folder / "index.html", render_report(comparison, case, facts).encode())
    write_atomic(folder / "curve.png", png(curve_figure(comparison)))
    estimator.save(folder / "demo.askless")


def _versions() -> str:
    import platform

    import numpy
    import sklearn
    import torch

    from askless import __version__

    return (
        f"askless {__version__}, Python {platform.python_version()}, torch {torch.__version__}, "
        f"numpy {numpy.__version__}, scikit-learn {sklearn.__version__}, {platform.system()} {platform.machine()}"
    )
