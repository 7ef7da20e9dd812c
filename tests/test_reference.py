"""docs/reference.md names everything that users can type."""

import argparse
import importlib
import inspect
import re
from pathlib import Path

import pytest

from askless import DynamicClassifier, DynamicRegressor
from askless.acquisition import Interview, Trajectory
from askless.cli import build_parser

PAGE = (Path(__file__).parent.parent / "docs" / "reference.md").read_text()
NAMED = set(re.findall(r"[A-Za-z_]\w*", " ".join(re.findall(r"`[^`]+`", PAGE))))  # in code, wherever it stands
SPOKEN_OF = ["acquisition.costs", "acquisition.stopping", "model_file", "plotting", "metrics", "datasets"]
SPOKEN_OF += ["experiments", "theory", "checks", "exceptions"]


@pytest.mark.parametrize("name", SPOKEN_OF)
def test_every_exported_name_is_there(name):
    names = set(importlib.import_module(f"askless.{name}").__all__)
    assert names - NAMED == set()


@pytest.mark.parametrize("kind", [DynamicClassifier, DynamicRegressor])
def test_every_setting_of_the_estimators_has_a_row(kind):
    settings = set(inspect.signature(kind).parameters)
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE.partition("| method |")[0], flags=re.MULTILINE))
    assert rows == settings


@pytest.mark.parametrize("kind", [DynamicClassifier, Interview, Trajectory])
def test_every_public_member_is_there(kind):
    own = {name for part in kind.__mro__ if part.__module__.startswith("askless") for name in vars(part)}
    members = {name for name in own | set(getattr(kind, "__annotations__", ())) if not name.startswith("_")}
    inherited = {name for name in members if re.fullmatch(r"set_(params|\w+_request)", name)}  # scikit-learn's
    assert members - NAMED - inherited == set()


@pytest.mark.parametrize("name", ["fit", "rollout", "interview", "curve", "certify"])
def test_every_argument_of_a_call_is_there(name):
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}("))
    call = line.partition(")`")[0]
    arguments = [a for a in inspect.signature(getattr(DynamicClassifier, name)).parameters if a != "self"]
    assert [a for a in arguments if not re.search(rf"\b{a}\b", call)] == []


def commands(parser, words=()):
    """Every command and its parser."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield " ".join(words), parser
    for action in inner:
        for word, sub in action.choices.items():
            yield from commands(sub, (*words, word))


OF_ASKING = re.search(r"^\| of asking \|.*$", PAGE, flags=re.MULTILINE).group()


@pytest.mark.parametrize(("command", "parser"), list(commands(build_parser())))
def test_every_option_of_a_command_is_in_its_row(command, parser):
    row = next(line for line in PAGE.splitlines() if line.startswith("|") and f"`askless {command}" in line)
    if "those of asking" in row:
        row += OF_ASKING
    options = {word for action in parser._actions for word in action.option_strings} - {"-h", "--help"}
    assert {option for option in options if f"`{option}" not in row} == set()
