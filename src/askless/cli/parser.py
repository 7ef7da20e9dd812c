"""What the commands' parsers share: one-line errors, help that keeps its lines, and checked numbers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import takewhile
from typing import Any, NoReturn, TypeAlias

from askless.hints import did_you_mean

__all__ = ["Commands", "Parser", "UsageError", "fraction", "money", "natural", "positive", "text_help"]

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

    def error(self, message: str) -> NoReturn:
        """One line, and where to read more."""
        raise UsageError(f"{message} (see `{self.prog} --help`)")


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
