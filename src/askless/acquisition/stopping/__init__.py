"""When to stop asking: rules, which combine with `&` and `|`."""

from askless.acquisition.progress import Progress
from askless.acquisition.stopping.certified import Certified
from askless.acquisition.stopping.json_form import list_rules, rule_from_json, rule_to_json, stopping_from_json
from askless.acquisition.stopping.rules import (
    NOTHING_LEFT,
    AllOf,
    AnyOf,
    Confidence,
    DecisionStable,
    InformationPerCost,
    MaxCost,
    MaxFeatures,
    Spread,
    StoppingRule,
    as_rules,
    check_rules,
    stop_reason,
)

__all__ = [
    "NOTHING_LEFT",
    "AllOf",
    "AnyOf",
    "Certified",
    "Confidence",
    "DecisionStable",
    "InformationPerCost",
    "MaxCost",
    "MaxFeatures",
    "Progress",
    "Spread",
    "StoppingRule",
    "as_rules",
    "check_rules",
    "list_rules",
    "rule_from_json",
    "rule_to_json",
    "stop_reason",
    "stopping_from_json",
]
