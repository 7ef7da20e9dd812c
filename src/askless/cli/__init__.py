"""The command line: `askless COMMAND ...`.

One small module for each command; each has `add`, which describes it to argparse, and `run`. None of them imports
anything heavy before it runs, so that `askless --help` is quick.
"""

from __future__ import annotations

from collections.abc import Sequence

from askless import __version__
from askless.cli import ask, datasets, demo, evaluate, experiment, fit, predict, serve
from askless.cli.errors import guarded
from askless.cli.parser import Parser, text_help

__all__ = ["main"]

COMMANDS = (demo, fit, evaluate, predict, ask, serve, datasets, experiment)
DESCRIPTION = """\
Ask less, know enough: learn from a table which feature to ask for next, for each case on its own."""
EPILOG = """\
example:
  askless demo                                            see what it does, in about a minute
  askless datasets get triage                             writes triage.csv and its groups and costs
  askless fit triage.csv --target destination -o m.askless
  askless ask m.askless
  askless serve m.askless

Tables are CSV files with a header line, or Parquet files. `askless COMMAND --help` explains a command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns 0, 2 for an error of the user's (one line on standard error), or 130 for Ctrl-C.

    An experiment of which a task has failed returns 1.
    """
    return guarded(lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    if "run" not in args:
        parser.print_help()
        return 0
    return args.run(args) or 0


def build_parser() -> Parser:
    """The parser of all commands."""
    parser = Parser("askless", **text_help(DESCRIPTION, EPILOG))
    parser.add_argument("--version", action="version", version=f"askless {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser
