"""Twelve features, any of which may be known, not to be had or unknown: predictions are near the exact posterior."""

import numpy as np
import pytest

from askless import DynamicClassifier
from askless.core import State
from askless.methods import Greedy
from askless.theory import DiscreteProblem

N = 12
AT_ONCE = 1 << 14


def twelve_tests():
    """A binary condition and twelve tests; the second half of them depends on a test of the first half as well."""
    rng = np.random.default_rng(7)
    prior = np.array([0.6, 0.4])
    joint = prior.reshape(*([1] * N), 2)
    for i in range(N):
        shape = [1] * (N + 1)
        shape[N], shape[i] = 2, 2
        axes = [2, 2]  # (value, class)
        if i >= N // 2:
            shape[i - N // 2] = 2
            axes = [2, 2, 2]  # (value of the other test, value, class)
        high = rng.uniform(0.15, 0.85, axes[:-2] + axes[-1:])
        table = np.stack([1 - high, high], axis=-2)  # (..., value, class)
        joint = joint * table.reshape(shape)
    return DiscreteProblem("twelve tests", {f"t{i}": 1 for i in range(N)}, joint)


@pytest.fixture(scope="module")
def problem():
    return twelve_tests()


@pytest.fixture(scope="module")
def model(problem):
    values, y = problem.sample(15_000, np.random.default_rng(0))
    method = Greedy(hidden=(64, 64), dropout=0.0, weight_decay=0.1, random_starts=0.5, epochs=8, pretrain_epochs=15)
    return DynamicClassifier(N, method).fit(values.astype(float), y)


def digits(base, count):
    """(base ** count, count) every number in this base, digit by digit."""
    return np.stack(np.unravel_index(np.arange(base**count), [base] * count), axis=1)


def encoded(model, values):
    """What the model's encoder makes of binary values (n, features)."""
    return model.model_.encoder.transform(values.astype(float))


def test_every_set_of_known_features_is_near_the_exact_posterior(problem, model):
    total, weight = 0.0, 0.0
    everything = digits(3, N)  # 0, 1, or 2: not known; all partial records there are
    for start in range(0, len(everything), AT_ONCE):
        part = everything[start : start + AT_ONCE]
        asked = part < 2
        records = problem.partial(np.where(asked, part, 0), asked)
        exact, chance = problem.posterior(records), problem.probability(records)  # of these values, given the set
        state = State.of(encoded(model, records.values), model.schema_.column_feature, asked)
        predicted = model.model_.predictor.predict(state).astype(np.float64)
        assert np.isfinite(predicted).all()
        np.testing.assert_allclose(predicted.sum(axis=1), 1.0, atol=1e-5)
        assert ((predicted >= 0) & (predicted <= 1)).all()
        divergence = (exact * np.log(exact / np.maximum(predicted, 1e-12))).sum(axis=1)
        total, weight = total + float(divergence @ chance), weight + float(chance.sum())
    assert weight == pytest.approx(2**N)  # every set once
    assert total / weight <= 0.02  # 0.004 as measured


def test_never_asks_what_cannot_be_had(problem, model):
    rng = np.random.default_rng(1)
    states = digits(3, N)  # 0: open, 1: known beforehand, 2: not to be had
    for start in range(0, len(states), AT_ONCE):
        part = states[start : start + AT_ONCE]
        values, _ = problem.sample(len(part), rng)
        t = model.rollout(values.astype(float), known=part == 1, available=part != 2, max_features=1)
        asked = t.order[:, 0] if t.order.shape[1] else np.full(len(part), -1)
        open_ = part == 0
        assert (asked[~open_.any(axis=1)] < 0).all()
        rows = np.flatnonzero(open_.any(axis=1))
        assert open_[rows, asked[rows]].all()
        assert np.isfinite(t.predictions).all()


def test_unknown_answers_tell_nothing(problem, model):
    """Interviews in which features are known, not to be had, or answered with "unknown"."""
    rng = np.random.default_rng(2)
    names = model.schema_.names
    divergence = []
    for _ in range(60):
        values, _ = problem.sample(1, rng)
        kind = rng.integers(0, 4, N)  # 0: answered, 1: known beforehand, 2: not to be had, 3: unknown
        known = {names[i]: float(values[0, i]) for i in np.flatnonzero(kind == 1)}
        talk = model.interview(known=known, unavailable=[names[i] for i in np.flatnonzero(kind == 2)])
        while not talk.done:
            i = names.index(talk.question.name)
            assert kind[i] in (0, 3)
            if kind[i] == 3:
                talk.unknown()
            else:
                talk.answer(float(values[0, i]))
        asked = np.isin(kind, (0, 1))[None]
        exact = problem.posterior(problem.partial(np.where(asked, values, 0), asked))[0]
        predicted = np.array([talk.prediction[0], talk.prediction[1]])
        assert predicted.sum() == pytest.approx(1.0, abs=1e-5)
        divergence.append(float(exact @ np.log(exact / predicted)))
    assert np.mean(divergence) <= 0.02
