"""JSON files of costs, groups and precedence, and the settings of a method."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from askless.cli.parser import UsageError
from askless.exceptions import AsklessError, ParameterError
from askless.hints import did_you_mean, nearest

if TYPE_CHECKING:
    from askless.methods import Method

__all__ = [
    "check_is_file_name",
    "configured_method",
    "errors_of_settings",
    "read_costs",
    "read_groups",
    "read_precedence",
    "read_prices",
]

LONGEST = 60  # characters of JSON that a message shows


def read_costs(path: str | None) -> dict[str, Any] | None:
    """Costs by feature; None without a file. The encoder checks the names."""
    return None if path is None else _read_object(path, '{"age": 1, "blood panel": 45}')


def read_prices(costs: str | None, panels: str | None) -> Any:
    """The costs of a fit: by feature, or a `Panels` cost model if there are panels; None without files."""
    prices = read_costs(costs)
    if panels is None:
        return prices
    from askless.acquisition.costs import Panels

    data = _read_object(panels, '{"blood": {"sugar": 3, "cholesterol": 5}}')
    try:
        return Panels(prices or {}, data)
    except AsklessError as error:
        raise ParameterError(error.code, f"{panels}: {error.message}", **{**error.fields, "path": panels}) from None


def read_precedence(path: str | None) -> dict[str, Any] | None:
    """The features that must be asked before others; None without a file."""
    return None if path is None else _read_object(path, '{"biopsy": ["consent", "scan"]}')


def read_groups(path: str | None) -> dict[str, Any] | None:
    """Lists of columns by the name of their group; None without a file."""
    return None if path is None else _read_object(path, '{"blood pressure": ["systolic", "diastolic"]}')


@contextmanager
def errors_of_settings(paths: Mapping[str, str | None]) -> Iterator[None]:
    """Add the name of the JSON file to errors in its content; `paths` are the files by setting."""
    try:
        yield
    except AsklessError as error:
        path = paths.get(str(error.fields.get("setting", error.fields.get("name"))))
        if path is None:
            raise
        raise ParameterError(error.code, f"{path}: {error.message}", **{**error.fields, "path": path}) from None


def check_is_file_name(path: str) -> None:
    """Refuse JSON where the name of a JSON file is expected."""
    if path.lstrip().startswith("{") and not os.path.exists(path):
        message = f"a JSON file is expected; {path[:LONGEST]!r} looks like JSON itself; write it to a file"
        raise UsageError("file_not_found", message, value=path)


def _read_object(path: str, example: str) -> dict[str, Any]:
    check_is_file_name(path)
    with open(path, "rb") as file:
        content = file.read()
    try:
        data = json.loads(content, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        message = f"{path} is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        raise ParameterError("unreadable_file", message, path=path) from None
    except UnicodeDecodeError:
        raise ParameterError("unreadable_file", f"{path} is not valid JSON (it is not text)", path=path) from None
    except ParameterError as error:
        raise ParameterError(error.code, f"{path}: {error.message}", path=path, **error.fields) from None
    if not isinstance(data, dict):
        message = f"{path} must contain an object such as {example}, not a {type(data).__name__}"
        raise ParameterError("wrong_type", message, path=path)
    return data


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. A plain `dict` would keep only the last of equal names."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ParameterError("duplicate_name", f"{repeated!r} occurs twice", name=repeated)
    return data


def configured_method(name: str, assignments: Sequence[str]) -> Method:
    """The method of that name with the settings of `--set NAME=VALUE`. Values are JSON, or else text."""
    from askless.methods import find_method

    method = find_method(name)
    known = method.get_params(deep=False)
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            message = f"--set {assignment}: write NAME=VALUE; the settings of {name!r} are {', '.join(known)}"
            raise UsageError("usage", message, option="--set", value=assignment, choices=list(known))
        if key not in known:
            raise UsageError(
                "unknown_name",
                f"--set {assignment}: {name!r} has no setting {key!r}{did_you_mean(key, known)}; "
                f"its settings are {', '.join(known)}",
                option="--set",
                name=key,
                nearest=nearest(key, known),
                choices=list(known),
            )
        value = _value(text)
        if not _alike(value, known[key]):
            message = f"--set {assignment}: the value must have the type of the default, {json.dumps(known[key])}"
            raise UsageError("wrong_type", message, option="--set", name=key, value=value)
        method.set_params(**{key: value})
        try:
            method.check()
        except AsklessError as error:
            message = f"--set {assignment}: {error.message}"
            raise UsageError(error.code, message, **{**error.fields, "option": "--set"}) from None
    return method


def _value(text: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return tuple(value) if isinstance(value, list) else value


def _alike(value: Any, default: Any) -> bool:
    """Whether a value has the type of the default. If the default is None, the method checks the type."""
    if default is None:
        return True
    if isinstance(default, float) and not isinstance(value, bool):
        return isinstance(value, (int, float))
    return type(value) is type(default)
