"""The only place where the service creates interviews and describes their state.

Costs, stopping rules and candidates are passed on here and nowhere else.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from askless.acquisition import Candidate, Interview
from askless.acquisition.costs import checked_price
from askless.exceptions import AsklessError, AsklessWarning
from askless.service.answers import checked_answers
from askless.service.errors import invalid, problem_of
from askless.service.models import ServedModel, label_text
from askless.service.rules import DEAREST, read_rules

__all__ = ["TERMS", "Terms", "begin", "leading", "predicted", "quiet", "read_terms", "shares", "standing"]

LEADING = 5  # candidates shown
TERMS = ("known", "unavailable", "costs", "stopping")  # the fields of a request that set the terms


@dataclass(frozen=True)
class Terms:
    """The options of one interview."""

    known: dict[str, Any] = field(default_factory=dict)  # free, not counted as asked
    unavailable: tuple[str, ...] = ()
    costs: dict[str, float] = field(default_factory=dict)  # used instead of the model's costs
    stopping: dict[str, Any] = field(default_factory=dict)  # rules by name

    @property
    def plain(self) -> bool:
        """Whether all options have their defaults."""
        return not (self.known or self.unavailable or self.costs or self.stopping)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Terms:
        """The terms that `to_json` returned."""
        return cls(data["known"], tuple(data["unavailable"]), data["costs"], data["stopping"])

    def to_json(self) -> dict[str, Any]:
        """The terms as JSON, for the store."""
        return {
            "known": self.known,
            "unavailable": list(self.unavailable),
            "costs": self.costs,
            "stopping": self.stopping,
        }


def read_terms(model: ServedModel, data: Mapping[str, Any]) -> Terms:
    """The checked terms of a request's body."""
    if not any(name in data for name in TERMS):
        return Terms()
    unavailable = checked_names(model, data.get("unavailable", []), "unavailable")
    costs = data.get("costs", {})
    if not isinstance(costs, dict):
        raise invalid("costs must be an object of costs by feature", "costs", code="wrong_type", name="costs")
    for name, price in costs.items():
        model.index(name, "costs")
        try:
            fits = checked_price(name, price) <= DEAREST
        except ValueError:
            fits = False
        if not fits:
            raise invalid(
                f"the cost of {name!r} must be a number from 0 to {DEAREST:g}",
                f"costs.{name}",
                code="out_of_range",
                name=name,
                low=0,
                high=DEAREST,
            )
    stopping = data.get("stopping", {})
    read_rules(model, stopping)
    known = checked_answers(model, data.get("known", {}), "known")
    return Terms(known, tuple(unavailable), {name: float(price) for name, price in costs.items()}, stopping)


def checked_names(model: ServedModel, names: Any, where: str) -> list[str]:
    """A checked list of feature names."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise invalid(f"{where} must be a list of feature names", where, code="wrong_type", name=where)
    for name in names:
        model.index(name, where)
    return names


def begin(model: ServedModel, terms: Terms) -> Interview:
    """A new interview of one case."""
    if terms.plain:
        return model.fresh.copy()
    budget, rules = read_rules(model, terms.stopping)
    try:
        with quiet():
            return model.fitted.interview(
                known=terms.known,
                unavailable=terms.unavailable,
                max_features=budget,
                stopping=rules or None,
                costs=terms.costs or None,
                check_values=False,  # the service checks them with its own limits
            )
    except AsklessError as error:
        raise problem_of(error) from None


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore warnings of askless: logs must not contain answers. Responses have the same remarks as `notes`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AsklessWarning)
        yield


def leading(interview: Interview) -> tuple[Candidate, ...]:
    """The best candidates for the next question, the chosen one first."""
    return interview.leading(LEADING)


def shares(candidates: Sequence[Candidate]) -> list[float]:
    """The share of each candidate, for the bars of the page: of information per cost, or a softmax of the scores."""
    information = [each.information for each in candidates if each.information is not None]
    if information and len(information) == len(candidates) and sum(information) > 0:
        values = np.maximum(np.array([each.score for each in candidates]), 0.0)  # information per cost
        if 0 < values.sum() < np.inf:
            return [float(share) for share in values / values.sum()]
    scores = np.array([each.score for each in candidates], dtype=np.float64)
    if not len(scores):
        return []
    weights = np.exp(np.nan_to_num(scores - np.nanmax(scores), nan=-50.0, neginf=-50.0))
    return [float(share) for share in weights / weights.sum()]


def predicted(prediction: Mapping[Any, float]) -> dict[str, float]:
    """A prediction with its labels as text."""
    return {label_text(label): value for label, value in prediction.items()}


def standing(model: ServedModel, interview: Interview) -> dict[str, Any]:
    """The state of an interview as the API returns it."""
    question = interview.question
    shown = None
    if question is not None:
        shown = {**model.questions[model.schema.index(question.name)], "cost": question.cost}
    return {
        "model": model.name,
        "question": shown,
        "prediction": predicted(interview.prediction),
        "candidates": [
            {
                "name": each.name,
                "value": _finite(each.score),
                "information": None if each.information is None else _finite(each.information),
                "price": each.price,
            }
            for each in leading(interview)
        ],
        "done": interview.done,
        "stop_reason": interview.stop_reason,
        "asked": interview.count,
        "cost": interview.cost,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
