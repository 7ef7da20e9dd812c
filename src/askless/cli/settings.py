"""Small things a user gives beside the table: JSON files of prices and groups, settings of a method."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from askless.cli.parser import UsageError
from askless.hints import did_you_mean

if TYPE_CHECKING:
    from askless.methods import Method

__all__ = ["configured_method", "read_costs", "read_groups", "read_precedence", "read_prices"]


def read_costs(path: str | None) -> dict[str, Any] | None:
    """Prices by feature, or None without a file; whether the features exist is for the encoder to say."""
    return None if path is None else _read_object(path, '{"age": 1, "blood panel": 45}')


def read_prices(costs: str | None, panels: str | None) -> Any:
    """The prices of a fit: by feature, with panels where there are any, or None."""
    prices = read_costs(costs)
    if panels is None:
        return prices
    from askless.acquisition.costs import Panels

    data = _read_object(panels, '{"blood": {"sugar": 3, "cholesterol": 5}}')
    try:
        return Panels(prices or {}, data)
    except ValueError as error:
        raise ValueError(f"{panels}: {error}") from None


def read_precedence(path: str | None) -> dict[str, Any] | None:
    """What is asked only after what, or None without a file."""
    return None if path is None else _read_object(path, '{"biopsy": ["consent", "scan"]}')


def read_groups(path: str | None) -> dict[str, Any] | None:
    """Lists of columns by the name of their group, or None without a file."""
    return None if path is None else _read_object(path, '{"blood pressure": ["systolic", "diastolic"]}')


def _read_object(path: str, example: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        content = file.read()
    try:
        data = json.loads(content, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not JSON (line {error.lineno}, column {error.colno}: {error.msg})") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not JSON (it is not text)") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(data, dict):
        raise ValueError(f"{path} must hold an object such as {example}, not a {type(data).__name__}")
    return data


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, in which JSON itself would let the last of equal names win."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is there twice")
    return data


def configured_method(name: str, assignments: Sequence[str]) -> Method:
    """The method of that name with the settings that `--set NAME=VALUE` gave; values are JSON, or else text."""
    from askless.methods import find_method

    method = find_method(name)
    known = method.get_params(deep=False)
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or key not in known:
            hint = did_you_mean(key, known) if equals else "; give NAME=VALUE"
            raise UsageError(f"--set {assignment}: not a setting of {name!r}{hint}; there are {', '.join(known)}")
        value = _value(text)
        if not _alike(value, known[key]):
            raise UsageError(f"--set {assignment}: the value must be like the default, {json.dumps(known[key])}")
        method.set_params(**{key: value})
        try:
            method.check()
        except ValueError as error:
            raise UsageError(f"--set {assignment}: {error}") from None
    return method


def _value(text: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return tuple(value) if isinstance(value, list) else value


def _alike(value: Any, default: Any) -> bool:
    """Whether a value is of the type of the default; where that is None the method itself says what may be."""
    if default is None:
        return True
    if isinstance(default, float) and not isinstance(value, bool):
        return isinstance(value, (int, float))
    return type(value) is type(default)
