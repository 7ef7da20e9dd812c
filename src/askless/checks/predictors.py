"""What must hold of every predictor: one function each, called with the predictor, its schema, cases and its task."""

from __future__ import annotations

import numpy as np

from askless.acquisition import Cases, Predictor, Schema, State, Task
from askless.checks import properties
from askless.checks.examples import example_states
from askless.checks.running import require

__all__ = [
    "overrides_are_spelt_right",
    "pickling_keeps_the_predictions",
    "predictions_are_not_shared",
    "predictions_are_valid",
    "predictions_fit_the_outputs",
    "predictions_leave_the_state_alone",
    "predictions_of_a_row_are_its_own",
    "predictions_repeat",
    "spreads_are_positive",
    "unknown_answers_say_nothing",
]


def overrides_are_spelt_right(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """It derives from `Predictor`, and none of its attributes looks like a misspelt one of the base class."""
    properties.derives_from(predictor, Predictor)


def predictions_fit_the_outputs(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """Predictions have the shape (n, classes), or (n, 1) for a regression, in every state."""
    states = example_states(schema, cases)
    first = _predict(predictor, states[0])
    enough = first.ndim == 2 and (first.shape[1] == 1 if task == "regression" else first.shape[1] > 1)
    require(enough, predictor, f"predictions of a {task} have the shape {first.shape}")
    for state in states:
        for rows in (slice(None), slice(0, 1)):
            some = State(state.x[rows], state.asked[rows], state.known[rows])
            shape = _predict(predictor, some).shape
            expected = (len(some), first.shape[1])
            require(shape == expected, predictor, f"predictions have the shape {shape} instead of {expected}")


def predictions_are_valid(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """Probabilities lie between 0 and 1 and add up to 1; means are finite."""
    for state in example_states(schema, cases):
        require_valid(predictor, _predict(predictor, state), task)


def predictions_leave_the_state_alone(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """Predicting does not change the arrays of the state."""
    properties.leaves_state_alone(predictor, _predict, example_states(schema, cases))


def predictions_are_not_shared(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """The predictions of one call are no view of the state, and do not change with the next call."""
    properties.does_not_share(predictor, _predict, example_states(schema, cases))


def predictions_repeat(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """The same state has the same predictions."""
    properties.repeats(predictor, _predict, example_states(schema, cases))


def predictions_of_a_row_are_its_own(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """A row alone has the prediction that it has among others."""
    properties.treats_rows_alone(predictor, _predict, example_states(schema, cases))


def unknown_answers_say_nothing(predictor: Predictor, schema: Schema, cases: Cases, task: Task) -> None:
    """A question that was answered "unknown" leaves the prediction as it was."""
    for state in example_states(schema, cases):
        plain = _predict(predictor, State(state.x, state.known, state.known))
        asked = _predict(predictor, State(state.x, np.ones_like(state.asked), state.known))
        moved = int(np.sum(~properties.close(plain, asked).all(axis=1)))
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
    properties.survives_pickling(predictor, _predict, example_states(schema, cases))


def require_valid(subject: object, predictions: np.ndarray, task: Task) -> None:
    """Raise `CheckFailed` unless predictions (..., outputs) are probabilities, or finite means."""
    wrong = int(np.sum(~np.isfinite(predictions)))
    require(wrong == 0, subject, f"{wrong} of {predictions.size} predicted numbers are not finite")
    if task == "regression":
        return
    low, high = float(predictions.min()), float(predictions.max())
    require(low >= 0.0 and high <= 1.0 + 1e-6, subject, f"probabilities range from {low:.6g} to {high:.6g}")
    off = float(np.max(np.abs(predictions.sum(axis=-1) - 1.0)))
    require(off < properties.TOLERANCE, subject, f"the sum of a row's probabilities is off 1 by {off:.3g}")


def _predict(predictor: Predictor, state: State) -> np.ndarray:
    return np.asarray(predictor.predict(state))
