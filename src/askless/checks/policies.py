"""What must hold of every policy and predictor: one function each, and how a check fails.

The checks of policies take the policy, its schema and some cases; those of predictors the task as well. Both turn a
state into an array, so that they share most properties.
"""

from __future__ import annotations

import pickle
from abc import ABCMeta
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, get_args

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
    Task,
    Trajectory,
    rollout,
)
from askless.checks.examples import example_states, swapped_cases

DEEPEST = 8  # questions; more make a check slow and no stricter

PASSED = "passed"

Call = Callable[[Any, State], np.ndarray]  # the subject and a state to (n, m)

MISSPELT = 0.8  # similarity of two names, from 0 to 1
TOLERANCE = 1e-4  # sums of single precision depend on how many rows there are


def attributes_are_spelt_right(policy: Policy, schema: Schema, cases: Cases) -> None:
    """It derives from `Policy`, and none of its attributes looks like a misspelt one of the base class."""
    _derives_from(policy, Policy)


def scores_fit_the_features(policy: Policy, schema: Schema, cases: Cases) -> None:
    """Scores are floating-point numbers of shape (n, features), for one row and for many."""
    for state in example_states(schema, cases):
        for rows in (slice(None), slice(0, 1)):
            some = state[rows]
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
    _leaves_state_alone(policy, _call(cases), example_states(schema, cases))


def scores_are_not_shared(policy: Policy, schema: Schema, cases: Cases) -> None:
    """The scores of one call are no view of the state, and do not change with the next call."""
    _does_not_share(policy, _call(cases), example_states(schema, cases))


def scores_repeat(policy: Policy, schema: Schema, cases: Cases) -> None:
    """The same state has the same scores."""
    _repeats(policy, _call(cases), example_states(schema, cases))


def hidden_values_do_not_matter(policy: Policy, schema: Schema, cases: Cases) -> str | None:
    """A value that was not asked can change without changing any question up to that point."""
    if policy.needs_truth:
        return "it says that it looks at the truth, and is refused for it (truth_is_refused)"
    for missing in get_args(Missing):
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
    _treats_rows_alone(policy, _call(cases), example_states(schema, cases))
    return None


def questions_obey_the_rules(policy: Policy, schema: Schema, cases: Cases) -> None:
    """No case is asked twice, nor for what is known, unavailable, or missing where missing values are skipped."""
    rng = np.random.default_rng(0)
    shape = (len(cases), len(schema))
    available, known = rng.random(shape) < 0.8, rng.random(shape) < 0.2
    for missing in get_args(Missing):
        t = _questions(policy, schema, cases, len(schema), missing=missing, available=available, known=known)
        allowed = available & ~known & (cases.present | (missing == "answer"))
        asked = asked_once(t, policy, len(schema))
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
    _survives_pickling(policy, _call(cases), example_states(schema, cases))


def asked_once(t: Trajectory, subject: object, budget: int) -> np.ndarray:
    """(n, features) what was asked; raises `CheckFailed` if anything was asked twice."""
    asked = t.selected(budget)
    twice = int(t.n_asked.sum() - asked.sum())
    require(twice == 0, subject, f"{twice} questions were asked twice")
    return asked


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


def _call(cases: Cases) -> Call:
    return lambda policy, state: _score(policy, state, cases.x)


class CheckFailed(AssertionError):
    """A property does not hold; the message names the object, the property and the numbers.

    >>> raise CheckFailed("MyPolicy: 3 of 60 scores are NaN")
    Traceback (most recent call last):
    askless.checks.policies.CheckFailed: MyPolicy: 3 of 60 scores are NaN
    """


def label(subject: object) -> str:
    """What to call an object in a message: its class, and for a model or a trial that of its policy or method."""
    inner = getattr(subject, "policy", getattr(subject, "method", None))
    return type(subject).__name__ + ("" if inner is None else f"({type(inner).__name__})")


def require(holds: bool, subject: object, message: str) -> None:
    """Raise `CheckFailed` unless the property holds."""
    if not holds:
        raise CheckFailed(f"{label(subject)}: {message}")


def _derives_from(subject: Any, base: ABCMeta) -> None:
    require(isinstance(subject, base), subject, f"it does not derive from askless.acquisition.{base.__name__}")
    required = base.__abstractmethods__  # a class without them cannot make an object
    expected = [name for name in vars(base) if not name.startswith("_") and name not in required]
    own = {name for kind in type(subject).__mro__ if not issubclass(base, kind) for name in vars(kind)}
    own |= vars(subject).keys() if hasattr(subject, "__dict__") else set()
    for name in sorted(own - set(expected) - required):
        meant = get_close_matches(name, expected, n=1, cutoff=MISSPELT)
        require(not meant, subject, f"its attribute {name!r} looks like a misspelt {meant[0] if meant else ''!r}")


def _leaves_state_alone(subject: Any, call: Call, states: Sequence[State]) -> None:
    for state in states:
        mine = State(state.x.copy(), state.asked.copy(), state.known.copy())
        call(subject, mine)
        for name in ("x", "asked", "known"):
            before, after = getattr(state, name), getattr(mine, name)
            changed = int(np.sum(before != after))
            require(changed == 0, subject, f"it changed {changed} of {before.size} entries of the state's {name}")


def _does_not_share(subject: Any, call: Call, states: Sequence[State]) -> None:
    first, other = states[1], states[2]
    result = call(subject, first)
    for name in ("x", "asked", "known"):
        require(
            not np.shares_memory(result, getattr(first, name)), subject, f"its result is a view of the state's {name}"
        )
    kept = result.copy()
    call(subject, other)
    changed = int(np.sum(~same(kept, result)))
    require(changed == 0, subject, f"a second call changed {changed} of {kept.size} numbers that the first returned")
    if result.flags.writeable:
        result[...] = 7.0
        again = call(subject, first)
        wrong = int(np.sum(~same(kept, again)))
        require(wrong == 0, subject, f"writing into its result changed {wrong} of {kept.size} numbers of the next")


def _repeats(subject: Any, call: Call, states: Sequence[State]) -> None:
    for state in states:
        _require_same(subject, call(subject, state).copy(), call(subject, state), "a second call with the same state")


def _treats_rows_alone(subject: Any, call: Call, states: Sequence[State]) -> None:
    for state in states:
        many = call(subject, state)
        alone = np.concatenate([call(subject, state[i : i + 1]) for i in range(len(state))])
        off = np.flatnonzero(~close(many, alone).all(axis=1))
        worst = float(np.nanmax(np.abs(many - alone))) if len(off) else 0.0
        require(
            not len(off), subject, f"{len(off)} of {len(many)} rows give other numbers alone (by up to {worst:.3g})"
        )


def _survives_pickling(subject: Any, call: Call, states: Sequence[State]) -> None:
    copy = pickle.loads(pickle.dumps(subject))
    for state in states:
        _require_same(subject, call(subject, state), call(copy, state), "its pickled copy")


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays hold the same numbers, NaN for NaN."""
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))


def close(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays agree but for rounding."""
    scale = max(1.0, float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))))
    return np.asarray(np.isclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True))


def _require_same(subject: Any, expected: np.ndarray, found: np.ndarray, what: str) -> None:
    wrong = int(np.sum(~same(expected, found))) if expected.shape == found.shape else expected.size
    require(wrong == 0, subject, f"{what} gives {wrong} of {expected.size} numbers differently")


def overrides_are_spelt_right(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """It derives from `Predictor`, and none of its attributes looks like a misspelt one of the base class."""
    _derives_from(predictor, Predictor)


def predictions_fit_the_outputs(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """Predictions have the shape (n, classes), or (n, 1) for a regression, in every state."""
    states = example_states(schema, cases)
    first = _predict(predictor, states[0])
    enough = first.ndim == 2 and (first.shape[1] == 1 if task == "regression" else first.shape[1] > 1)
    require(enough, predictor, f"predictions of a {task} have the shape {first.shape}")
    for state in states:
        for some in (state, state[:1]):
            shape = _predict(predictor, some).shape
            expected = (len(some), first.shape[1])
            require(shape == expected, predictor, f"predictions have the shape {shape} instead of {expected}")


def predictions_are_valid(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """Probabilities lie between 0 and 1 and add up to 1; means are finite."""
    for state in example_states(schema, cases):
        require_valid(predictor, _predict(predictor, state), task)


def predictions_leave_the_state_alone(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """Predicting does not change the arrays of the state."""
    _leaves_state_alone(predictor, _predict, example_states(schema, cases))


def predictions_are_not_shared(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """The predictions of one call are no view of the state, and do not change with the next call."""
    _does_not_share(predictor, _predict, example_states(schema, cases))


def predictions_repeat(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """The same state has the same predictions."""
    _repeats(predictor, _predict, example_states(schema, cases))


def predictions_of_a_row_are_its_own(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """A row alone has the prediction that it has among others."""
    _treats_rows_alone(predictor, _predict, example_states(schema, cases))


def unknown_answers_say_nothing(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """A question that was answered "unknown" leaves the prediction as it was."""
    for state in example_states(schema, cases):
        plain = _predict(predictor, State(state.x, state.known, state.known))
        asked = _predict(predictor, State(state.x, np.ones_like(state.asked), state.known))
        moved = int(np.sum(~close(plain, asked).all(axis=1)))
        require(moved == 0, predictor, f"unknown answers changed the prediction of {moved} of {len(plain)} rows")


def spreads_are_positive(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> str | None:
    """Standard deviations are finite and above 0, one for each row."""
    states = example_states(schema, cases)
    if predictor.spread(states[0]) is None:
        return "it gives no standard deviations"
    for state in states:
        spread = np.asarray(predictor.spread(state))
        require(spread.shape == (len(state),), predictor, f"{len(state)} rows have spreads of shape {spread.shape}")
        wrong = int(np.sum(~(np.isfinite(spread) & (spread > 0))))
        require(wrong == 0, predictor, f"{wrong} of {len(spread)} standard deviations are not finite and above 0")
    return None


def pickling_keeps_the_predictions(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """A pickled copy gives the same predictions."""
    _survives_pickling(predictor, _predict, example_states(schema, cases))


def require_valid(subject: object, predictions: np.ndarray, task: Task) -> None:
    """Raise `CheckFailed` unless predictions (..., outputs) are probabilities, or finite means."""
    wrong = int(np.sum(~np.isfinite(predictions)))
    require(wrong == 0, subject, f"{wrong} of {predictions.size} predicted numbers are not finite")
    if task == "regression":
        return
    low, high = float(predictions.min()), float(predictions.max())
    require(low >= 0.0 and high <= 1.0 + 1e-6, subject, f"probabilities range from {low:.6g} to {high:.6g}")
    off = float(np.max(np.abs(predictions.sum(axis=-1) - 1.0)))
    require(off < TOLERANCE, subject, f"the sum of a row's probabilities is off 1 by {off:.3g}")


def _predict(predictor: Predictor, state: State) -> np.ndarray:
    return np.asarray(predictor.predict(state))


POLICY_CHECKS = (  # the simplest property first
    attributes_are_spelt_right,
    scores_fit_the_features,
    scores_are_numbers,
    scores_leave_the_state_alone,
    scores_are_not_shared,
    scores_repeat,
    hidden_values_do_not_matter,
    scores_of_a_row_are_its_own,
    questions_obey_the_rules,
    truth_is_refused,
    pickling_keeps_the_scores,
)
PREDICTOR_CHECKS = (  # the simplest property first
    overrides_are_spelt_right,
    predictions_fit_the_outputs,
    predictions_are_valid,
    predictions_leave_the_state_alone,
    predictions_are_not_shared,
    predictions_repeat,
    predictions_of_a_row_are_its_own,
    unknown_answers_say_nothing,
    spreads_are_positive,
    pickling_keeps_the_predictions,
)
