"""Rules as JSON: the full form of model files, and a short one for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from askless.acquisition.stopping.certified import Certified
from askless.acquisition.stopping.rules import (
    AllOf,
    AnyOf,
    Confidence,
    DecisionStable,
    InformationPerCost,
    MaxCost,
    MaxFeatures,
    Spread,
    StoppingRule,
    rule_name,
)
from askless.exceptions import ParameterError, bad_value, unknown_name

SINGLE = (Certified, Confidence, DecisionStable, InformationPerCost, MaxCost, MaxFeatures, Spread)
STORED: dict[str, type[StoppingRule]] = {rule.__name__: rule for rule in (*SINGLE, AllOf, AnyOf)}


def list_rules() -> dict[str, type[StoppingRule]]:
    """Every rule by its short name, without the two that combine others."""
    return {rule_name(rule): rule for rule in SINGLE}


def rule_to_json(rule: StoppingRule) -> dict[str, Any]:
    """A rule's name and configuration; an error where it is none that askless exports."""
    name = type(rule).__name__
    if STORED.get(name) is not type(rule):
        message = f"{name} cannot be saved: a file holds the rules of askless.acquisition.stopping only"
        raise ParameterError("cannot_save", message, name=name)
    if isinstance(rule, (AllOf, AnyOf)):
        return {"name": name, "config": {"rules": [rule_to_json(each) for each in rule.rules]}}
    return {"name": name, "config": rule.config()}


def rule_from_json(data: Mapping[str, Any]) -> StoppingRule:
    """The rule that `rule_to_json` described."""
    name, config = data["name"], dict(data["config"])
    if not isinstance(name, str) or name not in STORED:
        raise ParameterError("unknown_name", f"there is no stopping rule {name!r}; update askless", name=name)
    if "rules" in config:
        config["rules"] = tuple(rule_from_json(each) for each in config["rules"])
    return STORED[name](**config)


def stopping_from_json(data: Any) -> tuple[StoppingRule, ...]:
    """Rules in the short form, of which the first to fire stops.

    The names are those of the rules' classes in small letters; a value is the rule's first setting, or an object of
    its settings. `{"and": [...]}` stops where all the rules in the list do.

    >>> stopping_from_json({"confidence": 0.95, "max_cost": 20})
    (Confidence(probability=0.95), MaxCost(20))
    >>> stopping_from_json({"and": [{"max_features": 3}, {"confidence": 0.9}]})
    (AllOf(rules=(MaxFeatures(3), Confidence(probability=0.9))),)
    """
    if not isinstance(data, Mapping) or not data:
        raise bad_value("wrong_type", "stopping", data, 'an object such as {"confidence": 0.95}')
    known = list_rules()
    rules: list[StoppingRule] = []
    for name, value in data.items():
        if name in ("and", "or"):
            if not isinstance(value, (list, tuple)) or not value:
                raise ParameterError(
                    "wrong_type", f"{name!r} takes a list of stopping rules, not {value!r}", name=name, value=value
                )
            members = [stopping_from_json(each) for each in value]
            each = [rules[0] if len(rules) == 1 else AnyOf(rules) for rules in members]
            rules.append((AllOf if name == "and" else AnyOf)(tuple(each)))
            continue
        if name not in known:
            raise unknown_name("stopping rule", name, sorted(known))
        try:
            rules.append(known[name](**value) if isinstance(value, Mapping) else known[name](value))  # type: ignore[call-arg]
        except TypeError:
            settings = ", ".join(known[name].__dataclass_fields__)  # type: ignore[attr-defined]
            message = f"the stopping rule {name!r} has the settings {settings}, not {value!r}"
            raise ParameterError(
                "invalid_choice", message, name=name, value=value, choices=settings.split(", ")
            ) from None
    return tuple(rules)
