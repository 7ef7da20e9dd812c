"""Opportunistic learning against hand arithmetic, a literal deep Q-learning, and a random order."""

import numpy as np
import pytest
import torch
from askless.nn import Dropout

from askless import DynamicClassifier, DynamicRegressor
from askless.datasets import load_dataset
from askless.exceptions import ParameterError
from askless.methods import Opportunistic, Random
from askless.methods.opportunistic.certainty import certainty, rewards
from askless.methods.opportunistic.learner import OpportunisticLearner, td_targets
from askless.methods.opportunistic.replay import MOST_BYTES, Experiences, Replay, capacity
from askless.methods.opportunistic.streams import Streams, states_of
from askless.training import States
from tests.coded import raises
from tests.methods.algorithm_1 import forward, loss_of

WIDTHS = (1, 3, 2, 1)


def dropout(rate=0.0, seed=0):
    return Dropout(rate, torch.Generator().manual_seed(seed), seed)


def experiences(problem, count, seed=0):
    """Random ones: sets that leave at least one question, and one of the questions that are left."""
    rng = np.random.default_rng(seed)
    rows = problem.tensors("train")
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


def learner_of(problem, module, *, rate=0.0, discount=0.5, streams=4, batch_size=8, size=64, target_rate=0.1):
    rows = problem.tensors("train")
    return OpportunisticLearner(
        module,
        problem,
        Streams(rows, problem.max_features, streams, seed=3),
        Replay(size, len(problem.schema), rows.x.dtype),
        dropout(rate),
        batch_size=batch_size,
        updates=5,
        mc_samples=3,
        discount=discount,
        target_rate=target_rate,
    )


# The reward


class Given:
    """A predictor whose passes give outputs that are known beforehand."""

    def __init__(self, *passes):
        self.passes = list(passes)

    def __call__(self, inputs, dropout):
        return type("Run", (), {"outputs": self.passes.pop(0)})


def logits(*rows):
    return torch.tensor(rows, dtype=torch.float64).log()


def test_the_reward_by_hand(make_problem):
    """Two passes; the states are: something known, nothing known, and a question without an answer."""
    problem = make_problem((1, 1, 1), gaps=True)
    rows = problem.tensors("train")
    known = torch.tensor([[1, 0, 0], [0, 0, 0], [1, 0, 0]], dtype=torch.uint8)
    present = torch.tensor([[1, 1, 1], [1, 1, 1], [1, 0, 1]], dtype=torch.float64)
    states = States(rows.x[:3], rows.y[:3], known, present, torch.ones(3, 3, dtype=torch.float64))
    before = [(0.5, 0.3, 0.2), (0.9, 0.05, 0.05), (0.2, 0.2, 0.6)]
    first = logits(*before, (0.7, 0.2, 0.1), (0.4, 0.4, 0.2), before[2])
    second = logits(*before, (0.3, 0.6, 0.1), (0.2, 0.2, 0.6), before[2])
    got = rewards(Given(first, second), rows, states, torch.tensor([1, 2, 1]), dropout(), 2)
    prior = np.bincount(problem.y_train, minlength=3) / len(problem.y_train)
    by_hand = [0.0 + 0.1 + 0.1, np.abs([0.3 - prior[0], 0.3 - prior[1], 0.4 - prior[2]]).sum(), 0.0]
    np.testing.assert_allclose(got, by_hand, atol=1e-6)


def test_the_reward_of_a_regression_is_how_far_the_mean_moves(make_problem):
    problem = make_problem((1, 1), task="regression")
    rows = problem.tensors("train")
    states = States(rows.x[:2], rows.y[:2], torch.tensor([[1, 0], [0, 0]], dtype=torch.uint8))
    one, two = (torch.tensor(v, dtype=torch.float64)[:, None] for v in ([1, 9, 3, 1], [2, 9, 5, -4]))
    got = rewards(Given(one, two), rows, states, torch.tensor([1, 0]), dropout(), 2)
    assert got.tolist() == [4.0 - 1.5, 1.5]  # nothing known stands for the mean, which is 0


def test_certainty_averages_probabilities_over_what_is_dropped(make_problem, make_module):
    problem = make_problem(WIDTHS)
    module, rows = make_module(problem), problem.tensors("train")
    known = torch.ones(len(rows), len(WIDTHS), dtype=torch.float64)
    got = certainty(module.predictor, rows, rows.x, known, dropout(0.5, 7), 4)
    source = dropout(0.5, 7)
    passes = [torch.softmax(module.predictor(rows.inputs(rows.x, known), source).outputs, dim=1) for _ in range(4)]
    torch.testing.assert_close(got, torch.stack(passes).mean(dim=0))
    assert not torch.equal(passes[0], passes[1])


# The loss


@torch.no_grad()
def literal_targets(problem, policy, target, some, discount):
    """What each experience's value should be, case by case."""
    rows, goals = problem.tensors("train"), []
    columns = torch.from_numpy(problem.schema.column_feature)
    for row, asked, pick, reward in zip(some.row, some.asked, some.pick, some.reward, strict=True):
        asked = {*asked.nonzero().flatten().tolist(), int(pick)}
        able = set(rows.askable[row].nonzero().flatten().tolist())
        left = sorted(able - asked)
        goal = float(reward)
        if len(asked) < problem.max_features and left:
            known = torch.tensor([f in asked and bool(rows.present[row, f]) for f in range(len(problem.schema))])
            inputs = torch.cat([rows.x[row] * known[columns], known.double()])[None]
            mine, theirs = forward(policy, inputs)[0], forward(target, inputs)[0]
            best = max(left, key=lambda f: float(mine[f]))
            goal += discount * float(theirs[best])
        goals.append(goal)
    return torch.tensor(goals, dtype=torch.float64)


@pytest.mark.parametrize(("gaps", "missing"), [(False, "skip"), (True, "skip"), (True, "answer")])
def test_targets_against_literal_ones(gaps, missing, make_problem, make_module):
    problem = make_problem(WIDTHS, gaps=gaps, missing=missing)
    module, rows = make_module(problem, shared=True), problem.tensors("train")
    learner, some = learner_of(problem, module), experiences(problem, 200)
    with torch.no_grad():
        for parameter in learner.target.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(5)))
    after = states_of(rows, some.row, some.asked_after)
    ended = some.asked_after.sum(dim=1) >= learner.streams.last[some.row]
    got = td_targets(module.policy, learner.target, rows, after, some.reward, ended, 0.5)
    expected = literal_targets(problem, module.policy, learner.target, some, 0.5)
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)
    assert 0 < int(ended.sum()) < len(ended)
    assert torch.equal(got[ended], some.reward[ended])
    plain = td_targets(module.policy, learner.target, rows, after, some.reward, ended, 0.0)
    assert torch.equal(plain, some.reward)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("shared", [True, False])
def test_gradients_against_autograd(task, shared, make_problem, make_module):
    problem = make_problem(WIDTHS, task, gaps=True)
    module, rows = make_module(problem, shared=shared), problem.tensors("train")
    learner, some = learner_of(problem, module), experiences(problem, 40)
    loss = learner.learn(some)
    fast = [parameter.grad.clone() for parameter in module.parameters()]

    before = states_of(rows, some.row, some.asked)
    after = states_of(rows, some.row, some.asked_after)
    goal = literal_targets(problem, module.policy, learner.target, some, 0.5)
    values = forward(module.policy, rows.inputs(before.x, before.known)).gather(1, some.pick[:, None]).squeeze(1)
    told = forward(module.predictor, rows.inputs(after.x, after.known))
    y = after.y if task == "classification" else after.y.double()
    literal = loss_of(told, y).mean() + (values - goal).square().mean()
    assert float(loss) == pytest.approx(float(literal.detach()), abs=1e-12)
    for mine, theirs in zip(fast, torch.autograd.grad(literal, list(module.parameters())), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-6 if task == "regression" else 1e-12)


# Experiences


def numbered(first, count, n_features=11):
    row = torch.arange(first, first + count)
    asked = (row[:, None] >> torch.arange(n_features)) & 1
    return Experiences(row, asked.to(torch.uint8), row % n_features, row.double() / 2)


def test_the_replay_holds_the_most_recent():
    replay = Replay(10, 11, torch.float64)
    for first in range(0, 28, 4):
        replay.add(numbered(first, 4))
        held = replay.at(torch.arange(len(replay)))
        newest = range(max(0, first + 4 - 10), first + 4)
        assert sorted(held.row.tolist()) == list(newest)
        again = numbered(0, 28)
        for part in ("asked", "pick", "reward", "asked_after"):
            assert torch.equal(getattr(held, part), getattr(again, part)[held.row]), part
    replay.add(numbered(100, 25))  # more than there is room for
    assert sorted(replay.at(torch.arange(10)).row.tolist()) == list(range(115, 125))


def test_how_much_is_kept():
    assert capacity(57, 10**9) == 57_000
    assert capacity(57, 3_000) == 3_000
    assert capacity(5_000, 10**9) * (5_000 // 8 + 24) <= MOST_BYTES


def test_streams_ask_up_to_the_budget_and_never_twice(make_problem, make_module):
    problem = make_problem((1, 1, 1, 1, 1), gaps=True, max_features=3)
    learner = learner_of(problem, make_module(problem), size=4000)
    for i in range(300):
        learner.collect(1.0 if i % 2 else 0.0)
    rows, held = learner.rows, learner.replay.at(torch.arange(len(learner.replay)))
    assert rows.askable[held.row, held.pick].all()
    assert not held.asked.gather(1, held.pick[:, None]).any()
    count, last = held.asked.sum(dim=1), rows.askable.sum(dim=1).clamp(max=3)[held.row]
    assert (count < last).all()
    assert set(count.tolist()) == {0, 1, 2}
    ends, starts = int((count + 1 == last).sum()), int((count == 0).sum())
    assert 0 <= starts - ends <= 4  # every one of the four streams that ended began again
    assert len(set(held.row.tolist())) == len(rows)


def test_exploration_is_the_share_of_random_questions(make_problem, make_module):
    problem = make_problem((1, 1, 1, 1, 1, 1), max_features=1)
    module = make_module(problem)
    learner = learner_of(problem, module, streams=200, size=4000)
    best = int(module.policy(torch.zeros(1, 12, dtype=torch.float64)).outputs.argmax())
    for exploration, share in ((0.0, 1.0), (0.6, 0.4 + 0.6 / 6), (1.0, 1 / 6)):
        start = int(learner.replay.total)
        for _ in range(5):
            learner.collect(exploration)
        picks = learner.replay.at(torch.arange(start, start + 1000)).pick
        assert float((picks == best).double().mean()) == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("n_features", [7, 150])
def test_experiences_for_each_update(n_features, make_problem, make_module):
    problem = make_problem((1,) * n_features)
    learner = learner_of(problem, make_module(problem), streams=3, batch_size=8, size=50, discount=0.0)
    for update in range(1, 41):
        for parameter in learner.module.parameters():
            parameter.grad = None
        learner.gradients(torch.rand(8, generator=torch.Generator().manual_seed(update)), 0.5)
        needed = max(8.0, update * (1 + n_features / 100))
        assert needed <= int(learner.replay.total) < needed + 3


def test_the_target_follows_the_q_network(make_problem, make_module):
    problem = make_problem(WIDTHS)
    module = make_module(problem, shared=True)
    learner = learner_of(problem, module, target_rate=0.25)
    start = [parameter.detach().clone() for parameter in learner.target.parameters()]
    with torch.no_grad():
        for parameter in module.policy.parameters():
            parameter.add_(1.0)
    learner.gradients(torch.rand(8), 1.0)
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
