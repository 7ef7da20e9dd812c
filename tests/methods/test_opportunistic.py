"""Opportunistic learning against hand arithmetic, a literal deep Q-learning, and a random order."""

import numpy as np
import pytest
import torch

from askless import DynamicClassifier, DynamicRegressor
from askless.datasets import load_dataset
from askless.exceptions import ParameterError
from askless.methods import Opportunistic, Random
from askless.methods.opportunistic import (
    MOST_BYTES,
    STREAMS,
    Experiences,
    OpportunisticLearner,
    Replay,
    belief,
    replay_size,
    rewards,
    states_of,
)
from askless.networks import UnitDropout
from askless.training import States, seeded
from tests.coded import raises

WIDTHS = (1, 3, 2, 1)


def experiences(problem, count, seed=0):
    """Random ones: sets that leave at least one question, and one of the questions that are left."""
    rng = np.random.default_rng(seed)
    rows = problem.rows("train")
    row = torch.from_numpy(rng.integers(0, len(rows), count))
    askable = rows.askable[row].numpy()
    order = np.where(askable, rng.random(askable.shape), 2.0).argsort(axis=1)  # what can be asked comes first
    limit = np.minimum(askable.sum(axis=1), problem.max_features)
    size = (rng.random(count) * limit).astype(int)
    asked = np.zeros(askable.shape, dtype=np.uint8)
    for i in range(count):
        asked[i, order[i, : size[i]]] = 1
    pick = torch.from_numpy(order[np.arange(count), size])
    return Experiences(row, torch.from_numpy(asked), pick, torch.from_numpy(rng.random(count)))


def learner_of(problem, module, *, updates=5, **settings):
    settings = {"discount": 0.5, "batch_size": 8, "target_rate": 0.1, "mc_samples": 3} | settings
    with seeded(3):
        return OpportunisticLearner(module, problem, Opportunistic(**settings), updates=updates)


# The reward


class Given:
    """A predictor whose passes give outputs that are known beforehand."""

    def __init__(self, *passes):
        self.passes = list(passes)

    def __call__(self, x, known):
        return self.passes.pop(0)


def logits(*rows):
    return torch.tensor(rows, dtype=torch.float64).log()


def test_the_reward_by_hand(make_problem):
    """Two passes; the states are: something known, nothing known, and a question without an answer."""
    problem = make_problem((1, 1, 1), gaps=True)
    rows = problem.rows("train")
    known = torch.tensor([[1, 0, 0], [0, 0, 0], [1, 0, 0]], dtype=torch.uint8)
    present = torch.tensor([[1, 1, 1], [1, 1, 1], [1, 0, 1]], dtype=torch.float64)
    states = States(rows.x[:3], rows.y[:3], known, present, torch.ones(3, 3, dtype=torch.float64))
    before = [(0.5, 0.3, 0.2), (0.9, 0.05, 0.05), (0.2, 0.2, 0.6)]
    first = logits(*before, (0.7, 0.2, 0.1), (0.4, 0.4, 0.2), before[2])
    second = logits(*before, (0.3, 0.6, 0.1), (0.2, 0.2, 0.6), before[2])
    got = rewards(Given(first, second), rows, states, torch.tensor([1, 2, 1]), 2)
    prior = np.bincount(problem.y_train, minlength=3) / len(problem.y_train)
    by_hand = [0.0 + 0.1 + 0.1, np.abs([0.3 - prior[0], 0.3 - prior[1], 0.4 - prior[2]]).sum(), 0.0]
    np.testing.assert_allclose(got, by_hand, atol=1e-6)


def test_the_reward_of_a_regression_is_how_far_the_mean_moves(make_problem):
    problem = make_problem((1, 1), task="regression")
    rows = problem.rows("train")
    states = States(rows.x[:2], rows.y[:2], torch.tensor([[1, 0], [0, 0]], dtype=torch.uint8))
    one, two = (torch.tensor(v, dtype=torch.float64)[:, None] for v in ([1, 9, 3, 1], [2, 9, 5, -4]))
    got = rewards(Given(one, two), rows, states, torch.tensor([1, 0]), 2)
    assert got.tolist() == [4.0 - 1.5, 1.5]  # nothing known stands for the mean, which is 0


@torch.no_grad()
def test_beliefs_average_probabilities_over_what_is_dropped(make_problem, make_module):
    problem = make_problem(WIDTHS)
    rows, predictor = problem.rows("train"), make_module(problem, dropout=0.5).predictor
    known = torch.ones(len(rows), len(WIDTHS), dtype=torch.float64)
    with seeded(7):
        got = belief(predictor, rows, rows.x, known, 4)
    with seeded(7):
        passes = [torch.softmax(predictor(rows.x, known), dim=1) for _ in range(4)]
    torch.testing.assert_close(got, torch.stack(passes).mean(dim=0))
    assert not torch.equal(passes[0], passes[1])


def test_experiences_are_collected_with_dropout_in_the_reward_alone(make_problem, make_module, monkeypatch):
    """The Q-network asks without dropout; before and after an answer the predictor drops the same units."""
    problem = make_problem((1,) * 6, gaps=True, missing="answer")
    module = make_module(problem, shared=True, dropout=0.5).train()
    learner, drawn = learner_of(problem, module, updates=400, mc_samples=3), []
    units = UnitDropout.units
    monkeypatch.setattr(UnitDropout, "units", lambda self: drawn.append(units(self)) or drawn[-1])
    for _ in range(3):
        learner.collect(1.0)
    kept = [each for each in drawn if each is not None]
    assert len(kept) == 3 * 3 * 2  # passes, and hidden layers
    assert len(drawn) == len(kept) + 3 * 2  # of the Q-network
    held = learner.replay.at(torch.arange(3 * STREAMS))
    known = (held.asked.bool() & learner.rows.present[held.row]).any(dim=1)
    answered = learner.rows.present[held.row, held.pick]
    assert (known & ~answered).any()
    assert float(held.reward[known & ~answered].max()) < 1e-12
    assert (held.reward[known & answered] > 1e-6).all()


# The loss


def forward(network, x):
    """A plain multilayer perceptron over concatenated values and mask."""
    for layer in network.hidden.layers:
        x = torch.relu(x @ layer.weight.T + layer.bias)
    return x @ network.head.weight.T + network.head.bias


def inputs_of(problem, row, asked):
    """Values and mask (columns + features,) of one row, of which some features (a set) were asked."""
    rows = problem.rows("train")
    known = torch.tensor([f in asked and bool(rows.present[row, f]) for f in range(len(problem.schema))])
    return torch.cat([rows.x[row] * known[problem.column_feature], known.double()])


@torch.no_grad()
def literal_targets(problem, policy, target, some, discount):
    """What each experience's value should be, case by case."""
    rows, goals = problem.rows("train"), []
    for row, asked, pick, reward in zip(some.row, some.asked, some.pick, some.reward, strict=True):
        asked = {*asked.nonzero().flatten().tolist(), int(pick)}
        left = sorted(set(rows.askable[row].nonzero().flatten().tolist()) - asked)
        goal = float(reward)
        if len(asked) < problem.max_features and left:
            inputs = inputs_of(problem, row, asked)
            mine, theirs = forward(policy, inputs), forward(target, inputs)
            goal += discount * float(theirs[max(left, key=lambda f: float(mine[f]))])
        goals.append(goal)
    return torch.tensor(goals, dtype=torch.float64)


@torch.no_grad()
def perturb(network, seed=5):
    with seeded(seed):
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))


@pytest.mark.parametrize(("gaps", "missing"), [(False, "skip"), (True, "skip"), (True, "answer")])
def test_targets_against_literal_ones(gaps, missing, make_problem, make_module):
    problem = make_problem(WIDTHS, gaps=gaps, missing=missing)
    module, rows = make_module(problem, shared=True), problem.rows("train")
    learner, some = learner_of(problem, module), experiences(problem, 200)
    perturb(learner.target)
    after = states_of(rows, some.row, some.asked_after)
    ended = some.asked_after.sum(dim=1) >= learner.streams.last[some.row]
    got = learner.targets(after, some)
    expected = literal_targets(problem, module.policy, learner.target, some, 0.5)
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)
    assert 0 < int(ended.sum()) < len(ended)
    assert torch.equal(got[ended], some.reward[ended])
    assert torch.equal(learner_of(problem, module, discount=0.0).targets(after, some), some.reward)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("shared", [True, False])
def test_the_loss_is_the_literal_one(task, shared, make_problem, make_module):
    """Of the predictor after the answers, and of the Q-network before them; nothing flows through the targets."""
    problem = make_problem(WIDTHS, task, gaps=True)
    module, rows = make_module(problem, shared=shared), problem.rows("train")
    learner, some = learner_of(problem, module), experiences(problem, 40)
    goals = literal_targets(problem, module.policy, learner.target, some, 0.5)
    literal = 0.0
    for row, asked, pick, goal in zip(some.row, some.asked, some.pick, goals, strict=True):
        asked = set(asked.nonzero().flatten().tolist())
        value = forward(module.policy, inputs_of(problem, row, asked))[pick]
        outputs, y = forward(module.predictor, inputs_of(problem, row, asked | {int(pick)})), rows.y[row]
        loss = (outputs[0] - y).square() if task == "regression" else -torch.log_softmax(outputs, dim=0)[y]
        literal = literal + (loss + (value - goal).square()) / len(goals)
    found, parameters = learner.replayed_loss(some), list(module.parameters())
    assert float(found.detach()) == pytest.approx(float(literal.detach()), abs=1e-12)
    gradients = (torch.autograd.grad(loss, parameters) for loss in (found, literal))
    for mine, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-12)


# Experiences


def numbered(first, count, n_features=11):
    row = torch.arange(first, first + count)
    asked = (row[:, None] >> torch.arange(n_features)) & 1
    return Experiences(row, asked.to(torch.uint8), row % n_features, row.double() / 2)


def test_the_replay_holds_the_most_recent():
    replay, again = Replay(10, 11, torch.float64), numbered(0, 28)
    for first in range(0, 28, 4):
        replay.add(numbered(first, 4))
        held = replay.at(torch.arange(len(replay)))
        newest = range(max(0, first + 4 - 10), first + 4)
        assert sorted(held.row.tolist()) == list(newest)
        for part in ("asked", "pick", "reward", "asked_after"):
            assert torch.equal(getattr(held, part), getattr(again, part)[held.row]), part
    drawn = replay.draw(500)
    assert set(drawn.row.tolist()) == set(range(18, 28))
    assert torch.equal(drawn.reward, again.reward[drawn.row])


def test_how_much_is_kept():
    assert replay_size(57, 10**9) == 57_000
    assert replay_size(57, 3_000) == 3_000
    assert replay_size(5_000, 10**9) * (5_000 + 24) <= MOST_BYTES


def test_streams_ask_up_to_the_budget_and_never_twice(make_problem, make_module):
    problem = make_problem((1, 1, 1, 1, 1), gaps=True, max_features=3)
    learner = learner_of(problem, make_module(problem), updates=4000)
    for i in range(60):
        learner.collect(1.0 if i % 2 else 0.0)
    assert len(learner.replay) == 60 * STREAMS
    rows, held = learner.rows, learner.replay.at(torch.arange(len(learner.replay)))
    assert rows.askable[held.row, held.pick].all()
    assert not held.asked.gather(1, held.pick[:, None]).any()
    count, last = held.asked.sum(dim=1), rows.askable.sum(dim=1).clamp(max=3)[held.row]
    assert (count < last).all()
    assert set(count.tolist()) == {0, 1, 2}
    ends, starts = int((count + 1 == last).sum()), int((count == 0).sum())
    assert 0 <= starts - ends <= STREAMS  # every stream that ended began again
    assert len(set(held.row.tolist())) == len(rows)


def test_exploration_is_the_share_of_random_questions(make_problem, make_module):
    problem = make_problem((1, 1, 1, 1, 1, 1), max_features=1)
    module = make_module(problem)
    learner = learner_of(problem, module, updates=4000, mc_samples=1)
    nothing = torch.zeros(1, 6, dtype=torch.float64)
    best = int(module.policy.evaluate(nothing, nothing).argmax())
    for exploration, share in ((0.0, 1.0), (0.6, 0.4 + 0.6 / 6), (1.0, 1 / 6)):
        start = int(learner.replay.total)
        for _ in range(16):
            learner.collect(exploration)
        picks = learner.replay.at(torch.arange(start, start + 16 * STREAMS)).pick
        assert float((picks == best).double().mean()) == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("n_features", [7, 150])
def test_experiences_for_each_update(n_features, make_problem, make_module):
    problem = make_problem((1,) * n_features)
    learner = learner_of(problem, make_module(problem), updates=200, discount=0.0, mc_samples=1)
    batches = learner.batches()
    for update in range(1, 201):
        learner.loss(batches[update - 1], 0.5)
        needed = max(8.0, update * (1 + n_features / 100))
        assert needed <= int(learner.replay.total) < needed + STREAMS


def test_the_target_follows_the_q_network(make_problem, make_module):
    problem = make_problem(WIDTHS)
    module = make_module(problem, shared=True)
    learner = learner_of(problem, module, target_rate=0.25)
    start = [parameter.detach().clone() for parameter in learner.target.parameters()]
    with torch.no_grad():
        for parameter in module.policy.parameters():
            parameter.add_(1.0)
    learner.loss(learner.batches()[0], 1.0)
    for now, before in zip(learner.target.parameters(), start, strict=True):
        torch.testing.assert_close(now.detach(), before + 0.25)
    learner.begin()
    for now, theirs in zip(learner.target.parameters(), module.policy.parameters(), strict=True):
        assert torch.equal(now, theirs)


# The method


QUICK = {"epochs": 3, "pretrain_epochs": 1, "hidden": (16,), "mc_samples": 2}


class Stop(Exception):
    pass


def test_an_interrupted_fit_ends_with_the_same_weights(tmp_path, monkeypatch):
    data = load_dataset("exact_decision_tree", n=300, random_state=1)

    def fit(checkpoint=None):
        method = Opportunistic(discount=0.5, **QUICK)
        return DynamicClassifier(3, method, random_state=2).fit(data.frame, data.target, checkpoint=checkpoint)

    whole = fit().model_
    validate, calls = OpportunisticLearner.validate, []

    def failing(self, module, temperature):
        calls.append(1)
        if len(calls) == 1:
            raise Stop
        return validate(self, module, temperature)

    monkeypatch.setattr(OpportunisticLearner, "validate", failing)
    with pytest.raises(Stop):
        fit(tmp_path / "kept")
    resumed = fit(tmp_path / "kept").model_
    assert len(calls) >= 2
    for mine, theirs in ((whole.policy, resumed.policy), (whole.predictor, resumed.predictor)):
        for name, array in mine.arrays().items():
            np.testing.assert_array_equal(array, theirs.arrays()[name])


def test_settings_reach_the_phases():
    data = load_dataset("exact_decision_tree", n=200, random_state=1)

    def fit(**settings):
        estimator = DynamicClassifier(2, Opportunistic(**QUICK | settings)).fit(data.frame, data.target)
        parts = estimator.model_.policy, estimator.model_.predictor
        return estimator.history_, [part.network.value_weight for part in parts]

    history, trunks = fit(shared=True, pretrain_epochs=2, exploration=(0.8, 0.2))
    rows = {name: [row for row in history if row["phase"] == name] for name in ("pretraining", "values")}
    assert [len(part) for part in rows.values()] == [2, 3]
    assert "temperature" not in rows["pretraining"][0]
    assert rows["values"][-1]["temperature"] == pytest.approx(0.2)
    assert rows["values"][0]["temperature"] == pytest.approx(0.8 * 0.25 ** (1 / 3 / 0.8), rel=0.01)
    assert np.array_equal(*trunks)
    assert not np.array_equal(*fit(shared=False)[1])


def test_it_beats_a_random_order():
    data = load_dataset("exact_decision_tree", n=4000, random_state=1)
    fit = lambda method: DynamicClassifier(3, method, random_state=0).fit(data.frame[:3000], data.target[:3000])  # noqa: E731
    losses = []
    for method in (Opportunistic(epochs=10, hidden=(64,)), Random(hidden=(64,))):
        curve = fit(method).curve(data.frame[3000:], data.target[3000:], metric="log_loss")
        losses.append(np.mean(curve["score"][1:]))
    assert losses[0] < losses[1] - 0.05


def test_a_regression_learns():
    data = load_dataset("exact_gaussian_chain", n=600, random_state=1)
    model = DynamicRegressor(2, Opportunistic(epochs=4, hidden=(32,)), random_state=0)
    model.fit(data.frame[:400], data.target[:400])
    assert model.curve(data.frame[400:], data.target[400:])["score"].iloc[-1] > 0.5


@pytest.mark.parametrize(
    "setting", [{"discount": 1.5}, {"mc_samples": 0}, {"exploration": (1.0, 0.0)}, {"target_rate": 2}]
)
def test_settings_out_of_their_limits_are_refused(setting):
    data = load_dataset("exact_decision_tree", n=100, random_state=1)
    with raises(ParameterError, "out_of_range", name=next(iter(setting))):
        DynamicClassifier(2, Opportunistic(**setting)).fit(data.frame, data.target)
