"""`askless datasets`: list the built-in data sets, or write one as a table for `askless fit`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askless.cli.console import count, make_console, make_table, quoted, say
from askless.cli.output import check_writable
from askless.cli.parser import Commands, UsageError, natural, positive, text_help

if TYPE_CHECKING:
    from askless.datasets import Dataset, Info

__all__ = ["add", "run_get", "run_list"]

EPILOG = """\
examples:
  askless datasets list
  askless datasets get triage
  askless datasets get triage --rows 20000 --seed 1 -o big.csv
  askless datasets get spam                                 downloaded first if it is not on this machine"""
GET = """\
Write a data set as a CSV file, with JSON files of its groups and costs if it has any, and show how to fit it.
Data sets that are not on this machine are downloaded first. They are kept in the data home; the environment variable
ASKLESS_DATA names another folder."""


def add(commands: Commands) -> None:
    """Describe the command."""
    words = "list the built-in data sets, or write one to a CSV file"
    parser = commands.add_parser("datasets", help=words, **text_help(f"{words.capitalize()}.", EPILOG))
    parser.set_defaults(run=lambda args: parser.error("choose a subcommand: list, get NAME"))
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    lister = actions.add_parser("list", help="list the data sets", **text_help("List the data sets.", EPILOG))
    lister.set_defaults(run=run_list)
    getter = actions.add_parser("get", help="write a data set to a CSV file", **text_help(GET, EPILOG))
    getter.add_argument("name", metavar="NAME", help="a name from `askless datasets list`")
    getter.add_argument("-o", "--output", metavar="FILE", help="the CSV file to write (default: NAME.csv)")
    getter.add_argument("--rows", type=positive, metavar="N", help="number of rows, for generated data sets")
    getter.add_argument("--seed", type=natural, help="seed, for generated data sets (default: 0)")
    getter.add_argument("--no-download", action="store_true", help="fail if the data set is not on this machine")
    getter.set_defaults(run=run_get)


def run_list(args: argparse.Namespace) -> None:
    """Print a table of the data sets."""
    from askless.datasets import data_home, describe, list_datasets

    table = make_table("name", "rows", "features", "task", "available", "source", numbers=(1, 2))
    infos = [describe(name) for name in list_datasets()]
    for info in infos:
        table.add_row(info.name, f"{info.rows:,}", str(info.features), info.task, _available(info), info.source)
    console = make_console()
    console.print(table)
    if not all(info.available for info in infos):
        say(console, f"`askless datasets get NAME` downloads to {data_home()}, or explains which files to put there.")


def _available(info: Info) -> str:
    if info.available:
        return "yes"
    return "download" if info.downloadable else "by hand"


def run_get(args: argparse.Namespace) -> None:
    """Write a data set."""
    from askless.datasets import load_dataset
    from askless.files import write_atomic

    options = {"n": args.rows, "random_state": args.seed}
    chosen = {name: value for name, value in options.items() if value is not None}
    data = load_dataset(args.name, download=not args.no_download, **chosen)
    output = check_writable(args.output or f"{args.name}.csv")
    if output.suffix != ".csv":
        raise UsageError("wrong_file", f"-o: {output} must end in .csv", option="-o", path=str(output))
    target = str(data.target.name)
    frame = data.frame.assign(**{target: data.target})
    write_atomic(output, frame.to_csv(index=False).encode())
    console = make_console()
    say(console, data.description)
    say(console, f"wrote {output} ({count(len(frame), 'row')}; target: {target}; licence: {data.licence})")
    extras = _write_extras(data, output)
    for path in extras.values():
        say(console, f"wrote {path}")
    say(console, f"next: {_fit_command(output, target, extras)}", style="dim")


def _write_extras(data: Dataset, output: Path) -> dict[str, Path]:
    """Write the groups, costs and panels; returns the files by the option of `askless fit` that reads them."""
    from askless.files import write_atomic

    contents: dict[str, Any] = {"--groups": data.groups, "--costs": data.costs, "--panels": data.panels}
    written = {}
    for option, content in contents.items():
        if content:
            path = output.with_suffix(f".{option.strip('-')}.json")
            write_atomic(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
            written[option] = path
    return written


def _fit_command(output: Path, target: str, extras: dict[str, Path]) -> str:
    words = ["askless fit", quoted(output), "--target", quoted(target)]
    words += [f"{option} {quoted(path)}" for option, path in extras.items()]
    return " ".join([*words, "-o", quoted(output.with_suffix(".askless"))])
