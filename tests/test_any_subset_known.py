"""Twelve features, any of which may be known, not to be had or unknown: predictions are near the exact posterior."""

import numpy as np
import pytest

from askless import DynamicClassifier
from askless.acquisition import State
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
    method = Greedy(
        hidden=(64, 64), dropout=0.0, weight_decay=0.1, recipe={"random_starts": 0.5}, epochs=8, pretrain_epochs=15
    )
    return DynamicClassifier(N, method, missing="answer").fit(values.astype(float), y)


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


def test_every_way_to_have_or_not_to_have_the_features(problem, model):
    """Complete roll-outs, one for each way in which features can be had, not be had, or be asked in vain.

    Of those that can be had a random half is known beforehand; the others are asked for.
    """
    rng = np.random.default_rng(1)
    ways = digits(3, N)  # 0: has a value, 1: not to be had, 2: the answer is unknown
    divergence = np.empty(len(ways))
    for start in range(0, len(ways), AT_ONCE):
        way = ways[start : start + AT_ONCE]
        values, _ = problem.sample(len(way), rng)
        has = way == 0
        known = has & (rng.random(way.shape) < 0.5)
        t = model.rollout(np.where(way == 2, np.nan, values), known=known, available=way != 1)
        rows, steps = np.nonzero(t.order >= 0)
        asked = np.zeros_like(has)
        asked[rows, t.order[rows, steps]] = True
        np.testing.assert_array_equal(asked, ~known & (way != 1))  # and so nothing that cannot be had
        assert len(rows) == asked.sum()  # nothing twice
        assert ((t.predictions >= 0) & (t.predictions <= 1)).all()
        np.testing.assert_allclose(t.predictions.sum(axis=2), 1.0, atol=1e-5)
        exact = problem.posterior(problem.partial(np.where(has, values, 0), has))
        predicted = t.predictions[:, -1].astype(np.float64)
        divergence[start : start + AT_ONCE] = (exact * np.log(exact / predicted)).sum(axis=1)
    assert divergence.mean() <= 0.02  # 0.003 as measured


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
