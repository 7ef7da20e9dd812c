"""Deliberately broken predictors, by the check that must find them."""

import numpy as np

from askless.acquisition import Predictor


class Certain(Predictor):
    """Probabilities from what is known; the base of what is broken."""

    def predict(self, state):
        p = 1.0 / (1.0 + np.exp(-state.x.sum(axis=1, dtype=float)))
        return np.column_stack([p, 1.0 - p])


class UnderivedPredictor:
    """Has the right method and no base class."""

    def predict(self, state):
        return np.full((len(state), 2), 0.5)


class MisspeltSpread(Certain):
    def spreed(self, state):
        return np.ones(len(state))


class Flat(Certain):
    def predict(self, state):
        return super().predict(state)[:, 0]


class WidensWithTheBatch(Certain):
    def predict(self, state):
        return np.repeat(super().predict(state), 1 if len(state) > 1 else 2, axis=1)


class AddsUpToTwo(Certain):
    def predict(self, state):
        return 2.0 * super().predict(state)


class Outside(Certain):
    def predict(self, state):
        p = super().predict(state)
        return np.column_stack([p[:, 0] + 1.0, p[:, 1] - 1.0])


class Infinite(Certain):
    def predict(self, state):
        return np.full((len(state), 1), np.inf)


class MutatingPredictor(Certain):
    def predict(self, state):
        state.known[:] = True
        return super().predict(state)


class OneOutput(Certain):
    buffer = np.empty((100, 2))

    def predict(self, state):
        self.buffer[: len(state)] = super().predict(state)
        return self.buffer[: len(state)]


class Noisy(Certain):
    rng = np.random.default_rng(0)

    def predict(self, state):
        p = self.rng.random(len(state))
        return np.column_stack([p, 1.0 - p])


class Crowd(Certain):
    def predict(self, state):
        return np.broadcast_to(super().predict(state).mean(axis=0), (len(state), 2)).copy()


class CountsQuestions(Certain):
    def predict(self, state):
        p = 1.0 / (2.0 + state.asked.sum(axis=1))
        return np.column_stack([p, 1.0 - p])


class NegativeSpread(Certain):
    def spread(self, state):
        return np.full(len(state), -1.0)


class WideSpread(Certain):
    def spread(self, state):
        return np.ones((len(state), 1))


class ForgetfulPredictor(Certain):
    shift = 0.25

    def __init__(self, shift=0.0):
        self.shift = shift

    def predict(self, state):
        return np.full((len(state), 2), [0.5 + self.shift, 0.5 - self.shift])

    def __reduce__(self):
        return ForgetfulPredictor, (self.shift + 0.1,)


PREDICTORS = {
    "overrides_are_spelt_right": [
        ("classification", UnderivedPredictor(), r"does not derive from askless\.acquisition\.Predictor"),
        ("regression", MisspeltSpread(), "'spreed' looks like a misspelt 'spread'"),
    ],
    "predictions_fit_the_outputs": [
        ("classification", Flat(), r"shape \(20,\)"),
        ("regression", Certain(), r"regression have the shape \(20, 2\)"),
        ("classification", WidensWithTheBatch(), r"\(1, 4\) instead of \(1, 2\)"),
    ],
    "predictions_are_valid": [
        ("classification", AddsUpToTwo(), "range from|is off 1 by"),
        ("classification", Outside(), "range from -"),
        ("regression", Infinite(), "20 of 20 predicted numbers are not finite"),
    ],
    "predictions_leave_the_state_alone": [
        ("classification", MutatingPredictor(), "of 80 entries of the state's known")
    ],
    "predictions_are_not_shared": [("classification", OneOutput(), "a second call changed")],
    "predictions_repeat": [("classification", Noisy(), "40 of 40 numbers differently")],
    "predictions_of_a_row_are_its_own": [("classification", Crowd(), "of 20 rows give other numbers alone")],
    "unknown_answers_say_nothing": [("classification", CountsQuestions(), "changed the prediction of 20 of 20 rows")],
    "spreads_are_positive": [
        ("regression", NegativeSpread(), "20 of 20 standard deviations"),
        ("regression", WideSpread(), r"shape \(20, 1\)"),
    ],
    "pickling_keeps_the_predictions": [("classification", ForgetfulPredictor(), "40 of 40")],
}
