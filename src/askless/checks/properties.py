"""Properties that policies and predictors share: both turn a state into an array."""

from __future__ import annotations

import pickle
from abc import ABCMeta
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from askless.acquisition import State
from askless.checks.running import require

Call = Callable[[Any, State], np.ndarray]  # the subject and a state to (n, m)

MISSPELT = 0.8  # similarity of two names, from 0 to 1
TOLERANCE = 1e-4  # sums of single precision depend on how many rows there are


def derives_from(subject: Any, base: ABCMeta) -> None:
    """The class derives from the base class, and none of its attributes is a misspelt one of the base class."""
    require(isinstance(subject, base), subject, f"it does not derive from askless.acquisition.{base.__name__}")
    required = base.__abstractmethods__  # a class without them cannot make an object
    expected = [name for name in vars(base) if not name.startswith("_") and name not in required]
    own = {name for kind in type(subject).__mro__ if not issubclass(base, kind) for name in vars(kind)}
    own |= vars(subject).keys() if hasattr(subject, "__dict__") else set()
    for name in sorted(own - set(expected) - required):
        meant = get_close_matches(name, expected, n=1, cutoff=MISSPELT)
        require(not meant, subject, f"its attribute {name!r} looks like a misspelt {meant[0] if meant else ''!r}")


def leaves_state_alone(subject: Any, call: Call, states: Sequence[State]) -> None:
    """The arrays of the state are as they were."""
    for state in states:
        mine = State(state.x.copy(), state.asked.copy(), state.known.copy())
        call(subject, mine)
        for name in ("x", "asked", "known"):
            before, after = getattr(state, name), getattr(mine, name)
            changed = int(np.sum(before != after))
            require(changed == 0, subject, f"it changed {changed} of {before.size} entries of the state's {name}")


def does_not_share(subject: Any, call: Call, states: Sequence[State]) -> None:
    """What one call returned is neither the state's memory nor changed by, or of influence on, the next call."""
    first, other = states[1], states[2]
    result = call(subject, first)
    for name in ("x", "asked", "known"):
        require(
            not np.shares_memory(result, getattr(first, name)), subject, f"its result is a view of the state's {name}"
        )
    kept = result.copy()
    call(subject, other)
    changed = int(np.sum(~same(kept, result)))
    require(changed == 0, subject, f"a second call changed {changed} of {kept.size} numbers that the first returned")
    if result.flags.writeable:
        result[...] = 7.0
        again = call(subject, first)
        wrong = int(np.sum(~same(kept, again)))
        require(wrong == 0, subject, f"writing into its result changed {wrong} of {kept.size} numbers of the next")


def repeats(subject: Any, call: Call, states: Sequence[State]) -> None:
    """The same state gives the same numbers, bit for bit."""
    for state in states:
        _require_same(subject, call(subject, state).copy(), call(subject, state), "a second call with the same state")


def treats_rows_alone(subject: Any, call: Call, states: Sequence[State]) -> None:
    """A row alone gives what it gives among others, but for rounding."""
    for state in states:
        many = call(subject, state)
        alone = np.concatenate([call(subject, _row(state, i)) for i in range(len(state))])
        off = np.flatnonzero(~close(many, alone).all(axis=1))
        worst = float(np.nanmax(np.abs(many - alone))) if len(off) else 0.0
        require(
            not len(off), subject, f"{len(off)} of {len(many)} rows give other numbers alone (by up to {worst:.3g})"
        )


def survives_pickling(subject: Any, call: Call, states: Sequence[State]) -> None:
    """A pickled copy gives the same numbers, bit for bit."""
    copy = pickle.loads(pickle.dumps(subject))
    for state in states:
        _require_same(subject, call(subject, state), call(copy, state), "its pickled copy")


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays hold the same numbers, NaN for NaN."""
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))


def close(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays agree but for rounding."""
    scale = max(1.0, float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))))
    return np.asarray(np.isclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True))


def _require_same(subject: Any, expected: np.ndarray, found: np.ndarray, what: str) -> None:
    wrong = int(np.sum(~same(expected, found))) if expected.shape == found.shape else expected.size
    require(wrong == 0, subject, f"{what} gives {wrong} of {expected.size} numbers differently")


def _row(state: State, i: int) -> State:
    return State(state.x[i : i + 1], state.asked[i : i + 1], state.known[i : i + 1])
