"""What the commands share about prices, stopping and what is known: arguments, and what they mean for a model."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any

from askless.cli.parser import Parser, UsageError, money, positive
from askless.cli.settings import read_costs

if TYPE_CHECKING:
    from askless.acquisition import StoppingRule
    from askless.fitted import FittedModel

__all__ = ["STOP_HELP", "add_asking", "add_missing_words", "add_rows", "asking", "read_stop", "rows_asking"]

STOP_HELP = """\
stopping rules, of which the first to fire stops a case:
  max_features=K                   so many questions
  max_cost=MONEY                   so much money; what is too dear is passed over
  confidence=P                     the most probable class has at least this probability
  spread=SD                        the standard deviation of a regression is at most this
  information_per_cost=X           no question brings so much for its price (methods with information, such as value)
  decision_stable=P                no answer changes the decision with a higher probability
  certified=RISK                   of the cases that stop at most this share is wrong (`askless fit` only)
An object in JSON takes more: '{"and": [{"confidence": 0.9}, {"max_features": 3}]}'"""


def add_asking(parser: Parser) -> None:
    """Arguments that change how a fitted model asks."""
    add = parser.add_argument
    add("--max-cost", type=money, metavar="MONEY", help="spend at most so much on a case, beside the other rules")
    add("--stop", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="other stopping rules than the "
        "model's, such as confidence=0.95 (see below)")  # fmt: skip
    add("--costs", metavar="JSON", help='other prices of features, such as {"mri": 400}; those not named stay')
    add("--unavailable", nargs="+", action="extend", default=[], metavar="NAME", help="features that cannot be had")


def add_rows(parser: Parser) -> None:
    """The same for commands that ask the rows of a table."""
    add_asking(parser)
    add = parser.add_argument
    add("--known", nargs="+", action="extend", default=[], metavar="NAME", help="features that are known before the "
        "first question, and free")  # fmt: skip
    add("--batch", type=positive, default=1, metavar="M", help="ask for so many features at once, chosen together")
    add_missing_words(parser)


def add_missing_words(parser: Parser) -> None:
    """The option for words that stand for missing values in the user's files."""
    help_ = (
        "words in a CSV file that stand for a missing value, such as unknown or -999, beside those that always do: "
        "NA, N/A, NaN, null (small or in capitals), -nan, ? and nothing; a model keeps those of its fit; two hyphens "
        "are given as --na=--"
    )
    parser.add_argument("--na", nargs="+", action="extend", default=[], metavar="WORD", help=help_)


def read_stop(words: Sequence[str]) -> tuple[StoppingRule, ...] | None:
    """The rules that `--stop` names; None without any."""
    if not words:
        return None
    from askless.acquisition.stopping import stopping_from_json

    rules: dict[str, Any] = {}
    for word in words:
        given = _object(word) if word.lstrip().startswith("{") else dict([_pair(word)])
        twice = sorted(rules.keys() & given.keys())
        if twice:
            raise UsageError(f"--stop: {twice[0]!r} is there twice")
        rules |= given
    try:
        return stopping_from_json(rules)
    except ValueError as error:
        raise UsageError(f"--stop: {error}") from None


def _object(word: str) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads(word)
    except json.JSONDecodeError as error:
        raise UsageError(f"--stop: {word!r} is not JSON ({error.msg})") from None
    return value


def _pair(word: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    if not equals:
        raise UsageError(f"--stop: {word!r}; give NAME=VALUE, such as confidence=0.95")
    return name.strip().replace("-", "_"), _setting(text, word)


def _setting(text: str, word: str) -> Any:
    """A number, as Python reads it, or what JSON has; other text is left for the rule to refuse."""
    from askless.encoding.cells import DECIMAL_COMMA

    if DECIMAL_COMMA.fullmatch(text.strip()):
        raise UsageError(f"--stop: {word!r}; numbers have a decimal point: {word.replace(',', '.')}")
    for read in (json.loads, float):
        with suppress(ValueError):
            value = read(text)
            return text if isinstance(value, float) and not isfinite(value) else value
    return text


def asking(args: argparse.Namespace, model: FittedModel) -> dict[str, Any]:
    """Arguments for a model's roll-out or interview; names are checked."""
    from askless.acquisition.stopping import MaxCost

    rules = read_stop(args.stop)
    if rules is not None:
        _check_rules(rules, model)
    if args.max_cost is not None:
        rules = (*(model.stopping if rules is None else rules), MaxCost(args.max_cost))
    return {"max_features": args.budget, "stopping": rules, "costs": read_costs(args.costs)}


def _check_rules(rules: Sequence[StoppingRule], model: FittedModel) -> None:
    """Refuse rules that are not for a model, or need more than it has."""
    from askless.acquisition.stopping import Certified, check_rules

    if any(isinstance(rule, Certified) for rule in rules):
        raise UsageError("--stop: certified is for `askless fit`, which keeps rows apart to test it on")
    try:
        check_rules(rules, model.task, stored=model.reference is not None, informative=model.informative)
    except ValueError as error:
        raise UsageError(f"--stop: {error}") from None


def rows_asking(args: argparse.Namespace, model: FittedModel) -> dict[str, Any]:
    """Arguments for a roll-out of a table's rows."""
    for name in (*args.known, *args.unavailable):
        model.schema.index(name)  # an error that names the nearest
    others = [name for name in model.schema.names if name not in args.unavailable]
    return {
        **asking(args, model),
        "known": args.known or None,
        "available": others if args.unavailable else None,
        "batch": args.batch,
    }
