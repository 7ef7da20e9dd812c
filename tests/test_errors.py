"""Every error and warning has a code of `askless.exceptions.CODES`, and docs/errors.md lists these codes.

    python -m tests.test_errors        writes the table of docs/errors.md again
"""

import ast
import re
from pathlib import Path

import pytest

from askless.exceptions import CODES

ROOT = Path(__file__).parents[1]
SOURCE, PAGE = ROOT / "src" / "askless", ROOT / "docs" / "errors.md"
EXCEPTIONS = SOURCE / "exceptions.py"
TREES = {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}
TABLE = re.compile(r"\| code \| meaning \|\n\|---\|---\|\n(?:\|.*\|\n)+")
FORWARDED = "a code from elsewhere"  # such as `error.code`: it was checked where it was made


def name_of(call):
    """The name of what is called: of `a.b.fail(...)` it is `fail`."""
    return getattr(call.func, "attr", getattr(call.func, "id", None))


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def calls(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def coded_classes():
    """The classes that derive from AsklessError or AsklessWarning, by name."""
    classes = {node.name: node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    coded = {"AsklessError", "AsklessWarning"}
    while True:
        more = {name for name, node in classes.items() if coded & {getattr(base, "id", "") for base in node.bases}}
        if more <= coded:
            return {name: classes[name] for name in coded}
        coded |= more


def code_place(function, *, bound):
    """The position of the parameter `code`, None if it is given by keyword only; raises if there is none."""
    positional = [argument.arg for argument in function.args.args]
    if "code" in positional:
        return positional.index("code") - bound
    if "code" in [argument.arg for argument in function.args.kwonlyargs]:
        return None
    raise LookupError


def makers():
    """What takes a code: by name, the position of the code, None for a keyword.

    These are the coded classes, and the functions that pass their parameter `code` to one of them, or to one another.
    """
    found = {}
    for name, node in coded_classes().items():
        own = [function for function in functions(node) if function.name == "__init__"]
        found[name] = code_place(own[0], bound=True) if own else 0
    methods = {
        id(item) for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
        for item in node.body
    }  # fmt: skip
    while True:
        before = len(found)
        for function in (function for tree in TREES.values() for function in functions(tree)):
            passes = any(
                isinstance(code_of(call, found), ast.Name) and code_of(call, found).id == "code"
                for call in calls(function)
                if name_of(call) in found
            )
            try:
                place = code_place(function, bound=id(function) in methods)
            except LookupError:
                continue
            if passes and function.name != "__init__":
                found.setdefault(function.name, place)
        if len(found) == before:
            return found


def code_of(call, places):
    """The expression of a call's code, or None if the call leaves it to a default."""
    place = places[name_of(call)]
    if place is not None and place < len(call.args):
        return call.args[place]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "code"), None)


def codes_in(expression, function):
    """The codes that an expression may have; FORWARDED for one that comes from another error or from a caller."""
    match expression:
        case ast.Constant(value=str(code)):
            return {code}
        case ast.IfExp():
            return codes_in(expression.body, function) | codes_in(expression.orelse, function)
        case ast.BoolOp():
            return set().union(*(codes_in(value, function) for value in expression.values))
        case ast.Attribute(attr="code"):
            return {FORWARDED}
        case ast.Name() if function is not None:
            parameters = [*function.args.args, *function.args.kwonlyargs]
            if expression.id in [argument.arg for argument in parameters]:
                return {FORWARDED}
            values = [
                node.value
                for node in ast.walk(function)
                if isinstance(node, ast.Assign) and expression.id in [getattr(t, "id", None) for t in node.targets]
            ]
            return set().union(*(codes_in(value, function) for value in values)) if values else {None}
    return {None}


PLACES = makers()
BY_STATUS = ("BY_STATUS",)  # of the service: the codes of bare HTTP statuses


def made_in(path):
    """(line, name, codes, whether a message follows) of every error and warning that a module makes."""
    tree = TREES[path]
    around = {id(call): function for function in functions(tree) for call in calls(function)}  # the innermost is last
    for call in calls(tree):
        if name_of(call) in PLACES:
            expression = code_of(call, PLACES)
            codes = {FORWARDED} if expression is None and PLACES[name_of(call)] is None else set()
            if expression is not None:
                codes = codes_in(expression, around.get(id(call)))
            elif not codes:
                codes = {None}
            yield call.lineno, name_of(call), codes, len(call.args) > 1 or PLACES[name_of(call)] is None
