"""`askless predict`: predict every row of a table of any size."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from askless.cli.output import check_writable
from askless.cli.parser import Commands, UsageError, positive, text_help
from askless.cli.rules import STOP_HELP, add_rows, rows_asking

if TYPE_CHECKING:
    import pandas as pd

    from askless.cli.chunks import Chunk
    from askless.cli.unseen import Unseen
    from askless.cli.writers import Writer
    from askless.model import FittedModel

__all__ = ["add", "run"]

DESCRIPTION = """\
Predict every row of a table from the few features that the model asks for. The table can be larger than memory."""
EPILOG = (
    """\
example:
  askless predict m.askless data.csv -o out.csv
  askless predict m.askless data.parquet --keep id --budget 5 > out.csv

columns of the output (its rows are those of the table, in the same order):
  prediction        the most probable class, or the mean of a regression
  sd                the standard deviation of the error (regression only)
  p(CLASS)          the probability of each class
  features asked    the names of the features asked, in order, separated by "; "
  number asked      how many features were asked
  cost              what they cost
  stop reason       why the case stopped
Columns of --keep come first. They are copied as they are, but decimal commas become points.

"""
    + STOP_HELP
)


OWN = ("prediction", "sd", "features asked", "number asked", "cost", "stop reason")  # columns of the output


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser("predict", help="predict every row of a table", **text_help(DESCRIPTION, EPILOG))
    add = parser.add_argument
    add("model", help="a model file of `askless fit`")
    add("data", help="the table: a CSV or Parquet file; columns are found by name, additional ones are ignored")
    add("-o", "--output", metavar="FILE", help="the output: a CSV or Parquet file (default: CSV to standard output)")
    add("--budget", type=positive, metavar="K", help="ask at most K features (default: the model's budget)")
    add_rows(parser)
    add(
        "--keep",
        nargs="+",
        action="extend",
        default=[],
        metavar="COL",
        help="columns to copy to the output, such as an id",
    )
    add("--chunk-rows", type=positive, default=50_000, metavar="N", help="rows in memory at a time (default: 50000)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Read, ask and write, chunk by chunk."""
    from askless.cli.tables import check_columns, for_model, is_parquet, open_table_for
    from askless.cli.unseen import Unseen
    from askless.cli.writers import open_writer
    from askless.model_file import read_model

    if args.output is not None:
        is_parquet(args.output)
        check_writable(args.output, inputs=(args.data, args.model))
    model = read_model(args.model)
    table = open_table_for(model, args.data, args.na)
    check_columns(args.keep, table.names, "--keep", args.data)
    if taken := sorted({*OWN, *(f"p({label})" for label in model.classes)} & set(args.keep)):
        message = f"--keep: the output already has a column {taken[0]!r}; rename that of the table"
        raise UsageError("duplicate_name", message, option="--keep", name=taken[0])
    options = rows_asking(args, model)
    needed, text = for_model(model, table)
    chunks = table.chunks(args.chunk_rows, needed, text, args.keep)
    unseen = Unseen(model)
    with open_writer(args.output) as writer, _progress() as advance:
        n_rows = _predict_all(model, chunks, writer, args, options, advance, unseen)
    unseen.report()
    if args.output is not None:
        print(f"askless: predicted {n_rows:,} rows; wrote {args.output}", file=sys.stderr)


def _predict_all(
    model: FittedModel,
    chunks: Iterator[Chunk],
    writer: Writer,
    args: argparse.Namespace,
    options: dict[str, Any],
    advance: Any,
    unseen: Unseen,
) -> int:
    n_rows = 0
    for chunk in chunks:
        predicted = _predicted(model, chunk, args, options)
        writer.write(chunk.written.join(predicted) if args.keep else predicted)
        unseen.count(chunk.frame)
        n_rows += len(chunk.frame)
        advance(chunk.read, n_rows)
    return n_rows


def _predicted(model: FittedModel, chunk: Chunk, args: argparse.Namespace, options: dict[str, Any]) -> pd.DataFrame:
    """The predictions of a chunk, one row for each case."""
    import numpy as np
    import pandas as pd

    from askless.cli.tables import errors_of, filled_up

    with errors_of(args.data):
        rows = range(chunk.start, chunk.start + len(chunk.frame))
        trajectory = model.rollout(filled_up(chunk.frame, model, args.unavailable), row_numbers=rows, **options)
    last = trajectory.predictions[:, -1]  # (n, outputs)
    if model.task == "regression":
        frame = pd.DataFrame({"prediction": last[:, 0]})
        if trajectory.sd is not None:
            frame["sd"] = trajectory.sd
    else:
        labels = pd.Series(list(model.classes))
        frame = pd.DataFrame({"prediction": labels.take(last.argmax(axis=1)).to_numpy()})
        for i, label in enumerate(model.classes):
            frame[f"p({label})"] = last[:, i]
    names = np.array(trajectory.feature_names, dtype=object)
    frame["features asked"] = ["; ".join(names[order[order >= 0]]) for order in trajectory.order]
    frame["number asked"] = trajectory.n_asked
    frame["cost"] = trajectory.cost[:, -1]
    frame["stop reason"] = trajectory.stop_reason
    return frame


@contextmanager
def _progress() -> Iterator[Any]:
    """A progress bar on standard error, in a terminal only; yields a function of the share and the rows done."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda share, n_rows: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=32), TimeElapsedColumn(), TextColumn("left"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("reading", total=1.0)
        yield lambda share, n_rows: bar.update(task, completed=share, description=f"{n_rows:,} rows")
