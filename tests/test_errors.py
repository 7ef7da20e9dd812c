"""Every error and warning has a code of `askless.exceptions.CODES`, and docs/errors.md lists these codes.

PYTHONPATH=src python -m tests.test_errors        writes the table of docs/errors.md again
"""

import ast
import re
from pathlib import Path

import pytest

from askless.exceptions import CODES

ROOT = Path(__file__).parents[1]
SOURCE, PAGE = ROOT / "src" / "askless", ROOT / "docs" / "errors.md"
TREES = {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}
TABLE = re.compile(r"\| code \| meaning \|\n\|---\|---\|\n(?:\|.*\|\n)*")

# Functions that make an error or a warning from a code: the position or the keyword of the code.
HELPERS = {"bad_value": 0, "complain": 1, "conflict": "code", "damaged": 2, "fail": 0, "invalid": "code", "note": 1}
PAIRS = {"cli/remarks.py", "cli/unseen.py"}  # modules that yield notes: pairs of a code and a message
# Modules that forward a code in a variable: every word in them may be a code.
FORWARDING = {
    "cli/errors.py",
    "cli/fit.py",
    "experiments/toml_file.py",
    "methods/settings.py",
    "metrics.py",
    "remarks.py",
    "service/errors.py",
}


def coded_classes():
    """The names of the classes that derive from AsklessError and AsklessWarning, and the place of their code."""
    classes = [node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {"AsklessError": 0, "AsklessWarning": 0}
    for _ in range(5):  # levels of inheritance
        for node in classes:
            if found.keys() & {base.id for base in node.bases if isinstance(base, ast.Name)}:
                own = any(isinstance(item, ast.FunctionDef) and item.name == "__init__" for item in node.body)
                found[node.name] = "code" if own else 0
    return found


CLASSES = coded_classes()
PLACES = CLASSES | HELPERS


def name_of(node):
    """The last name of an expression: `fail` for `self.file.fail`; None if it has none."""
    return getattr(node, "attr", getattr(node, "id", None))


def code_of(call):
    """The expression of the code in a call; None if the call has none."""
    place = PLACES[name_of(call.func)]
    if isinstance(place, int):
        return call.args[place] if place < len(call.args) else None
    return next((keyword.value for keyword in call.keywords if keyword.arg == place), None)


def literals(expression):
    """The codes of an expression: one, two of a conditional expression, or none of a variable or `error.code`."""
    if isinstance(expression, ast.IfExp):
        return literals(expression.body) | literals(expression.orelse)
    return {expression.value} if isinstance(expression, ast.Constant) else set()


def is_forwarded(expression):
    """Whether the code is that of another error."""
    return isinstance(expression, ast.Attribute) and expression.attr == "code"


def in_helper(module, node):
    """Whether a call is in one of the helpers, which take the code from their caller."""
    functions = (each for each in ast.walk(TREES[module]) if isinstance(each, ast.FunctionDef))
    return any(each.lineno <= node.lineno <= each.end_lineno for each in functions if each.name in HELPERS)


def problems_of(module):
    """What is wrong with the codes in a module."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Raise) and name_of(node.exc) in CLASSES:
            yield f"line {node.lineno}: {name_of(node.exc)} is raised without a code"
        if module in PAIRS and isinstance(node, ast.Yield):
            yield from problems_of_pair(node)
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        if name == "warn" and any(name_of(argument) in CLASSES for argument in node.args):
            yield f"line {node.lineno}: a warning without a code"
        if name not in PLACES:
            continue
        code, codes = code_of(node), literals(code_of(node))
        if CLASSES.get(name) == 0:
            if len(node.args) != 2:
                yield f"line {node.lineno}: {name} needs a code and a message"
                continue
            if not (codes or is_forwarded(code) or in_helper(module, node) or module in FORWARDING):
                yield f"line {node.lineno}: the code of {name} is not literal"
        for unknown in codes - CODES.keys():
            yield f"line {node.lineno}: {name} has the code {unknown!r}, which is not in CODES"


def problems_of_pair(node):
    """What is wrong with the code of a yielded note."""
    code = node.value.elts[0] if isinstance(node.value, ast.Tuple) else node.value
    if not (literals(code) or is_forwarded(code)):
        yield f"line {node.lineno}: the code of a note is not literal"
    for unknown in literals(code) - CODES.keys():
        yield f"line {node.lineno}: a note has the code {unknown!r}, which is not in CODES"


def used_codes():
    """Every literal code in the source."""
    used = set()
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and name_of(node.func) in PLACES:
                used |= literals(code_of(node))
            elif module in PAIRS and isinstance(node, ast.Yield):
                used |= literals(node.value.elts[0])
            elif module in FORWARDING and isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.add(node.value)
    return used


def table():
    """The table of docs/errors.md."""
    rows = [f"| `{code}` | {meaning} |" for code, meaning in CODES.items()]
    return "\n".join(["| code | meaning |", "|---|---|", *rows, ""])


@pytest.mark.parametrize("module", TREES)
def test_every_error_and_warning_has_a_code(module):
    assert list(problems_of(module)) == []


def test_the_check_finds_errors_without_a_code(monkeypatch):
    wrong = {
        "ParameterError('max_features is 0')": "needs a code and a message",
        "ParameterError('no_such_code', 'a message')": "has the code 'no_such_code'",
        "ParameterError(some_variable, 'a message')": "is not literal",
        "raise TableError": "without a code",
        "warnings.warn('a message', AsklessWarning)": "without a code",
        "section.fail('no_such_code', key, 'a message')": "has the code 'no_such_code'",
    }
    for source, problem in wrong.items():
        monkeypatch.setitem(TREES, "wrong.py", ast.parse(source))
        (found,) = problems_of("wrong.py")
        assert problem in found
    monkeypatch.setattr("tests.test_errors.PAIRS", {"wrong.py"})
    for code, problem in {"'no_such_code'": "has the code 'no_such_code'", "code": "is not literal"}.items():
        monkeypatch.setitem(TREES, "wrong.py", ast.parse(f"def notes():\n    yield {code}, 'a message'"))
        (found,) = problems_of("wrong.py")
        assert problem in found
    right = "raise ParameterError('required' if a else 'wrong_type', 'a message', name='a')"
    for source in (right, "ParameterError(error.code, f'{path}: {error}', **error.fields)"):
        monkeypatch.setitem(TREES, "right.py", ast.parse(source))
        assert list(problems_of("right.py")) == []


def test_every_code_is_used():
    assert set(CODES) - used_codes() == set()


def test_every_code_is_listed_once_with_a_sentence():
    tree = TREES["exceptions.py"]
    (keys,) = [
        [key.value for key in node.value.keys]
        for node in tree.body
        if isinstance(node, ast.Assign) and name_of(node.targets[0]) == "CODES"
    ]
    assert sorted(keys) == sorted(set(keys))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in CODES)
    assert all(re.fullmatch(r"[A-Z`][^|\n]*\.", meaning) for meaning in CODES.values())


def test_the_page_lists_the_codes():
    assert TABLE.findall(PAGE.read_text()) == [table()], "`python -m tests.test_errors` writes the table again"


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text(), count=1))
