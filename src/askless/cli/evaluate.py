"""`askless evaluate`: score a model on labelled cases after each number of questions."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from askless.cli.console import count, make_console, say
from askless.cli.errors import note
from askless.cli.output import check_writable
from askless.cli.parser import Commands, UsageError, positive, text_help
from askless.cli.rules import STOP_HELP, add_rows, rows_asking

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pandas as pd

    from askless.acquisition import Trajectory
    from askless.cli.scores import Scores
    from askless.model import FittedModel

__all__ = ["add", "run"]

DESCRIPTION = """\
Score a model on labelled cases after each number of questions, with 95 % intervals from a bootstrap over the cases.
Use cases that the model was not trained on."""
EPILOG = (
    """\
examples:
  askless evaluate m.askless test.csv --plot curve.png
  askless evaluate m.askless test.csv --max-cost 20 --stop confidence=0.95

metrics:
  classification    auroc (default), accuracy, brier, log_loss
  regression        r2 (default), mae, rmse

"""
    + STOP_HELP
)


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser("evaluate", help="score a model on a table", **text_help(DESCRIPTION, EPILOG))
    add = parser.add_argument
    add("model", help="a model file of `askless fit`")
    add("data", help="the table: a CSV or Parquet file")
    add("--target", metavar="COL", help="the column with the true labels (default: the target of the fit)")
    add("--metric", help="the score to compute (default: auroc or r2; see below)")
    add("--budget", type=positive, metavar="K", help="ask at most K features (default: the model's budget)")
    add_rows(parser)
    add("--drop-missing-target", action="store_true", help="leave out rows with a missing target")
    add("--plot", metavar="PNG", help="plot the scores to a .png, .svg or .pdf file")
    add("--json", metavar="FILE", help="write the numbers to a file")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Ask every row, score the predictions, and print and write the results."""
    plot = None if args.plot is None else _check_picture(args.plot, (args.model, args.data))
    numbers = None if args.json is None else check_writable(args.json, "--json", (args.model, args.data))
    from askless.cli.scores import (
        absent_classes,
        choose_metric,
        most_asked,
        score,
        score_table,
        spending_table,
        with_money,
    )
    from askless.cli.tables import errors_of, filled_up
    from askless.cli.unseen import Unseen
    from askless.model_file import read_model

    model = read_model(args.model)
    metric = choose_metric(args.metric, model.task)
    options = rows_asking(args, model)
    X, y, rows = _read(args, model)
    with errors_of(args.data):
        X = filled_up(X, model, args.unavailable)
        trajectory = model.rollout(X, row_numbers=rows, **options)
    unseen = Unseen(model)
    unseen.count(X)
    unseen.report()
    scores = score(trajectory, y, metric)
    if (message := absent_classes(scores, y, model.classes)) is not None:
        note(message, "absent_class")
    if numbers is not None:  # before anything is printed, since the reader may close the pipe
        _write_json(numbers, scores, trajectory, args)
    if plot is not None:
        _draw(plot, scores)
    console = make_console()
    say(console, f"{args.model} on {count(scores.n_rows, 'row')} of {args.data}:")
    money = with_money(model, options["costs"], options["stopping"])
    console.print(score_table(scores, money=money))
    console.print(spending_table(trajectory, money=money))
    console.print(most_asked(trajectory))
    for written in filter(None, (numbers, plot)):
        say(console, f"wrote {written}")


def _read(args: argparse.Namespace, model: FittedModel) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The features, the truth for the metrics, and the row numbers in the file."""
    from askless.cli.tables import check_columns, for_model, open_table_for
    from askless.cli.target import class_codes, numbers, split_target

    table = open_table_for(model, args.data, args.na)
    target = args.target or model.settings.get("target")
    if target is None:
        message = "--target: name the column with the true labels; the model file does not say which one it is"
        raise UsageError("required", message, option="--target")
    check_columns([target], table.names, "--target", args.data)
    if target in model.schema.all_names:
        message = f"--target: {target!r} is a feature of the model"
        raise UsageError("conflicting_settings", message, option="--target", column=target)
    needed, text = for_model(model, table)
    frame = table.read(needed | {target}, text, learned=needed - {target})
    X, y, rows = split_target(frame, target, args.data, drop_missing=args.drop_missing_target)
    if model.task == "regression":
        return X, numbers(y, args.data, rows), rows
    return X, class_codes(y, model.classes, args.data, rows), rows


def _check_picture(name: str, inputs: tuple[str, str]) -> Path:
    path = check_writable(name, "--plot", inputs)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        message = f"--plot: {path} must end in .png, .svg or .pdf"
        raise UsageError("wrong_file", message, option="--plot", path=str(path))
    return path


def _draw(path: Path, scores: Scores) -> None:
    from askless.files import atomic_file
    from askless.plotting import plot_curve

    figure = plot_curve(scores.frame, metric_label=scores.metric.label, pyplot=False).figure.figure
    with atomic_file(path) as file:
        figure.savefig(file, dpi=200, format=path.suffix.lower().lstrip("."))


def _write_json(path: Path, scores: Scores, trajectory: Trajectory, args: argparse.Namespace) -> None:
    from askless.cli.scores import spending
    from askless.files import write_atomic

    columns = {"budget": "budget", "score": "score", "low": "low", "high": "high", "cost": "mean_cost"}
    rows = scores.frame[list(columns)].rename(columns=columns).to_dict("records")
    content = {
        "model": args.model,
        "data": args.data,
        "rows": scores.n_rows,
        "metric": scores.metric.__name__,
        "greater_is_better": scores.metric.greater_is_better,
        "interval": 0.95,
        "curve": [{name: None if value != value else value for name, value in row.items()} for row in rows],
        **spending(trajectory),
    }
    write_atomic(path, (json.dumps(content, indent=2) + "\n").encode())
