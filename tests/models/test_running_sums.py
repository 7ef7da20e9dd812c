"""Networks that go on from the state before give what they give for the state alone."""

import pickle
from itertools import pairwise

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.core import Asker, Cases, Interview, MaxFeatures, State, rollout
from askless.models import NetPolicy, NetPredictor, Network
from askless.models.spread import LogVariance
from tests.core.linear import schema_of

LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "strict": array_api_strict.asarray}


def network(rng, schema, hidden, outputs, dtype=np.float32):
    normal = lambda *shape: rng.normal(size=shape).astype(dtype)  # noqa: E731
    widths = [*hidden, outputs]
    return Network(
        normal(schema.n_columns, hidden[0]),
        normal(len(schema), hidden[0]),
        tuple(normal(width) for width in widths),
        tuple(normal(a, b) / np.sqrt(a).astype(dtype) for a, b in pairwise(widths)),
    )


def models(rng, schema, hidden, classes, first, dtype=np.float32):
    """A policy and a predictor; the policy may have first scores, and a predictor of means has a spread."""
    policy = NetPolicy(
        network(rng, schema, hidden, len(schema), dtype),
        rng.normal(size=len(schema)).astype(dtype) if first else None,
    )
    net = network(rng, schema, hidden[::-1], classes or 1, dtype)
    if classes:
        return policy, NetPredictor(net, classes=True, prior=np.full(classes, 1 / classes, dtype))
    spread = LogVariance(rng.normal(size=len(schema) + 3).astype(dtype), np.array([-3.0, 3.0], dtype))
    return policy, NetPredictor(
        net, classes=False, prior=np.zeros(1, dtype), offset=3.0, scale=2.0, log_variance=spread
    )


class Checked:
    """A policy or a predictor that compares each result with that for a bare copy of the state."""

    def __init__(self, model, dense):
        self.model, self.dense, self.steps = model, dense, 0

    def _same(self, call, state):
        found = call(state)
        bare = State(state.x, state.asked, state.known)
        expected = self.dense(self.model, bare)
        assert found.shape == expected.shape
        assert np.isfinite(np.asarray(found)).all()
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(np.asarray(call(state)), np.asarray(found))  # and again the same
        self.steps += 1
        return found

    def score(self, state):
        return self._same(self.model.score, state)

    def predict(self, state):
        if self.model.log_variance is not None:
            bare = State(state.x, state.asked, state.known)
            expected = np.asarray(self.model.spread(bare))
            np.testing.assert_allclose(np.asarray(self.model.spread(state)), expected, rtol=1e-3)
        return self._same(self.model.predict, state)


def dense_scores(policy, state):
    scores = np.asarray(policy.network(state.x, state.known)).copy()
    if policy.first is not None:
        scores[~np.asarray(state.known).any(axis=1)] = policy.first
    return scores


def dense_predictions(predictor, state):
    outputs = np.asarray(predictor.network(state.x, state.known)).astype(np.float64)
    if predictor.classes:
        outputs = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        outputs /= outputs.sum(axis=1, keepdims=True)
    else:
        outputs = outputs * predictor.scale + predictor.offset
    outputs[~np.asarray(state.known).any(axis=1)] = predictor.prior
    return outputs


def checked(policy, predictor):
    return Checked(policy, dense_scores), Checked(predictor, dense_predictions)


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 9),
    widths=st.lists(st.integers(1, 4), min_size=1, max_size=8),
    hidden=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    classes=st.sampled_from([0, 2, 5]),
    missing=st.sampled_from(["skip", "answer"]),
    flags=st.tuples(*[st.booleans()] * 4),
)
def test_a_rollout_gives_what_dense_products_give(seed, n, widths, hidden, classes, missing, flags):
    rng = np.random.default_rng(seed)
    first, some_available, some_known, double = flags
    schema = schema_of(widths)
    models_ = models(rng, schema, hidden, classes, first)
    shape = (n, len(schema))
    x = rng.normal(size=(n, schema.n_columns)).astype(np.float64 if double else np.float32)
    present, available, known = rng.random(shape) < 0.7, rng.random(shape) < 0.8, rng.random(shape) < 0.2
    for make in LIBRARIES.values():
        policy, predictor = checked(*models_)
        t = rollout(
            policy,
            predictor,
            Cases(make(x), make(present)),
            schema,
            missing=missing,
            available=make(available) if some_available else None,
            known=make(known) if some_known else None,
        )
        assert predictor.steps == t.order.shape[1] + 1


@pytest.mark.parametrize("classes", [0, 2])
def test_a_long_rollout_of_many_cases(classes):
    rng = np.random.default_rng(0)
    schema = schema_of([1, 2, 2, 1, 3] * 8)
    x = rng.normal(size=(300, schema.n_columns)).astype(np.float32)
    policy, predictor = checked(*models(rng, schema, [32, 16], classes, False))
    rollout(policy, predictor, Cases(x, np.ones((300, 40), dtype=bool)), schema)
    assert policy.steps == 40


class Columns:
    """Answers are the encoded columns themselves."""

    def encode_answer(self, feature, answer):
        return answer


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    widths=st.lists(st.integers(1, 4), min_size=1, max_size=6),
    classes=st.sampled_from([0, 2, 5]),
    first=st.booleans(),
    events=st.lists(
        st.sampled_from(["answer", "answer", "unknown", "later", "tell", "tell nothing", "undo"]), max_size=15
    ),
)
def test_an_interview_gives_what_dense_products_give(seed, widths, classes, first, events):
    rng = np.random.default_rng(seed)
    schema = schema_of(widths)
    policy, predictor = checked(*models(rng, schema, [6, 4], classes, first))
    blocked = ["f0"] if len(widths) > 2 else []
    describe = lambda output, state: dict(enumerate(output[0].tolist()))  # noqa: E731
    how = {"stopping": MaxFeatures(5), "describe": describe, "unavailable": blocked}
    talk = Interview(Asker(policy, predictor, schema), Columns(), **how)
    seen = []
    for event in events:
        values = lambda name: rng.normal(size=widths[schema.index(name)]).astype(np.float32)  # noqa: E731
        before = (talk.question, talk.prediction)
        if event.startswith("tell"):
            name = schema.names[rng.integers(len(schema))]
            talk.tell(name, values(name) if event == "tell" else None)
        elif event == "undo":
            if seen:
                talk.undo()
                assert (talk.question, talk.prediction) == seen.pop()
            continue
        elif talk.done:
            continue
        elif event == "answer":
            talk.answer(values(talk.question.name))
        else:
            getattr(talk, event)()
        seen.append(before)


class Alone:
    """A policy or a predictor that nothing can be joined with."""

    def __init__(self, model):
        self.score, self.predict = getattr(model, "score", None), getattr(model, "predict", None)


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    widths=st.lists(st.integers(1, 4), min_size=1, max_size=6),
    hidden=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    classes=st.sampled_from([0, 2, 5]),
    first=st.booleans(),
    events=st.lists(
        st.sampled_from(["answer", "answer", "unknown", "later", "tell", "tell nothing", "record", "undo"]),
        max_size=15,
    ),
)
def test_a_policy_beside_its_predictor_asks_and_predicts_what_both_do_alone(
    seed, widths, hidden, classes, first, events
):
    rng = np.random.default_rng(seed)
    schema = schema_of(widths)
    policy, predictor = models(rng, schema, hidden, classes, first)
    predictor.temperatures = np.linspace(0.5, 2.0, len(schema) + 1).astype(np.float32)

    def described(output, state):
        spread = predictor.spread(state)
        return dict(enumerate([*output[0].tolist(), *([] if spread is None else spread.tolist())]))

    def described_alone(output, state):
        return described(output, State(state.x, state.asked, state.known))

    pair, single = (
        Interview(Asker(*both, schema), Columns(), stopping=MaxFeatures(5), describe=describe)
        for both, describe in [
            ((policy, predictor), described),
            ((Alone(policy), Alone(predictor)), described_alone),
        ]
    )
    assert pair._both is not None
    assert single._both is None
    for event in ["answer", *events]:
        name = schema.names[rng.integers(len(schema))]
        value = rng.normal(size=widths[schema.index(name)]).astype(np.float32)
        for talk in (pair, single):
            if event.startswith("tell"):
                talk.tell(name, value if event == "tell" else None)
            elif event == "record":
                if name not in {each.feature for each in talk.history if each.action in ("answer", "unknown")}:
                    talk.record({name: value})
            elif event == "undo":
                if talk.can_undo:
                    talk.undo()
            elif not talk.done and event == "answer":
                talk.answer(np.resize(value, widths[schema.index(talk.question.name)]))
            elif not talk.done:
                getattr(talk, event)()
        told = []
        for talk in (pair, single):
            ranked = [(c.name, c.score) for c in talk.candidates]
            told.append((talk.question, talk.stop_reason, [n for n, _ in ranked]))
            told.append(np.array([*talk.prediction.values(), *(s for _, s in ranked)]))
        assert told[0] == told[2]
        np.testing.assert_allclose(told[1], told[3], rtol=1e-4, atol=1e-5)


def test_who_cannot_be_joined_goes_alone():
    rng = np.random.default_rng(0)
    schema = schema_of([1, 2])
    policy, predictor = models(rng, schema, [4], 2, False)

    class Shifted(NetPolicy):
        def score(self, state):
            return super().score(state) + 1.0

    assert policy.beside(predictor) is not None
    assert policy.beside(Alone(predictor)) is None
    assert Shifted(policy.network).beside(predictor) is None
    assert Asker(Alone(policy), predictor, schema).both is None


def test_an_interview_gives_what_a_rollout_of_its_case_gives():
    rng = np.random.default_rng(0)
    schema = schema_of([2] * 12)
    policy, predictor = models(rng, schema, [16, 8], 3, True)
    x = rng.normal(size=(1, 24)).astype(np.float32)
    t = rollout(policy, predictor, Cases(x, np.ones((1, 12), dtype=bool)), schema)
    how = {"stopping": None, "describe": lambda output, state: {"all": output[0].tolist()}}
    talk = Interview(Asker(policy, predictor, schema), Columns(), **how)
    for i, feature in enumerate(t.order[0]):
        assert talk.question.name == f"f{feature}"
        talk.answer(x[0, 2 * feature : 2 * feature + 2])
        assert talk.prediction["all"] == t.predictions[0, i + 1].tolist()


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 12])
@pytest.mark.parametrize("unknown", [False, True])
def test_answers_recorded_together(count, unknown):
    """As one by one, and as dense products give it, also where the last sums are far back."""
    rng = np.random.default_rng(count)
    schema = schema_of([2, 1, 3] * 4)
    policy, predictor = models(rng, schema, [8, 6], 3, True)
    predictor.temperatures = np.linspace(0.5, 2.0, 13).astype(np.float32)  # by how many are known
    answers = {
        f"f{i}": None if unknown and i % 3 == 1 else rng.normal(size=schema.widths[i]).astype(np.float32)
        for i in rng.permutation(12)[:count]
    }
    how = {"stopping": None, "describe": lambda output, state: {"all": output[0].tolist()}}
    talk = Interview(Asker(policy, predictor, schema), Columns(), **how)
    slowly = talk.copy()
    talk.record(answers)
    for name, value in answers.items():
        slowly.answers({name: value})
    state = talk._now.state
    bare = State(state.x, state.asked, state.known)
    assert state.known.sum() == sum(value is not None for value in answers.values())
    np.testing.assert_allclose(talk.prediction["all"], slowly.prediction["all"], rtol=1e-5)
    np.testing.assert_allclose(talk.prediction["all"], predictor.predict(bare)[0], rtol=1e-4)
    np.testing.assert_allclose(policy.score(state), policy.network(bare.x, bare.known), rtol=1e-4, atol=1e-4)
    assert talk.question == slowly.question
    if not talk.done:
        talk.answer(rng.normal(size=schema.widths[schema.index(talk.question.name)]).astype(np.float32))
        state = talk._now.state
        np.testing.assert_allclose(
            talk.prediction["all"], predictor.predict(State(state.x, state.asked, state.known))[0], rtol=1e-4
        )


def test_two_states_after_the_same_one():
    rng = np.random.default_rng(0)
    schema = schema_of([1] * 30)
    policy, _ = models(rng, schema, [8], 2, False)
    cases = Cases(rng.normal(size=(4, 30)).astype(np.float32), np.ones((4, 30), dtype=bool))
    start = State.of(cases, schema.column_feature, rng.random((4, 30)) < 0.2)
    policy.score(start)
    for pick in ([3, 4, 3, -1], [7, 7, 7, 7]):  # some were known before
        after = start.after(np.array(pick), cases, schema)
        np.testing.assert_allclose(policy.score(after), policy.network(after.x, after.known), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(policy.score(start), policy.network(start.x, start.known), rtol=1e-4, atol=1e-4)


def test_pickles_hold_the_weights_only():
    rng = np.random.default_rng(0)
    schema = schema_of([1, 2])
    net = network(rng, schema, [4], 2)
    before = pickle.dumps(net)
    state = State(np.zeros((1, 3), np.float32), *np.zeros((2, 1, 2), dtype=bool))
    state = state.answered(0, 0, 1, np.ones(1, np.float32))
    net.outputs(state)
    predictor = NetPredictor(net, classes=True, prior=np.full(2, 0.5, np.float32))
    NetPolicy(net).beside(predictor)(state)
    assert pickle.dumps(net) == before
