"""What must hold of every policy: one function each, called with the policy, its schema and some cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from askless.acquisition import (
    Cases,
    Context,
    Interview,
    MaxFeatures,
    Missing,
    Policy,
    Predictor,
    Schema,
    State,
    Trajectory,
    rollout,
)
from askless.checks import properties
from askless.checks.examples import example_states, swapped_cases
from askless.checks.running import require

__all__ = [
    "attributes_are_spelt_right",
    "hidden_values_do_not_matter",
    "pickling_keeps_the_scores",
    "questions_obey_the_rules",
    "scores_are_not_shared",
    "scores_are_numbers",
    "scores_fit_the_features",
    "scores_leave_the_state_alone",
    "scores_of_a_row_are_its_own",
    "scores_repeat",
    "truth_is_refused",
]

DEEPEST = 8  # questions; more make a check slow and no stricter


def attributes_are_spelt_right(policy: Policy, schema: Schema, cases: Cases) -> None:
    """It derives from `Policy`, and none of its attributes looks like a misspelt one of the base class."""
    properties.derives_from(policy, Policy)


def scores_fit_the_features(policy: Policy, schema: Schema, cases: Cases) -> None:
    """Scores are floating-point numbers of shape (n, features), for one row and for many."""
    for state in example_states(schema, cases):
        for rows in (slice(None), slice(0, 1)):
            some = State(state.x[rows], state.asked[rows], state.known[rows])
            scores = _score(policy, some, cases.x[rows])
            require(
                scores.shape == some.asked.shape,
                policy,
                f"scores for {len(some)} rows and {len(schema)} features have the shape {scores.shape}",
            )
            require(scores.dtype.kind == "f", policy, f"scores are {scores.dtype}, not floating-point numbers")


def scores_are_numbers(policy: Policy, schema: Schema, cases: Cases) -> None:
    """No feature that can be asked has NaN for a score."""
    for state in example_states(schema, cases):
        wrong = np.argwhere(np.isnan(_score(policy, state, cases.x)) & ~state.asked)
        first = f" (first: row {wrong[0, 0]}, feature {schema.names[wrong[0, 1]]!r})" if len(wrong) else ""
        possible = int(np.sum(~state.asked))
        require(not len(wrong), policy, f"{len(wrong)} of {possible} scores of open features are NaN{first}")


def scores_leave_the_state_alone(policy: Policy, schema: Schema, cases: Cases) -> None:
    """Scoring does not change the arrays of the state."""
    properties.leaves_state_alone(policy, _call(cases), example_states(schema, cases))


def scores_are_not_shared(policy: Policy, schema: Schema, cases: Cases) -> None:
    """The scores of one call are no view of the state, and do not change with the next call."""
    properties.does_not_share(policy, _call(cases), example_states(schema, cases))


def scores_repeat(policy: Policy, schema: Schema, cases: Cases) -> None:
    """The same state has the same scores."""
    properties.repeats(policy, _call(cases), example_states(schema, cases))


def hidden_values_do_not_matter(policy: Policy, schema: Schema, cases: Cases) -> str | None:
    """A value that was not asked can change without changing any question up to that point."""
    if policy.needs_truth:
        return "it says that it looks at the truth, and is refused for it (truth_is_refused)"
    modes: tuple[Missing, ...] = ("skip", "answer")
    for missing in modes:
        before = _questions(policy, schema, cases, DEEPEST, missing=missing)
        for step in range(before.order.shape[1]):
            other = swapped_cases(cases, schema, before.selected(step), step, presence=missing == "answer")
            after = _questions(policy, schema, other, step + 1, missing=missing)
            width = min(step + 1, after.order.shape[1])
            same = after.order[:, :width] == before.order[:, :width]
            peeked = np.flatnonzero(~same.all(axis=1))
            require(
                width == step + 1 and not len(peeked),
                policy,
                f"it peeks: other values in what had not been asked changed one of the first {step + 1} questions "
                f"of {len(peeked)} of {len(cases)} cases (missing={missing!r})",
            )
    return None


def scores_of_a_row_are_its_own(policy: Policy, schema: Schema, cases: Cases) -> str | None:
    """A row alone has the scores that it has among others."""
    if policy.stochastic:
        return "it is stochastic: what it draws for a case depends on the case's place in the batch"
    if policy.needs_truth:
        return "it looks at the truth of the whole batch"
    properties.treats_rows_alone(policy, _call(cases), example_states(schema, cases))
    return None


def questions_obey_the_rules(policy: Policy, schema: Schema, cases: Cases) -> None:
    """No case is asked twice, nor for what is known, unavailable, or missing where missing values are skipped."""
    rng = np.random.default_rng(0)
    shape = (len(cases), len(schema))
    available, known = rng.random(shape) < 0.8, rng.random(shape) < 0.2
    modes: tuple[Missing, ...] = ("skip", "answer")
    for missing in modes:
        t = _questions(policy, schema, cases, len(schema), missing=missing, available=available, known=known)
        allowed = available & ~known & (cases.present | (missing == "answer"))
        asked = t.selected(len(schema))
        twice = int(t.n_asked.sum() - asked.sum())
        require(twice == 0, policy, f"{twice} questions were asked twice")
        wrong, left = int(np.sum(asked & ~allowed)), int(np.sum(allowed & ~asked))
        require(wrong == 0, policy, f"{wrong} questions were not allowed (missing={missing!r})")
        require(left == 0, policy, f"{left} questions that were allowed were never asked (missing={missing!r})")


def truth_is_refused(policy: Policy, schema: Schema, cases: Cases) -> str | None:
    """A policy that needs the truth is refused by roll-outs and interviews."""
    if not policy.needs_truth:
        return "it does not look at the truth"
    nothing = _Nothing()

    def interview() -> Interview:
        how: dict[str, Any] = {"stopping": None, "describe": lambda output, state: {}}
        return Interview(Context(policy, nothing, schema), nothing, **how)

    require_refusal(policy, "a roll-out", lambda: rollout(policy, nothing, cases, schema))
    require_refusal(policy, "an interview", interview)
    return None


def pickling_keeps_the_scores(policy: Policy, schema: Schema, cases: Cases) -> None:
    """A pickled copy gives the same scores."""
    properties.survives_pickling(policy, _call(cases), example_states(schema, cases))


def require_refusal(subject: object, what: str, use: Callable[[], object]) -> None:
    """Raise `CheckFailed` unless `use` refuses a policy that looks at the truth."""
    try:
        use()
    except ValueError:
        return
    require(False, subject, f"{what} took a policy that looks at the truth")


class _Nothing(Predictor):
    """Predicts nothing and understands no answer."""

    def predict(self, state: State) -> np.ndarray:
        return np.zeros((len(state), 1))

    def encode_answer(self, feature: int, answer: Any) -> None:
        return None


def _questions(policy: Policy, schema: Schema, cases: Cases, budget: int, **how: Any) -> Trajectory:
    return rollout(policy, _Nothing(), cases, schema, stopping=MaxFeatures(budget), allow_truth=True, **how)


def _score(policy: Policy, state: State, truth: np.ndarray) -> np.ndarray:
    if policy.needs_truth:
        return np.asarray(policy.score_with_truth(state, truth))
    return np.asarray(policy.score(state))


def _call(cases: Cases) -> properties.Call:
    return lambda policy, state: _score(policy, state, cases.x)
