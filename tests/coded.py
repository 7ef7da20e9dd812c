"""Errors and warnings are tested by code and fields, so that their messages can be improved."""

import warnings
from contextlib import contextmanager

import pytest


@contextmanager
def raises(error, code, **fields):
    """`pytest.raises` for an error of this class, code and fields; fields that are not named may have any value."""
    with pytest.raises(error) as caught:
        yield caught
    _check(caught.value, code, fields)


@contextmanager
def warns(category, code, **fields):
    """Like `pytest.warns`: at least one warning of this class, code and fields. Yields the list of all warnings."""
    with pytest.warns(category) as caught:
        yield caught
    found = [item.message for item in caught if isinstance(item.message, category)]
    assert any(_fits(message, code, fields) for message in found), [_described(message) for message in found]


@contextmanager
def no_warning(category=Warning):
    """No warning of this class is given."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", category)
        yield


def _fits(problem, code, fields):
    return problem.code == code and all(problem.fields.get(name) == value for name, value in fields.items())


def _check(problem, code, fields):
    assert _fits(problem, code, fields), f"{_described(problem)} instead of {code} {fields}"


def _described(problem):
    return f"{type(problem).__name__} {problem.code} {problem.fields}: {problem.message}"
