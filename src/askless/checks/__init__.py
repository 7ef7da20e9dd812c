"""Checks that every policy, predictor, model and method must pass; run them on your own.

Each check is a small function with one property, found in `policies` and `models` (a new one is a
function and a line in the tuple at the end of its module). Two ways to use them: `check_policy(...)` and its like run
all and raise `CheckFailed` at the first that fails; `policy_checks()` and its like list them for pytest's
`parametrize`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args

import pandas as pd

from askless.acquisition import Cases, Policy, Predictor, Schema, Task
from askless.checks.examples import example_cases, example_table, rows_for
from askless.checks.models import METHOD_CHECKS, MODEL_CHECKS, Trial
from askless.checks.policies import PASSED, POLICY_CHECKS, PREDICTOR_CHECKS, CheckFailed, label
from askless.exceptions import TruthError
from askless.methods import Method, find_method
from askless.model import FittedModel

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

Check = Callable[..., str | None]
"""Raises `CheckFailed` where its property does not hold; a text that it returns says why it does not apply."""


def policy_checks() -> tuple[Check, ...]:
    """The checks of a policy: each takes the policy, its schema and some cases.

    >>> from askless.acquisition import Schema
    >>> from askless.models import Ranking
    >>> schema = Schema.of_numbers(["a", "b"])
    >>> for check in policy_checks():
    ...     reason_why_not = check(Ranking([1.0, 2.0]), schema, example_cases(schema))
    >>> [check.__name__ for check in policy_checks()][:2]
    ['attributes_are_spelt_right', 'scores_fit_the_features']
    """
    return POLICY_CHECKS


def predictor_checks() -> tuple[Check, ...]:
    """The checks of a predictor: each takes the predictor, its schema, some cases and the task.

    >>> [check.__name__ for check in predictor_checks()][:2]
    ['overrides_are_spelt_right', 'predictions_fit_the_outputs']
    """
    return PREDICTOR_CHECKS


def model_checks() -> tuple[Check, ...]:
    """The checks of a fitted model beyond those of its policy and predictor: each takes the model and a table.

    >>> [check.__name__ for check in model_checks()][:2]
    ['questions_obey_the_budget', 'groups_are_asked_as_a_whole']
    """
    return MODEL_CHECKS


def method_checks() -> tuple[Check, ...]:
    """The checks of a method beyond those of the models that it makes: each takes a `Trial`.

    >>> [check.__name__ for check in method_checks()][:2]
    ['fitting_leaves_its_input_alone', 'fitting_leaves_random_numbers_alone']
    """
    return METHOD_CHECKS


def check_policy(policy: Policy, schema: Schema, cases: Cases | None = None) -> dict[str, str]:
    """Run every check of a policy; random cases unless some are given.

    Returns "passed", or the reason why the check does not apply, by the check's name.

    >>> from askless.acquisition import Schema
    >>> from askless.models import Ranking
    >>> schema = Schema.of_numbers(["a", "b"])
    >>> check_policy(Ranking([2.0, 1.0]), schema)["hidden_values_do_not_matter"]
    'passed'
    >>> check_policy(Ranking([2.0, float("nan")]), schema)
    Traceback (most recent call last):
    askless.checks.policies.CheckFailed: scores_are_numbers failed. Ranking: 20 of 40 scores of open features are NaN
    (first: row 0, feature 'b')
    """
    return _run(policy_checks(), policy, schema, example_cases(schema) if cases is None else cases)


def check_predictor(
    predictor: Predictor, schema: Schema, cases: Cases | None = None, *, task: Task
) -> dict[str, str]:
    """Run every check of a predictor; random cases unless some are given.

    Returns "passed", or the reason why the check does not apply, by the check's name.

    >>> from askless.theory import gaussian_chain
    >>> problem = gaussian_chain()
    >>> check_predictor(problem, problem.schema, task="regression")["unknown_answers_say_nothing"]
    'passed'
    >>> check_predictor(problem, problem.schema, task="classification")
    Traceback (most recent call last):
    askless.checks.policies.CheckFailed: predictions_fit_the_outputs failed. GaussianProblem: predictions of a
    classification have the shape (20, 1)
    """
    return _run(predictor_checks(), predictor, schema, example_cases(schema) if cases is None else cases, task)


def check_model(model: Any, table: pd.DataFrame | None = None) -> dict[str, str]:
    """Run every check of a fitted estimator (or `FittedModel`), of its policy and of its predictor.

    The table is a pandas frame with the model's columns, of about 20 rows; without one, random rows are made.

    >>> from askless import DynamicClassifier
    >>> from askless.checks import example_table
    >>> from askless.methods import FixedOrder
    >>> X, y = example_table("classification")
    >>> model = DynamicClassifier(2, method=FixedOrder(epochs=1, hidden=(8,))).fit(X, y)
    >>> check_model(model)["interviews_agree_with_rollouts"]
    'passed'
    """
    fitted: FittedModel = getattr(model, "model_", model)
    rows = rows_for(fitted) if table is None else table
    cases = fitted.encoder.transform(rows)
    return {
        **check_policy(fitted.policy, fitted.schema, cases),
        **check_predictor(fitted.predictor, fitted.schema, cases, task=fitted.task),
        **_run(model_checks(), fitted, rows),
    }


def check_method(method: str | Method) -> dict[str, dict[str, str]]:
    """Fit a method to a small classification and a small regression, twice each, and run every check on the results.

    The tables have a group, categories, booleans and missing values; a method that needs images gets small ones, with
    missing pixels. Returns the results by task.

    >>> from askless.methods import Random
    >>> results = check_method(Random(epochs=1, hidden=(8,)))
    >>> results["regression"]["the_same_seed_gives_the_same_file"]
    'passed'
    >>> results["regression"]["scores_of_a_row_are_its_own"]
    "it is stochastic: what it draws for a case depends on the case's place in the batch"
    """
    results = {}
    for task in get_args(Task):
        trial = Trial.of(find_method(method), task)
        results[task] = _run(method_checks(), trial) | check_model(trial.first)
    return results


def _run(checks: Iterable[Check], subject: object, *rest: Any) -> dict[str, str]:
    results = {}
    for check in checks:
        try:
            reason = check(subject, *rest)
        except TruthError as error:  # a control for experiments
            if not _looks_at_the_truth(subject):
                raise CheckFailed(f"{check.__name__} failed. {label(subject)} raised {error!r}") from error
            reason = "it looks at the truth, and is refused for it: what needs a roll-out cannot be checked"
        except CheckFailed as failure:
            raise CheckFailed(f"{check.__name__} failed. {failure}") from failure
        except Exception as error:
            raise CheckFailed(f"{check.__name__} failed. {label(subject)} raised {error!r}") from error
        results[check.__name__] = reason or PASSED
    return results


def _looks_at_the_truth(subject: object) -> bool:
    """Whether a policy, or that of a model or a trial, says that it does."""
    model = getattr(getattr(subject, "first", subject), "model_", subject)
    policy = getattr(model, "policy", model)
    return isinstance(policy, Policy) and policy.needs_truth
