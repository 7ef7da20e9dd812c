"""Policies that imagine answers, against the literal estimate."""

import numpy as np
import pytest

from askless.acquisition import Cases, Feature, Part, Schema, State
from askless.models import AnswerBook, GenerativePolicy, Heads, MarginalPolicy, NetPredictor, PartialVae
from askless.theory import MarginalSampler, SampledPolicy, divergence_from_mean, variance_of_means
from tests.models.test_network import network

WIDTHS = (1, 2, 3)
SCHEMA = Schema(
    tuple(
        Feature(f"f{i}", (Part(f"f{i}", "number"),), start, start + width)
        for i, (start, width) in enumerate(zip((0, 1, 3), WIDTHS, strict=True))
    )
)
TASKS = {"classification": (3, None, divergence_from_mean), "regression": (1, 7.0, variance_of_means)}


def predictor_of(rng, task):
    outputs, scale, _ = TASKS[task]
    net = network(rng, columns=6, features=3, hidden=(16, 8), outputs=outputs)
    classes = scale is None
    return NetPredictor(net, classes=classes, prior=np.zeros(outputs), offset=2.0, scale=1.0 if classes else scale)


def some_state(rng, n=40):
    cases = Cases(rng.normal(size=(n, 6)).astype(np.float32), rng.random((n, 3)) < 0.9)
    return State.of(cases, SCHEMA.column_feature, rng.random((n, 3)) < 0.4)


def book_of(rng, counts, dtype=np.float32):
    def answers(count, width):
        values, weights = rng.normal(size=(count, width)), rng.random(count) + 0.1
        return values.astype(dtype), (weights / weights.sum()).astype(dtype)

    return AnswerBook.of([answers(*pair) for pair in zip(counts, WIDTHS, strict=True)])


@pytest.mark.parametrize("task", TASKS)
def test_answers_that_are_all_rows_give_the_literal_estimate(task):
    rng = np.random.default_rng(0)
    predictor, state = predictor_of(rng, task), some_state(rng)
    rows = rng.integers(0, 3, size=(30, 6)).astype(np.float32)  # in groups the columns stay together
    given = [rows[:, feature.start : feature.stop] for feature in SCHEMA.features]
    book = AnswerBook.of(
        [
            (levels, (counts / 30).astype(np.float32))
            for levels, counts in (np.unique(part, axis=0, return_counts=True) for part in given)
        ]
    )
    literal = SampledPolicy(
        predictor, MarginalSampler(rows, shared=True), SCHEMA, n_samples=30, spread=TASKS[task][2]
    )
    policy = MarginalPolicy(predictor.network, book, np.ones(3), TASKS[task][1])
    np.testing.assert_allclose(policy.score(state), literal.score(state), rtol=1e-4, atol=1e-5)


def test_a_question_that_is_often_not_answered_is_worth_less():
    rng = np.random.default_rng(0)
    net, book, state = predictor_of(rng, "classification").network, book_of(rng, (3, 3, 3)), some_state(rng)
    often = MarginalPolicy(net, book, np.ones(3), None).score(state)
    seldom = MarginalPolicy(net, book, np.array([1.0, 0.5, 0.25]), None).score(state)
    np.testing.assert_allclose(seldom, often * [1.0, 0.5, 0.25])


def vae_of(rng, outputs, samples=24):
    normal = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    encoder = network(rng, columns=6, features=3, hidden=(8,), outputs=8)
    encoder.weights[-1][:] *= 0.1  # variances of about 1
    decoder = (normal(4, 8), normal(8, outputs)), (normal(8), normal(outputs))
    return PartialVae(encoder, *decoder, normal(samples, 4), normal(2, samples))


def generative(rng, task):
    """Two numbers, of one column and of two, and a feature with four answers."""
    predictor, book = predictor_of(rng, task), book_of(rng, (9, 7, 4))
    for values, _ in book.answers[:2]:
        values[:] = np.sort(values, axis=0)
    numeric, vae = np.array([True, True, False]), vae_of(rng, outputs=6)
    return predictor, GenerativePolicy(
        predictor.network, book, np.ones(3), TASKS[task][1], vae, numeric, np.arange(3.0)
    )


def literal_generative(policy, predictor, state, spread):
    """Every sample of the latent variables, feature after feature, case after case."""
    scores, vae = np.zeros(state.asked.shape), policy.vae
    for row in range(len(state)):
        if not state.known[row].any():
            scores[row] = np.where(state.asked[row], 0.0, [0.0, 1.0, 2.0])
            continue
        outputs = vae.encoder.outputs(state[row : row + 1])[0]
        z = outputs[:4] + np.exp(0.5 * outputs[4:]) * vae.noise  # (samples, latent)
        decoded = np.maximum(z @ vae.weights[0] + vae.biases[0], 0.0) @ vae.weights[1] + vae.biases[1]
        for feature in np.flatnonzero(~state.asked[row]):
            line = policy.book.answers[feature][0]
            if feature < 2:
                number = decoded[:, feature] + vae.jitter[feature]
                answers = line[np.abs(number[:, None] - line[:, 0]).argmin(axis=1)]
                repeats = np.ones(len(z), dtype=int)
            else:
                powers = np.exp(decoded[:, 2:])
                answers = line
                chances = (powers / powers.sum(axis=1, keepdims=True)).mean(axis=0)
                repeats = np.round(chances * 20_000).astype(int)  # as many of each answer as it is likely
            x = np.repeat(state.x[row : row + 1], len(answers), axis=0)
            x[:, SCHEMA.features[feature].start : SCHEMA.features[feature].stop] = answers
            known = np.repeat(state.known[row : row + 1], len(answers), axis=0)
            known[:, feature] = True
            predictions = predictor.predict(State(x, known, known))
            scores[row, feature] = spread(np.repeat(predictions, repeats, axis=0).astype(np.float64))
    return scores


@pytest.mark.parametrize("task", TASKS)
def test_all_samples_give_the_literal_estimate(task):
    rng = np.random.default_rng(1)
    predictor, policy = generative(rng, task)
    state = some_state(rng)
    expected = literal_generative(policy, predictor, state, TASKS[task][2])
    np.testing.assert_allclose(policy.score(state), expected, rtol=2e-3, atol=2e-4 * expected.max())


def test_many_cases_are_scored_in_parts(monkeypatch):
    rng = np.random.default_rng(1)
    policy, state = generative(rng, "classification")[1], some_state(rng)
    whole = policy.score(state)
    monkeypatch.setattr("askless.models.generative.CASES_AT_ONCE", 7)
    monkeypatch.setattr("askless.models.generative.DECODED_AT_ONCE", 50)
    monkeypatch.setattr("askless.models.imagined.ROWS_AT_ONCE", 20)
    np.testing.assert_allclose(policy.score(state), whole, rtol=1e-4, atol=1e-5)


def test_probabilities_of_each_feature_sum_to_one():
    heads = Heads(np.array([2, 0, 3]))
    logits = np.array([[0.0, 900.0], [np.log(3.0), 0.0], [5.0, -900.0], [5.0, 0.0], [5.0, 0.0]])
    expected = [[0.25, 1.0], [0.75, 0.0], [1 / 3, 0.0], [1 / 3, 0.5], [1 / 3, 0.5]]
    np.testing.assert_allclose(heads.probabilities(logits), expected, atol=1e-12)
    assert heads.width == 6
    assert heads.numbers.tolist() == [1]


def spoiled(policy, name, change):
    arrays = policy.arrays()
    return type(policy).build(policy.config(), arrays | {name: change(arrays[name])})


@pytest.mark.parametrize(
    "name", ["answers.weights", "answers.values", "answers.counts", "answers.widths", "answered"]
)
def test_files_of_marginal_policies_are_checked(name):
    rng = np.random.default_rng(0)
    policy = MarginalPolicy(predictor_of(rng, "regression").network, book_of(rng, (3, 4, 5)), np.ones(3), 7.0)
    state = some_state(rng)
    assert np.array_equal(spoiled(policy, name, np.copy).score(state), policy.score(state))
    with pytest.raises(ValueError, match="do not fit"):
        spoiled(policy, name, lambda array: array[:-1])


@pytest.mark.parametrize(
    "name",
    [
        "answers.weights",
        "numeric",
        "answered",
        "first",
        "noise",
        "jitter",
        "decoder.weight0",
        "decoder.bias1",
        "encoder.bias1",
    ],
)
def test_files_of_generative_policies_are_checked(name):
    rng = np.random.default_rng(0)
    policy, state = generative(rng, "classification")[1], some_state(rng)
    assert np.array_equal(spoiled(policy, name, np.copy).score(state), policy.score(state))
    with pytest.raises(ValueError, match="do not fit"):
        spoiled(policy, name, lambda array: array[..., :-1])
