"""Options that several commands share: costs, stopping rules, and what is known or unavailable."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any

from askless.cli.parser import Parser, UsageError, money, positive
from askless.cli.settings import read_costs
from askless.exceptions import AsklessError

if TYPE_CHECKING:
    from askless.acquisition import StoppingRule
    from askless.model import FittedModel

__all__ = ["STOP_HELP", "add_asking", "add_missing_words", "add_rows", "asking", "read_stop", "rows_asking"]

STOP_HELP = """\
stopping rules (a case stops when the first of them applies):
  max_features=K             after K questions
  max_cost=MONEY             when nothing affordable is left; features that cost too much are skipped
  confidence=P               when the most probable class has at least this probability
  spread=SD                  when the standard deviation of a regression is at most this
  information_per_cost=X     when no question is worth its cost (for methods with information, such as value)
  decision_stable=P          when the probability that another answer changes the decision is at most this
  certified=RISK             when at most this share of the stopped cases is wrong (`askless fit` only)

JSON combines rules: '{"and": [{"confidence": 0.9}, {"max_features": 3}]}'"""


def add_asking(parser: Parser) -> None:
    """Add the options that change how a fitted model asks."""
    add = parser.add_argument
    add("--max-cost", type=money, metavar="MONEY", help="spend at most this much on a case (default: no limit)")
    add("--stop", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="stopping rules that replace "
        "the model's rules, such as confidence=0.95 (see below)")  # fmt: skip
    add("--costs", metavar="JSON", help='new costs of features, such as {"mri": 400}; the others keep theirs')
    add("--unavailable", nargs="+", action="extend", default=[], metavar="NAME", help="features that cannot be asked")


def add_rows(parser: Parser) -> None:
    """Add the same options and those for the rows of a table."""
    add_asking(parser)
    add = parser.add_argument
    add("--known", nargs="+", action="extend", default=[], metavar="NAME", help="features that are known, at no "
        "cost, before the first question")  # fmt: skip
    add("--batch", type=positive, default=1, metavar="M", help="ask M features at a time (default: 1)")
    add_missing_words(parser)


def add_missing_words(parser: Parser) -> None:
    """Add the option for words that mean a missing value in a CSV file."""
    help_ = (
        "more words that mean a missing value in a CSV file, such as unknown or -999. These always do: "
        "NA, N/A, NaN, null (in small or capital letters), -nan, ? and an empty cell. The model remembers the "
        "words of its fit. Write two hyphens as --na=--"
    )
    parser.add_argument("--na", nargs="+", action="extend", default=[], metavar="WORD", help=help_)


def read_stop(words: Sequence[str]) -> tuple[StoppingRule, ...] | None:
    """The rules of `--stop`; None without any."""
    if not words:
        return None
    from askless.acquisition.stopping import stopping_from_json

    rules: dict[str, Any] = {}
    for word in words:
        given = _object(word) if word.lstrip().startswith("{") else dict([_pair(word)])
        twice = sorted(rules.keys() & given.keys())
        if twice:
            message = f"--stop: {twice[0]!r} occurs twice"
            raise UsageError("duplicate_name", message, option="--stop", name=twice[0])
        rules |= given
    try:
        return stopping_from_json(rules)
    except AsklessError as error:
        raise _of_stop(error) from None


def _of_stop(error: AsklessError) -> UsageError:
    """The same error with the name of the option."""
    return UsageError(error.code, f"--stop: {error.message}", **{**error.fields, "option": "--stop"})


def _object(word: str) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads(word)
    except json.JSONDecodeError as error:
        message = f"--stop: {word!r} is not valid JSON ({error.msg})"
        raise UsageError("usage", message, option="--stop", value=word) from None
    return value


def _pair(word: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    if not equals:
        message = f"--stop: write NAME=VALUE, such as confidence=0.95, instead of {word!r}"
        raise UsageError("usage", message, option="--stop", value=word)
    return name.strip().replace("-", "_"), _setting(text, word)


def _setting(text: str, word: str) -> Any:
    """A number, as Python reads it, or a value of JSON. Any other text is left for the rule to refuse."""
    from askless.encoding.cells import DECIMAL_COMMA

    if DECIMAL_COMMA.fullmatch(text.strip()):
        expected = word.replace(",", ".")
        message = f"--stop: write {expected}, with a decimal point, instead of {word!r}"
        raise UsageError("usage", message, option="--stop", value=word, expected=expected)
    for read in (json.loads, float):
        with suppress(ValueError):
            value = read(text)
            return text if isinstance(value, float) and not isfinite(value) else value
    return text


def asking(args: argparse.Namespace, model: FittedModel) -> dict[str, Any]:
    """Arguments for a roll-out or an interview of a model."""
    from askless.acquisition.stopping import MaxCost

    rules = read_stop(args.stop)
    if rules is not None:
        _check_rules(rules, model)
    if args.max_cost is not None:
        rules = (*(model.stopping if rules is None else rules), MaxCost(args.max_cost))
    return {"max_features": args.budget, "stopping": rules, "costs": read_costs(args.costs)}


def _check_rules(rules: Sequence[StoppingRule], model: FittedModel) -> None:
    """Refuse rules that the model does not support."""
    from askless.acquisition.stopping import Certified, check_rules

    if any(isinstance(rule, Certified) for rule in rules):
        message = "--stop: `certified` needs `askless fit`, which holds out rows for its test"
        raise UsageError("not_supported", message, option="--stop", name="certified")
    try:
        check_rules(rules, model.task, stored=model.reference is not None, informative=model.informative)
    except AsklessError as error:
        raise _of_stop(error) from None


def rows_asking(args: argparse.Namespace, model: FittedModel) -> dict[str, Any]:
    """Arguments for a roll-out of the rows of a table."""
    for name in (*args.known, *args.unavailable):
        model.schema.index(name)  # raises an error with the nearest name
    if args.batch > 1 and model.reference is None:
        message = "--batch: the model file stores no training rows; fit the model with --reference-rows 256"
        raise UsageError("not_supported", message, option="--batch")
    others = [name for name in model.schema.names if name not in args.unavailable]
    return {
        **asking(args, model),
        "known": args.known or None,
        "available": others if args.unavailable else None,
        "batch": args.batch,
    }
