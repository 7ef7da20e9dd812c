"""What the commands' parsers share: one-line errors, help that keeps its lines, and checked numbers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from itertools import takewhile
from typing import Any, NoReturn, TypeAlias

from askless.hints import did_you_mean

__all__ = ["Commands", "Parser", "UsageError", "fraction", "money", "natural", "positive", "text_help"]

NO_WORD = re.compile(r"argument (--[\w-]+): expected at least one argument")  # as argparse says it
TWO_HYPHENS = re.compile(r"unrecognized arguments: --( |$)")

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class UsageError(ValueError):
    """The command line itself is wrong."""


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` where argparse would print its usage and leave."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """A misspelt option is named first, not what seems to be missing because of it."""
        if self._subparsers is None and args is not None:
            for word in takewhile(lambda word: word != "--", args):
                option = word.partition("=")[0]
                if option.startswith("--") and option not in self._option_string_actions:
                    self.error(f"there is no option {option}{did_you_mean(option, self._option_string_actions)}")
        return super().parse_known_args(args, namespace)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """In `--na=--` the two hyphens are a word, which argparse of Python 3.11 takes for the end of the options."""
        if action.option_strings and action.nargs == "+" and arg_strings == ["--"]:
            return arg_strings
        return super()._get_values(action, arg_strings)

    def error(self, message: str) -> NoReturn:
        """One line, and where to read more."""
        raise UsageError(f"{message}{_about_hyphens(message)} (see `{self.prog} --help`)")


def _about_hyphens(message: str) -> str:
    """How words that begin with a hyphen are given, where an error of argparse's seems to come of them."""
    if option := NO_WORD.match(message):
        return f"; a word that begins with a hyphen is given like {option[1]}=--"
    if TWO_HYPHENS.match(message):
        return "; -- ends the options, and as a word of one is given like --na=--"
    return ""


def text_help(description: str, epilog: str) -> dict[str, Any]:
    """Arguments of a parser whose description and examples keep their line breaks."""
    return {
        "description": description,
        "epilog": epilog,
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def _checked(read: Callable[[str], Any], fits: Callable[[Any], bool], what: str) -> Callable[[str], Any]:
    def check(text: str) -> Any:
        try:
            value = read(text)
        except ValueError:
            value = None
        if value is None or not fits(value):
            raise argparse.ArgumentTypeError(f"it is {text!r}, but must be {what}")
        return value

    return check


positive = _checked(int, lambda value: value >= 1, "a whole number of at least 1")
natural = _checked(int, lambda value: 0 <= value < 2**31, "a whole number from 0 to 2147483647")
money = _checked(float, lambda value: 0.0 <= value < float("inf"), "a number of at least 0")
fraction = _checked(float, lambda value: 0.0 <= value <= 0.9, "a share from 0 to 0.9")
