"""The command line: `askless COMMAND ...`.

Each command is a module with two functions: `add` adds its arguments to the parser, `run` runs it. Heavy imports are
inside `run`, so that `askless --help` is fast.
"""

from __future__ import annotations

from collections.abc import Sequence

from askless import __version__
from askless.cli import ask, datasets, demo, evaluate, experiment, fit, predict, serve
from askless.cli.errors import guarded
from askless.cli.parser import Parser, text_help

__all__ = ["build_parser", "main", "run_command"]

COMMANDS = (demo, fit, evaluate, predict, ask, serve, datasets, experiment)
DESCRIPTION = """\
Learn from a table which feature to ask for next, for each case individually, and ask less."""
EPILOG = """\
examples:
  askless demo                                                see what it does, in about a minute
  askless datasets get triage                                 write the example table triage.csv
  askless fit triage.csv --target destination -o m.askless    learn a model
  askless ask m.askless                                       interview one case in the terminal
  askless serve m.askless                                     the same as a web page

Tables are CSV files with a header line, or Parquet files. Run `askless COMMAND --help` for the options of a command.
Errors are one line on standard error with a code in brackets, and exit code 2."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    The code is 0, 1 if a task of an experiment failed, 2 for an error of the user's (one line on standard error), or
    130 for Ctrl-C.
    """
    return guarded(lambda: run_command(argv))


def run_command(argv: Sequence[str] | None) -> int:
    """Parse the arguments and run the command. Errors are raised."""
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
