"""The oracle against literal slow code."""

import pickle

import numpy as np
import pytest

from askless.acquisition import Cases, Feature, MaxFeatures, Part, Schema, State, rollout
from askless.exceptions import TruthError
from askless.models import NetPredictor, Network, OraclePolicy
from tests.coded import raises

WIDTHS = (1, 3, 2, 1)


def make(classes, zero_is_missing=True, seed=0):
    rng = np.random.default_rng(seed)
    outputs, columns = 3 if classes else 1, sum(WIDTHS)

    def draw(*shape):
        return rng.normal(size=shape).astype(np.float32)

    network = Network(draw(columns, 8), draw(4, 8), (draw(8), draw(6), draw(outputs)), (draw(8, 6), draw(6, outputs)))
    starts = np.cumsum([0, *WIDTHS[:-1]])
    policy = OraclePolicy(network, classes=classes, starts=starts, zero_is_missing=np.full(4, zero_is_missing))
    prior = np.full(outputs, 1.0 / outputs) if classes else np.zeros(1)
    predictor = NetPredictor(network, classes=classes, prior=prior, offset=3.0, scale=2.0)
    return policy, predictor


def schema():
    ends = np.cumsum(WIDTHS)
    parts = [tuple(Part(f"{i}{j}", "number") for j in range(width)) for i, width in enumerate(WIDTHS)]
    return Schema(
        tuple(Feature(f"f{i}", parts[i], int(end) - WIDTHS[i], int(end)) for i, end in enumerate(ends.tolist()))
    )


def cases_of(n=30, gaps=0.3, seed=1):
    rng = np.random.default_rng(seed)
    present = rng.random((n, 4)) >= gaps
    x = rng.normal(size=(n, sum(WIDTHS))).astype(np.float32)
    return Cases(np.where(present[:, schema().column_feature], x, np.float32(0.0)), present)


def literal(predictor, cases, asked, classes):
    """(n, features) minus the distances, one case and one feature after another."""
    columns = schema().column_feature
    scores = np.empty(asked.shape)
    for row in range(len(cases)):
        case = cases[row : row + 1]
        everything = State.of(case, columns, np.ones((1, 4), dtype=bool))
        target = predictor.predict(everything)[0].astype(np.float64)
        for feature in range(4):
            more = asked[row : row + 1].copy()
            more[0, feature] = True
            state = State.of(case, columns, more)
            told = predictor.predict(state)[0].astype(np.float64)
            if classes:
                scores[row, feature] = -np.sum(target * (np.log(target) - np.log(told)))
            else:
                scores[row, feature] = -(((target - told)[0] / predictor.scale) ** 2)
    return scores


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("share", [0.0, 0.4, 0.8])
def test_scores_are_what_slow_code_finds(classes, share):
    policy, predictor = make(classes)
    cases = cases_of()
    asked = np.random.default_rng(2).random((30, 4)) < share
    state = State.of(cases, schema().column_feature, asked)
    expected = literal(predictor, cases, asked, classes)
    found = policy.score_with_truth(state, cases.x)
    empty = ~(state.known | (cases.present & ~asked)).any(axis=1)  # where even the best predictor says the prior
    blank = ~state.known.any(axis=1)[:, None] & ~cases.present  # likewise, where the answer is missing
    compared = ~blank & ~empty[:, None]
    assert compared.mean() > 0.6
    np.testing.assert_allclose(found[compared], expected[compared], rtol=1e-3, atol=1e-4)


def test_complete_cases_end_at_no_distance():
    policy, predictor = make(True)
    cases = cases_of(gaps=0.0)
    t = rollout(policy, predictor, cases, schema(), allow_truth=True)
    last = State.of(cases, schema().column_feature, np.eye(4, dtype=bool)[t.order[:, -1]] == 0)
    scores = policy.score_with_truth(last, cases.x)
    picked = scores[np.arange(30), t.order[:, -1]]
    np.testing.assert_allclose(picked, 0.0, atol=1e-5)
    assert (scores <= 1e-6).all()


def test_each_question_comes_nearest():
    """Every pick of a roll-out is the best by the literal distances."""
    policy, predictor = make(True)
    cases = cases_of(gaps=0.0)
    t = rollout(policy, predictor, cases, schema(), stopping=MaxFeatures(3), allow_truth=True)
    for step in range(3):
        asked = t.selected(step)
        scores = np.where(asked, -np.inf, literal(predictor, cases, asked, True))
        best = scores.max(axis=1)
        np.testing.assert_allclose(scores[np.arange(30), t.order[:, step]], best, atol=1e-4)
    assert len(np.unique(t.order[:, 0])) > 1  # cases differ


def test_zeros_are_values_where_the_training_rows_had_them():
    missing, _ = make(True, zero_is_missing=True)
    values, predictor = make(True, zero_is_missing=False)
    cases = Cases(np.zeros((1, 7), dtype=np.float32), np.ones((1, 4), dtype=bool))
    state = State.of(cases, schema().column_feature, np.zeros((1, 4), dtype=bool))
    assert (missing.score_with_truth(state, cases.x) == 0.0).all()  # nothing to be told
    expected = literal(predictor, cases, state.asked, True)
    np.testing.assert_allclose(values.score_with_truth(state, cases.x), expected, rtol=1e-4, atol=1e-5)


def test_a_row_alone_has_its_own_scores():
    policy, _ = make(True)
    cases = cases_of()
    state = State.of(cases, schema().column_feature, np.random.default_rng(0).random((30, 4)) < 0.3)
    many = policy.score_with_truth(state, cases.x)
    one = State(state.x[4:5], state.asked[4:5], state.known[4:5])
    np.testing.assert_allclose(policy.score_with_truth(one, cases.x[4:5])[0], many[4], rtol=1e-5, atol=1e-6)


def test_can_be_made_again():
    policy, _ = make(False)
    cases = cases_of()
    state = State.of(cases, schema().column_feature, np.zeros((30, 4), dtype=bool))
    for again in (OraclePolicy.build(policy.config(), policy.arrays()), pickle.loads(pickle.dumps(policy))):
        np.testing.assert_array_equal(again.score_with_truth(state, cases.x), policy.score_with_truth(state, cases.x))


@pytest.mark.parametrize(
    "change",
    [
        {"starts": np.array([0, 1, 4])},
        {"starts": np.array([0, 4, 1, 6])},
        {"starts": np.array([1, 2, 4, 6])},
        {"starts": np.array([0, 1, 4, 7])},
        {"starts": np.array([0.0, 1.0, 4.0, 6.0])},
        {"zero_is_missing": np.ones(3, dtype=np.uint8)},
        {"bias2": np.zeros(2, dtype=np.float32)},
    ],
)
def test_what_does_not_fit_is_refused(change):
    policy, _ = make(True)
    with pytest.raises(ValueError, match=r"begin at|do not fit"):
        OraclePolicy.build(policy.config(), policy.arrays() | change)
    with pytest.raises(ValueError, match="3 outputs"):
        OraclePolicy.build({"classes": False}, policy.arrays())


def test_is_refused_without_the_truth():
    policy, predictor = make(True)
    cases = cases_of()
    with pytest.raises(TruthError):
        rollout(policy, predictor, cases, schema())
    with raises(TruthError, "needs_truth", name="OraclePolicy"):
        policy.score(State.of(cases, schema().column_feature, cases.present))
