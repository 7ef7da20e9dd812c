"""The one place where the service meets the interview: how one begins, and what is shown of where it stands.

Costs, stopping rules and candidates are passed on here and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from askless.core import Candidate, Interview
from askless.core.costs import checked_price
from askless.service.answers import checked_answers
from askless.service.errors import invalid
from askless.service.models import ServedModel, label_text
from askless.service.rules import DEAREST, read_rules

__all__ = ["TERMS", "Terms", "begin", "leading", "predicted", "read_terms", "shares", "standing"]

LEADING = 5  # candidates that are shown
TERMS = ("known", "unavailable", "costs", "stopping")  # the fields of a request that are terms


@dataclass(frozen=True)
class Terms:
    """How one interview is to be led, apart from the model."""

    known: dict[str, Any] = field(default_factory=dict)  # beforehand, free
    unavailable: tuple[str, ...] = ()
    costs: dict[str, float] = field(default_factory=dict)  # other prices than the model's
    stopping: dict[str, Any] = field(default_factory=dict)  # rules by name

    @property
    def plain(self) -> bool:
        """Whether the interview is the model's own."""
        return not (self.known or self.unavailable or self.costs or self.stopping)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Terms:
        """The terms that `to_json` gave."""
        return cls(data["known"], tuple(data["unavailable"]), data["costs"], data["stopping"])

    def to_json(self) -> dict[str, Any]:
        """What is kept of an interview's beginning."""
        return {
            "known": self.known,
            "unavailable": list(self.unavailable),
            "costs": self.costs,
            "stopping": self.stopping,
        }


def read_terms(model: ServedModel, data: Mapping[str, Any]) -> Terms:
    """The terms in a request's body, checked."""
    if not any(name in data for name in TERMS):
        return Terms()
    unavailable = checked_names(model, data.get("unavailable", []), "unavailable")
    costs = data.get("costs", {})
    if not isinstance(costs, dict):
        raise invalid("costs must be an object of prices by feature", "costs")
    for name, price in costs.items():
        model.index(name, "costs")
        try:
            fits = checked_price(name, price) <= DEAREST
        except ValueError:
            fits = False
        if not fits:
            raise invalid(f"the cost of {name!r} must be a number from 0 to {DEAREST:g}", f"costs.{name}")
    stopping = data.get("stopping", {})
    read_rules(model, stopping)
    known = checked_answers(model, data.get("known", {}), "known")
    return Terms(known, tuple(unavailable), {name: float(price) for name, price in costs.items()}, stopping)


def checked_names(model: ServedModel, names: Any, where: str) -> list[str]:
    """A list of features' names."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise invalid(f"{where} must be a list of features' names", where)
    for name in names:
        model.index(name, where)
    return names


def begin(model: ServedModel, terms: Terms) -> Interview:
    """An interview of one case on these terms."""
    if terms.plain:
        return model.fresh.copy()
    budget, rules = read_rules(model, terms.stopping)
    return model.fitted.interview(
        known=terms.known,
        unavailable=terms.unavailable,
        max_features=budget,
        stopping=rules or None,
        costs=terms.costs or None,
        check_values=False,
    )


def leading(talk: Interview) -> tuple[Candidate, ...]:
    """The best candidates for the next question, the chosen one first."""
    return talk.leading(LEADING)


def shares(candidates: Sequence[Candidate]) -> list[float]:
    """How the preference is divided among candidates, for a picture: by what they tell, else a softmax of scores."""
    told = [each.information for each in candidates if each.information is not None]
    if told and len(told) == len(candidates) and sum(told) > 0:
        values = np.maximum(np.array([each.score for each in candidates]), 0.0)  # information, for its price
        if 0 < values.sum() < np.inf:
            return [float(share) for share in values / values.sum()]
    scores = np.array([each.score for each in candidates], dtype=np.float64)
    if not len(scores):
        return []
    weights = np.exp(np.nan_to_num(scores - np.nanmax(scores), nan=-50.0, neginf=-50.0))
    return [float(share) for share in weights / weights.sum()]


def predicted(prediction: Mapping[Any, float]) -> dict[str, float]:
    """A prediction with text for labels."""
    return {label_text(label): value for label, value in prediction.items()}


def standing(model: ServedModel, talk: Interview) -> dict[str, Any]:
    """Where an interview stands, as the API tells it."""
    question = talk.question
    shown = None
    if question is not None:
        shown = {**model.questions[model.schema.index(question.name)], "cost": question.cost}
    return {
        "model": model.name,
        "question": shown,
        "prediction": predicted(talk.prediction),
        "candidates": [
            {
                "name": each.name,
                "value": _finite(each.score),
                "information": None if each.information is None else _finite(each.information),
                "price": each.price,
            }
            for each in leading(talk)
        ],
        "done": talk.done,
        "stop_reason": talk.stop_reason,
        "asked": talk.count,
        "cost": talk.cost,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
