"""Certified stopping: exact binomial arithmetic, and the promise over repeated draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askless.acquisition import Context, Progress, Schema, State
from askless.acquisition.stopping import Certified, rule_from_json, rule_to_json
from askless.acquisition.stopping.certified import binomial_tail, certified_on
from askless.exceptions import ParameterError
from tests.acquisition.linear import Linear
from tests.coded import raises


def test_binomial_tail_by_hand():
    assert_allclose(binomial_tail(0, 3, 0.5), 1 / 8)
    assert_allclose(binomial_tail(1, 3, 0.5), 4 / 8)
    assert_allclose(binomial_tail(1, 4, 0.1), 0.9**4 + 4 * 0.1 * 0.9**3)
    assert binomial_tail(0, 0, 0.05) == 1.0
    assert binomial_tail(0, 58, 0.05) > 0.05 > binomial_tail(0, 59, 0.05)


def honest_cases(n, rng, steps=4):
    """Predictions (n, steps, 2) that grow surer; a case is right as often as one can be sure of it, mostly very."""
    truth = 1.0 - 0.5 * rng.beta(0.3, 3.0, n)  # how sure one can be
    grows = np.sort(rng.uniform(0.4, 1.0, (n, steps)), axis=1)
    sure = 0.5 + (truth[:, None] - 0.5) * grows
    predictions = np.stack([sure, 1 - sure], axis=2)
    return predictions, (rng.random(n) >= truth).astype(int)


def error_of(rule, predictions, y):
    """The share of wrong cases among those that the rule stops, and the share that it stops."""
    enough = predictions.max(axis=2) >= rule.threshold
    stopped = enough.any(axis=1)
    at = predictions[np.arange(len(y)), enough.argmax(axis=1)].argmax(axis=1)
    return (at != y)[stopped].mean(), stopped.mean()


def test_the_promise_is_kept_over_repeated_draws():
    rng = np.random.default_rng(0)
    everyone = honest_cases(40_000, rng)  # the population
    risks, shares = [], []
    for _ in range(200):
        rows = rng.integers(len(everyone[1]), size=1000)
        rule = certified_on(Certified(0.03, 0.9), everyone[0][rows], everyone[1][rows])
        risk, share = (0.0, 0.0) if rule.threshold is None else error_of(rule, *everyone)
        risks.append(risk)
        shares.append(share)
    broken = np.mean(np.array(risks) > 0.03)
    assert broken <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 200)
    assert np.mean(risks) > 0.015  # it does not hide behind strict thresholds
    assert np.mean(shares) > 0.5


def steep_cases(n, rng, steps=6):
    """Predictions (n, steps, 2) by a logit that is learned bit by bit, and classes (n,): few cases are doubtful."""
    logit = 6.0 * rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
    known = np.arange(1, steps + 1) / steps
    noise = 6.0 * rng.normal(size=(n, steps)) * np.sqrt(known * (1 - known))
    chance = 1 / (1 + np.exp(-(logit[:, None] * known + noise)))
    return np.stack([1 - chance, chance], axis=2), y


def test_one_unlucky_place_does_not_end_it_all():
    """Tests that begin at one place only, which the errors of a fifth of the cases choose, find nothing in 27 %."""
    rng = np.random.default_rng(3)
    found = [certified_on(Certified(0.05), *steep_cases(1000, rng)).threshold for _ in range(60)]
    assert np.mean([threshold is None for threshold in found]) < 0.15


def test_places_that_fall_together_have_all_of_the_error():
    """All cases are equally sure, so that there is one test; a third of the error would not be enough for it."""
    n, risk = 1000, 0.1
    rest = np.random.default_rng(0).permutation(n)[100:]  # what is tested; the first tenth says where to begin
    most = max(wrong for wrong in range(len(rest)) if binomial_tail(wrong, len(rest), risk) <= 0.05)
    assert binomial_tail(most, len(rest), risk) > 0.05 / 3
    predictions, y = np.tile([0.1, 0.9], (n, 1, 1)), np.ones(n, dtype=int)
    y[rest[:most]] = 0
    assert certified_on(Certified(risk), predictions, y).threshold is not None
    y[rest[: most + 1]] = 0
    assert certified_on(Certified(risk), predictions, y).threshold is None


def test_more_cases_stop_earlier():
    rng = np.random.default_rng(1)
    few, many = honest_cases(500, rng), honest_cases(30_000, rng)
    strict, lax = (certified_on(Certified(0.05, 0.95), *cases).threshold for cases in (few, many))
    assert lax < strict


@pytest.mark.parametrize("n", [0, 5, 40])
def test_too_few_cases_stop_none(n):
    predictions, y = honest_cases(n, np.random.default_rng(2))
    rule = certified_on(Certified(0.05, 0.95), predictions, y)
    assert rule.threshold is None
    assert rule.cases > 0


def progress_of(predictions, count=1):
    n = len(predictions)
    nothing = np.zeros((n, 2), dtype=bool)
    state = State(np.zeros((n, 2)), nothing, nothing)
    schema = Schema.of_numbers(["a", "b"])
    linear = Linear(np.random.default_rng(0), schema)
    return Progress(
        state=state,
        count=np.full(n, count),
        spent=np.zeros(n),
        prediction=np.array(predictions),
        context=Context(linear, linear, schema),
    )


def test_stops_where_sure_enough_and_not_too_late():
    rule = Certified(0.05, 0.95, threshold=0.9, cases=100, within=3)
    sure = [[0.95, 0.05], [0.2, 0.8]]
    assert rule.stops(progress_of(sure)).tolist() == [True, False]
    assert rule.stops(progress_of(sure, count=4)).tolist() == [False, False]
    never = Certified(0.05, 0.95, cases=100)
    assert not never.stops(progress_of([[1.0, 0.0]])).any()


def test_without_a_threshold_it_says_what_to_do():
    with raises(ParameterError, "required", name="threshold"):
        Certified(0.05).stops(progress_of([[0.9, 0.1]]))


@pytest.mark.parametrize("risk", [0, 1, -0.1, "much", float("nan")])
def test_impossible_risks(risk):
    with raises(ParameterError, "out_of_range", name="risk"):
        Certified(risk)


def test_files_keep_it():
    rule = Certified(0.1, 0.9, threshold=0.75, cases=321, within=4)
    assert rule_from_json(rule_to_json(rule)) == rule
