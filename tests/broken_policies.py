"""Deliberately broken policies, by the check that must find them."""

import sys

import numpy as np

from askless.acquisition import Cases, Policy


class Good(Policy):
    """Scores that depend on the state; the base of what is broken."""

    weights = np.array([0.5, -1.0, 2.0, 0.1])

    def score(self, state):
        return np.where(state.known, 0.0, self.weights * (1.0 + np.abs(state.x).sum(axis=1, keepdims=True)))


class Underived:
    """Has the right method and no base class."""

    def score(self, state):
        return np.zeros(state.asked.shape)


class Misspelt(Good):
    infomative = True


class MisspeltInside(Good):
    def __init__(self):
        self.need_truth = True


class TooNarrow(Good):
    def score(self, state):
        return super().score(state)[:, 1:]


class WholeNumbers(Good):
    def score(self, state):
        return super().score(state).astype(int)


class SometimesNaN(Good):
    def score(self, state):
        return np.where(state.asked.sum(axis=1, keepdims=True) == 1, np.nan, super().score(state))


class Mutating(Good):
    def score(self, state):
        state.x[:] *= 2.0
        return super().score(state)


class OneBuffer(Good):
    buffer = np.empty((100, 4))

    def score(self, state):
        result = self.buffer[: len(state)]
        result[...] = super().score(state)
        return result


class ViewOfTheState(Good):
    def score(self, state):
        return state.x


class Caching(Good):
    """Hands out what it keeps."""

    def __init__(self):
        self.kept = {}

    def score(self, state):
        return self.kept.setdefault(state.x.tobytes(), super().score(state))


class Stochastic(Good):
    """Draws anew at every call."""

    rng = np.random.default_rng(0)

    def score(self, state):
        return self.rng.random(state.asked.shape)


class BatchNormalised(Good):
    def score(self, state):
        scores = super().score(state)
        return scores - scores.mean(axis=0)


class Peeking(Good):
    """Looks for the hidden values in the frames that called it."""

    def score(self, state):
        frame = sys._getframe(1)
        while frame is not None:
            cases = frame.f_locals.get("cases")
            if isinstance(cases, Cases) and len(cases) == len(state):
                return cases.x.astype(float)
            frame = frame.f_back
        return super().score(state)


class Resetting(Good):
    """Wipes what the caller said is known."""

    def score(self, state):
        state.asked[:] = False
        return super().score(state)


class Shy(Good):
    """Needs the truth, but says so only when asked for the first time."""

    times = 0

    @property
    def needs_truth(self):
        self.times += 1
        return self.times == 1


class Forgetful(Good):
    def __init__(self, weights=(4.0, 3.0, 2.0, 1.0)):
        self.weights = np.array(weights)

    def __reduce__(self):
        return Forgetful, ((1.0, 2.0, 3.0, 4.0),)


POLICIES = {
    "attributes_are_spelt_right": [
        (Underived(), r"does not derive from askless\.acquisition\.Policy"),
        (Misspelt(), "'infomative' looks like a misspelt 'informative'"),
        (MisspeltInside(), "'need_truth' looks like a misspelt 'needs_truth'"),
    ],
    "scores_fit_the_features": [(TooNarrow(), r"shape \(20, 3\)"), (WholeNumbers(), "int64")],
    "scores_are_numbers": [(SometimesNaN(), r"\d+ of \d+ scores of open features are NaN \(first: row \d+, feature")],
    "scores_leave_the_state_alone": [(Mutating(), "of 80 entries of the state's x"), (Resetting(), "state's asked")],
    "scores_are_not_shared": [
        (OneBuffer(), "a second call changed"),
        (ViewOfTheState(), "a view of the state's x"),
        (Caching(), "writing into its result changed 80 of 80"),
    ],
    "scores_repeat": [(Stochastic(), "80 of 80 numbers differently")],
    "scores_of_a_row_are_its_own": [(BatchNormalised(), "of 20 rows"), (Stochastic(), "20 of 20 rows")],
    "hidden_values_do_not_matter": [(Peeking(), "it peeks")],
    "questions_obey_the_rules": [(Resetting(), "never asked")],
    "truth_is_refused": [(Shy(), "took a policy that looks at the truth")],
    "pickling_keeps_the_scores": [(Forgetful(), "its pickled copy")],
}
