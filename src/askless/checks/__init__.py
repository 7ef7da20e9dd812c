"""Checks that every policy, predictor, model and method must pass; run them on your own.

Each check is a small function with one property, found in `policies`, `predictors`, `models` and `methods` (a new one
is a function and a line in the module's `__all__`). Two ways to use them: `check_policy(...)` and its like run all
and raise `CheckFailed` at the first that fails; `policy_checks()` and its like list them for pytest's `parametrize`.
"""

from askless.checks.examples import example_cases, example_table
from askless.checks.methods import Trial
from askless.checks.running import Check, CheckFailed
from askless.checks.suites import (
    check_method,
    check_model,
    check_policy,
    check_predictor,
    method_checks,
    model_checks,
    policy_checks,
    predictor_checks,
)

__all__ = [
    "Check",
    "CheckFailed",
    "Trial",
    "check_method",
    "check_model",
    "check_policy",
    "check_predictor",
    "example_cases",
    "example_table",
    "method_checks",
    "model_checks",
    "policy_checks",
    "predictor_checks",
]
