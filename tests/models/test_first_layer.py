"""The cached sums of the first layer equal the plain product."""

import pickle
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.acquisition import Cases, Context, Interview, MaxFeatures, Policy, Predictor, State, rollout
from askless.models import NetPolicy, NetPredictor, Network
from askless.models.network import FirstLayer, LogVariance
from tests.acquisition.linear import schema_of

COLUMNS, FEATURES, HIDDEN = 40, 20, 8


class Always(FirstLayer):
    """Caches batches and layers of every size, and counts how often the cache was of use."""

    SMALLEST = 0
    FEWEST_CASES = 1
    updates = 0

    def _updated(self, last, x, known):
        sums = super()._updated(last, x, known)
        self.updates += sums is not None
        return sums


@pytest.fixture(autouse=True)
def every_size(monkeypatch):
    """In these tests networks cache whatever their size."""
    monkeypatch.setattr("askless.models.network.FirstLayer", Always)


def layer_of(rng, kind=Always):
    normal = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    return kind(normal(COLUMNS, HIDDEN), normal(FEATURES, HIDDEN), normal(HIDDEN))


def batch_of(rng, n=30, share=0.3):
    known = rng.random((n, FEATURES)) < share
    x = np.where(known.repeat(2, axis=1), rng.normal(size=(n, COLUMNS)), 0).astype(np.float32)
    return x, known


def answered(rng, x, known, feature=3):
    """The batch after an answer to one feature, of two columns, in every second case."""
    x, known = x.copy(), known.copy()
    known[::2, feature] = True
    x[::2, 2 * feature : 2 * feature + 2] = rng.normal(size=(len(x[::2]), 2))
    return x, known


def product(layer, x, known):
    """The sums without a cache."""
    return x @ layer.value_weight + known.astype(x.dtype) @ layer.mask_weight + layer.bias


def assert_plain(layer, x, known):
    """The sums are those of the product, and repeat."""
    expected = product(layer, x, known)
    np.testing.assert_allclose(layer(x, known), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(layer(x, known), expected, rtol=1e-4, atol=1e-4)


def test_new_answers():
    rng = np.random.default_rng(0)
    layer, batch = layer_of(rng), batch_of(rng)
    assert_plain(layer, *batch)
    for feature in range(5):
        batch = answered(rng, *batch, feature)
        assert_plain(layer, *batch)
    assert layer.updates == 11  # all but the very first call


def test_corrections():
    """An answer is replaced by another one, and by none at all."""
    rng = np.random.default_rng(1)
    layer, batch = layer_of(rng), answered(rng, *batch_of(rng))
    assert_plain(layer, *batch)
    batch = answered(rng, *batch)
    assert_plain(layer, *batch)
    x, known = batch[0].copy(), batch[1].copy()
    known[:, 3] = False
    x[:, 6:8] = 0
    assert_plain(layer, x, known)
    assert layer.updates == 5


def test_another_batch_in_between():
    rng = np.random.default_rng(2)
    layer, one, other = layer_of(rng), batch_of(rng), batch_of(rng, share=0.9)
    assert_plain(layer, *one)
    assert_plain(layer, *other)
    assert layer.updates == 2  # the repeats only: too much differs between the two
    assert_plain(layer, *answered(rng, *one))
    assert_plain(layer, *answered(rng, *other))
    assert layer.updates == 4


@pytest.mark.parametrize("n", [1, 29, 31])
def test_another_number_of_cases(n):
    rng = np.random.default_rng(3)
    layer = layer_of(rng)
    x, known = batch_of(rng, 31)
    assert_plain(layer, x[:30], known[:30])
    assert_plain(layer, x[:n], known[:n])
    assert_plain(layer, x[:30], known[:30])
    assert layer.updates == 3


def test_sums_that_were_returned_do_not_change():
    rng = np.random.default_rng(4)
    layer, batch = layer_of(rng), batch_of(rng)
    first = layer(*batch)
    kept = first.copy()
    layer(*answered(rng, *batch))
    np.testing.assert_array_equal(first, kept)


def test_small_layers_and_batches_are_multiplied_as_a_whole():
    rng = np.random.default_rng(5)
    layer, batch = layer_of(rng, FirstLayer), batch_of(rng, 100)
    np.testing.assert_array_equal(layer(*batch), product(layer, *batch))
    assert layer._last is None
    wide = FirstLayer(np.zeros((COLUMNS, 1 << 12), np.float32), np.zeros((FEATURES, 1 << 12)), np.zeros(1 << 12))
    wide(batch[0][:10], batch[1][:10])
    assert wide._last is None
    wide(*batch)
    assert wide._last is not None


def network(rng, schema, hidden, outputs, dtype=np.float32):
    normal = lambda *shape: rng.normal(size=shape).astype(dtype)  # noqa: E731
    widths = [*hidden, outputs]
    return Network(
        normal(schema.n_columns, hidden[0]),
        normal(len(schema), hidden[0]),
        tuple(normal(width) for width in widths),
        tuple(normal(a, b) / np.sqrt(a).astype(dtype) for a, b in pairwise(widths)),
    )


def models(rng, schema, hidden, classes, first):
    """A policy and a predictor; the policy may have first scores, and a predictor of means has a spread."""
    policy = NetPolicy(
        network(rng, schema, hidden, len(schema)), rng.normal(size=len(schema)).astype(np.float32) if first else None
    )
    net = network(rng, schema, hidden[::-1], classes or 1)
    if classes:
        return policy, NetPredictor(net, classes=True, prior=np.full(classes, 1 / classes, np.float32))
    spread = LogVariance(rng.normal(size=len(schema) + 3).astype(np.float32), np.array([-3.0, 3.0], np.float32))
    return policy, NetPredictor(
        net, classes=False, prior=np.zeros(1, np.float32), offset=3.0, scale=2.0, log_variance=spread
    )


def without_cache(model):
    """A copy whose network multiplies as a whole."""
    again = pickle.loads(pickle.dumps(model))
    layer = again.network.first_sums
    object.__setattr__(again.network, "first_sums", partial(product, layer))
    return again


class Checked(Policy, Predictor):
    """A policy or a predictor that compares each result with that of plain products."""

    def __init__(self, model):
        self.model, self.plain, self.steps = model, without_cache(model), 0

    def _same(self, name, state):
        found, expected = getattr(self.model, name)(state), getattr(self.plain, name)(state)
        assert (found is None) == (expected is None)
        if found is not None:
            assert np.isfinite(found).all()
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
        return found

    def score(self, state):
        self.steps += 1
        return self._same("score", state)

    def predict(self, state):
        self.steps += 1
        return self._same("predict", state)

    def spread(self, state):
        return self._same("spread", state)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 9),
    widths=st.lists(st.integers(1, 4), min_size=1, max_size=8),
    hidden=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    classes=st.sampled_from([0, 2, 5]),
    missing=st.sampled_from(["skip", "answer"]),
    flags=st.tuples(*[st.booleans()] * 3),
)
def test_a_rollout_gives_what_plain_products_give(seed, n, widths, hidden, classes, missing, flags):
    rng = np.random.default_rng(seed)
    first, some_available, some_known = flags
    schema = schema_of(widths)
    policy, predictor = (Checked(model) for model in models(rng, schema, hidden, classes, first))
    shape = (n, len(schema))
    x = rng.normal(size=(n, schema.n_columns)).astype(np.float32)
    present, available, known = rng.random(shape) < 0.7, rng.random(shape) < 0.8, rng.random(shape) < 0.2
    t = rollout(
        policy,
        predictor,
        Cases(x, present),
        schema,
        missing=missing,
        available=available if some_available else None,
        known=known if some_known else None,
    )
    assert predictor.steps == t.order.shape[1] + 1


@pytest.mark.parametrize("classes", [0, 2])
def test_a_long_rollout_of_many_cases(classes):
    rng = np.random.default_rng(0)
    schema = schema_of([1, 2, 2, 1, 3] * 8)
    x = rng.normal(size=(300, schema.n_columns)).astype(np.float32)
    policy, predictor = (Checked(model) for model in models(rng, schema, [32, 16], classes, False))
    rollout(policy, predictor, Cases(x, np.ones((300, 40), dtype=bool)), schema)
    assert policy.steps == 40
    assert predictor.model.network.first_sums.updates > 30


class Columns:
    """Answers are the encoded columns themselves."""

    def encode_answer(self, feature, answer):
        return answer


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    widths=st.lists(st.integers(1, 4), min_size=1, max_size=6),
    classes=st.sampled_from([0, 2, 5]),
    first=st.booleans(),
    events=st.lists(
        st.sampled_from(["answer", "answer", "unknown", "later", "tell", "tell nothing", "undo"]), max_size=15
    ),
)
def test_an_interview_gives_what_plain_products_give(seed, widths, classes, first, events):
    rng = np.random.default_rng(seed)
    schema = schema_of(widths)
    policy, predictor = (Checked(model) for model in models(rng, schema, [6, 4], classes, first))
    blocked = ["f0"] if len(widths) > 2 else []
    describe = lambda output, state: dict(enumerate(output[0].tolist()))  # noqa: E731
    how = {"stopping": MaxFeatures(5), "describe": describe, "unavailable": blocked}
    talk = Interview(Context(policy, predictor, schema), Columns(), **how)
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


def test_an_interview_gives_what_a_rollout_of_its_case_gives():
    rng = np.random.default_rng(0)
    schema = schema_of([2] * 12)
    policy, predictor = (without_cache(model) for model in models(rng, schema, [16, 8], 3, True))
    x = rng.normal(size=(1, 24)).astype(np.float32)
    t = rollout(policy, predictor, Cases(x, np.ones((1, 12), dtype=bool)), schema)
    how = {"stopping": None, "describe": lambda output, state: {"all": output[0].tolist()}}
    talk = Interview(Context(policy, predictor, schema), Columns(), **how)
    for i, feature in enumerate(t.order[0]):
        assert talk.question.name == f"f{feature}"
        talk.answer(x[0, 2 * feature : 2 * feature + 2])
        assert talk.prediction["all"] == t.predictions[0, i + 1].tolist()


@pytest.mark.parametrize("count", [1, 3, 8, 12])
@pytest.mark.parametrize("unknown", [False, True])
def test_answers_recorded_together(count, unknown):
    """As one by one, and as plain products give it."""
    rng = np.random.default_rng(count)
    schema = schema_of([2, 1, 3] * 4)
    policy, predictor = models(rng, schema, [8, 6], 3, True)
    answers = {
        f"f{i}": None if unknown and i % 3 == 1 else rng.normal(size=schema.widths[i]).astype(np.float32)
        for i in rng.permutation(12)[:count]
    }
    how = {"stopping": None, "describe": lambda output, state: {"all": output[0].tolist()}}
    talk = Interview(Context(Checked(policy), Checked(predictor), schema), Columns(), **how)
    slowly = talk.copy()
    talk.record(answers)
    for name, value in answers.items():
        slowly.answers({name: value})
    np.testing.assert_allclose(talk.prediction["all"], slowly.prediction["all"], rtol=1e-4)
    assert talk.question == slowly.question


def test_two_states_after_the_same_one():
    rng = np.random.default_rng(0)
    schema = schema_of([1] * 30)
    policy = Checked(models(rng, schema, [8], 2, False)[0])
    cases = Cases(rng.normal(size=(4, 30)).astype(np.float32), np.ones((4, 30), dtype=bool))
    start = State.of(cases, schema.column_feature, rng.random((4, 30)) < 0.2)
    policy.score(start)
    for pick in ([3, 4, 3, -1], [7, 7, 7, 7]):  # some were known before
        policy.score(start.after(np.array(pick), cases, schema))
    policy.score(start)


def test_pickles_hold_the_weights_only():
    rng = np.random.default_rng(0)
    schema = schema_of([1, 2])
    net = network(rng, schema, [4], 2)
    before = pickle.dumps(net)
    cases = Cases(np.ones((5, 3), dtype=np.float32), np.ones((5, 2), dtype=bool))
    state = State.of(cases, schema.column_feature, np.ones((5, 2), dtype=bool))
    net.outputs(state)
    assert net.first_sums._last is not None
    assert pickle.dumps(net) == before
    assert pickle.loads(before).first_sums._last is None
