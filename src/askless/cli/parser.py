"""Argument parsing for all commands: one-line errors, help texts that keep their line breaks, checked numbers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from itertools import takewhile
from typing import Any, NoReturn, TypeAlias

from askless.exceptions import AsklessError
from askless.hints import did_you_mean, nearest

__all__ = ["DEVICES", "Commands", "Parser", "UsageError", "fraction", "money", "natural", "positive", "text_help"]

DEVICES = ("cpu", "cuda", "mps", "auto")  # those of the estimators, which are slow to import

# Messages of argparse
ARGUMENT = re.compile(r"argument (?:[^:\s]+/)?(-[\w-]+): ")
COMMAND = re.compile(r"argument (?:COMMAND|ACTION): invalid choice: '(.*)' \(choose from (.*)\)")
NO_WORD = re.compile(r"argument (--[\w-]+): expected at least one argument")
TWO_HYPHENS = re.compile(r"unrecognized arguments: --( |$)")

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class UsageError(AsklessError):
    """The command line is wrong; the field `option` names the option."""


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` where argparse would print its usage and exit."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Report a misspelt option first: argparse would report the required option that it was meant to be."""
        if self._subparsers is None and args is not None:
            options = self._option_string_actions
            for word in takewhile(lambda word: word != "--", args):
                option = word.partition("=")[0]
                if option.startswith("--") and option not in options:
                    message = f"there is no option {option}{did_you_mean(option, options)}{self._see_help}"
                    raise UsageError("usage", message, option=option, nearest=nearest(option, options))
        return super().parse_known_args(args, namespace)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Read the two hyphens in `--na=--` as a word. For argparse of Python 3.11 they would end the options."""
        if action.option_strings and action.nargs == "+" and arg_strings == ["--"]:
            return arg_strings
        return super()._get_values(action, arg_strings)

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` that names the help page."""
        if chosen := COMMAND.match(message):
            name, known = chosen[1], re.findall(r"[a-z]+", chosen[2])
            message = f"there is no command {name!r}{did_you_mean(name, known)}; choose from {', '.join(known)}"
            raise UsageError("usage", f"{message}{self._see_help}", value=name, nearest=nearest(name, known))
        option = ARGUMENT.match(message)
        raise UsageError("usage", f"{message}{_about_hyphens(message)}{self._see_help}", option=option and option[1])

    @property
    def _see_help(self) -> str:
        return f" (see `{self.prog} --help`)"


def _about_hyphens(message: str) -> str:
    """How to write words that begin with a hyphen, if they seem to be the reason for an error of argparse."""
    if option := NO_WORD.match(message):
        return f"; write a word that begins with a hyphen like {option[1]}=--"
    if TWO_HYPHENS.match(message):
        return "; -- ends the options; as the value of an option, write it like --na=--"
    return ""


def text_help(description: str, epilog: str) -> dict[str, Any]:
    """Arguments for a parser whose description and examples keep their line breaks."""
    return {
        "description": description,
        "epilog": epilog,
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def _checked(read: Callable[[str], Any], fits: Callable[[Any], bool], expected: str) -> Callable[[str], Any]:
    def check(text: str) -> Any:
        try:
            value = read(text)
        except ValueError:
            value = None
        if value is None or not fits(value):
            raise argparse.ArgumentTypeError(f"must be {expected}, not {text!r}")
        return value

    return check


positive = _checked(int, lambda value: value >= 1, "an integer of at least 1")
natural = _checked(int, lambda value: 0 <= value < 2**31, "an integer from 0 to 2147483647")
money = _checked(float, lambda value: 0.0 <= value < float("inf"), "a number of at least 0")
fraction = _checked(float, lambda value: 0.0 <= value <= 0.9, "a number from 0 to 0.9")
