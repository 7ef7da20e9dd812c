"""The stopping rules of a request: a number for each rule. The first rule to fire stops the interview."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from askless.acquisition import MaxFeatures
from askless.acquisition.stopping import StoppingRule, stopping_from_json
from askless.hints import did_you_mean, listed, nearest
from askless.service.errors import invalid
from askless.service.models import ServedModel

__all__ = ["DEAREST", "budget_of", "read_rules", "rule_schemas"]

MOST_QUESTIONS = 1_000_000
DEAREST = 1e9  # a higher cost is a mistake

NEEDS = {  # rules that some models do not support, and why
    "confidence": "needs a classifier",
    "decision_stable": "needs a classifier with stored training rows; fit the model with reference_rows=256",
    "spread": "needs a regression model that predicts its spread",
    "information_per_cost": "needs a method whose scores are information",
}

Schema = dict[str, Any]


def rule_schemas(model: ServedModel) -> dict[str, Schema]:
    """The JSON schema of each rule that this model supports."""
    fitted = model.fitted
    chance = {"type": "number", "minimum": 0, "maximum": 1}
    amount = {"type": "number", "minimum": 0, "maximum": DEAREST}
    rules: dict[str, Schema] = {
        "max_features": {"type": "integer", "minimum": 1, "maximum": MOST_QUESTIONS},
        "max_cost": amount,
    }
    if fitted.classes:
        rules["confidence"] = chance
        if fitted.reference is not None:
            rules["decision_stable"] = chance
    elif fitted.predicts_spread:
        rules["spread"] = amount
    if fitted.informative:
        rules["information_per_cost"] = amount
    return rules


def read_rules(model: ServedModel, stopping: Any) -> tuple[int | None, list[StoppingRule]]:
    """The budget and the other rules of an object such as `{"max_features": 5, "confidence": 0.95}`, checked."""
    if not isinstance(stopping, Mapping):
        raise invalid("stopping must be an object of rules by name", "stopping", code="wrong_type", name="stopping")
    known = rule_schemas(model)
    budget: int | None = None
    rules: list[StoppingRule] = []
    for name, setting in stopping.items():
        where = f"stopping.{name[:60]}"
        if name not in known:
            if name in NEEDS:
                raise invalid(f"the stopping rule {name!r} {NEEDS[name]}", where, code="not_supported", name=name)
            raise invalid(
                f"unknown stopping rule{did_you_mean(name, known)}; this model supports {listed(known)}",
                where,
                code="unknown_name",
                name=name[:60],
                nearest=nearest(name, known),
                choices=list(known),
            )
        schema = known[name]
        number = isinstance(setting, (int, float)) and not isinstance(setting, bool)
        whole = schema["type"] == "number" or (number and float(setting).is_integer())  # 3.0 is 3 in JSON
        if not number or not whole or not schema["minimum"] <= setting <= schema["maximum"]:
            kind = "a whole number" if schema["type"] == "integer" else "a number"
            raise invalid(
                f"{name} must be {kind} from {schema['minimum']} to {schema['maximum']:g}",
                where,
                code="out_of_range",
                name=name,
                low=schema["minimum"],
                high=schema["maximum"],
            )
        if name == "max_features":
            budget = int(setting)
        else:
            rules.extend(stopping_from_json({name: setting}))
    return budget, rules


def budget_of(rules: tuple[StoppingRule, ...]) -> int | None:
    """The largest number of questions, if a rule limits it."""
    return min((rule.limit for rule in rules if isinstance(rule, MaxFeatures)), default=None)
