"""When to stop asking: rules, which combine with `&` and `|`.

Model files, the command line and the service name these classes; a new rule is one file and one line here.
"""

from askless.core.progress import Progress
from askless.core.stopping.base import NOTHING_LEFT, Rule, StoppingRule, as_rules, check_rules, stop_reason
from askless.core.stopping.certainty import Confidence, Spread
from askless.core.stopping.certified import Certified
from askless.core.stopping.combined import AllOf, AnyOf
from askless.core.stopping.decision import DecisionStable
from askless.core.stopping.json_form import list_rules, rule_from_json, rule_to_json, stopping_from_json
from askless.core.stopping.limits import MaxCost, MaxFeatures
from askless.core.stopping.worth import InformationPerCost

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
    "Rule",
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
