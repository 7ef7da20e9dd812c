"""Which features may be asked only after others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askless.acquisition.schema import Schema
from askless.exceptions import ParameterError, bad_value


@dataclass(frozen=True, eq=False)
class Precedence:
    """`needs[b, a]`: b is asked only once a was asked, whatever the answer, or is known.

    >>> rule = Precedence.of({"result": ["consent"]}, Schema.of_numbers(["result", "consent"]))
    >>> rule.blocked(np.array([[False, False], [False, True]])).tolist()
    [[True, False], [False, False]]
    """

    needs: np.ndarray  # (features, features) bool

    @classmethod
    def of(cls, precedence: Mapping[str, Sequence[str]] | None, schema: Schema) -> Precedence | None:
        """From names; None where nothing comes before anything. Unknown names and circles are errors."""
        needs = np.zeros((len(schema), len(schema)), dtype=bool)
        for later, firsts in checked_precedence(precedence).items():
            for first in firsts:
                needs[schema.index(later), schema.index(first)] = True
        if not needs.any():
            return None
        _refuse_circles(needs, schema.names)
        return cls(needs)

    def blocked(self, asked: np.ndarray) -> np.ndarray:
        """(n, features) bool: what has to wait, given what was asked (n, features)."""
        blocked: np.ndarray = ~asked @ self.needs.T  # boolean products: some needed feature was not asked
        return blocked


def checked_precedence(precedence: Any) -> dict[str, list[str]]:
    """`{"later": ["first", ...]}`, if it has that form; whether the features exist is for a schema to say."""
    if precedence is None:
        return {}
    if not isinstance(precedence, Mapping):
        raise bad_value("wrong_type", "precedence", precedence, "a mapping such as {'later': ['first']}")
    for later, firsts in precedence.items():
        if isinstance(firsts, (str, bytes)) or not isinstance(firsts, Sequence):
            message = f"precedence of {later!r} must be a list of features, not {firsts!r}"
            raise ParameterError("wrong_type", message, name="precedence", feature=later, value=firsts)
    return {str(later): [str(first) for first in firsts] for later, firsts in precedence.items()}


def _refuse_circles(needs: np.ndarray, names: tuple[str, ...]) -> None:
    """Take away what waits for nothing that is left, until nothing is; what cannot be taken away is in a circle."""
    left = np.ones(len(needs), dtype=bool)
    while True:
        free = left & ~(needs & left).any(axis=1)
        if not free.any():
            break
        left &= ~free
    if left.any():
        path = [int(np.argmax(left))]
        while path.count(path[-1]) < 2:
            path.append(int(np.argmax(needs[path[-1]] & left)))
        circle = [names[i] for i in path[path.index(path[-1]) :]]
        raise ParameterError(
            "conflicting_settings",
            "precedence goes in a circle: " + " after ".join(map(repr, circle)),
            name="precedence",
            features=circle,
        )
