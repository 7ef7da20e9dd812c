"""Stochastic gates: formulas by hand, the loss against a literal one, ranks against planted signals."""

import math

import numpy as np
import pytest
import torch

from askless.methods import FixedOrder, StochasticGates
from askless.methods.static import ranked_by_leaving
from askless.methods.stochastic_gates import SPEED, GatedNetwork, GateLearner
from askless.training import Checkpoint, Progress, SubsetLearner, full_sets, new_predictor, seeded
from tests.methods.algorithm_1 import forward, loss_of
from tests.methods.given_rows import copied_rows, first, problem_of, xor_rows
from tests.methods.planted import BEST, SECOND, planted

QUICK = {"hidden": (32,), "stages": 25, "stage_epochs": 10, "open_epochs": 40, "batch_size": 128}


def scores_of(method, problem, seed=0):
    return method._scores(problem, seed, Progress(), None)[0]


def gated(problem, means, sigma=0.5):
    """A network with these means, in float64."""
    with seeded(0):
        predictor = new_predictor(problem, FixedOrder(hidden=(16, 8), dropout=0.0).net)
        module = GatedNetwork(len(problem.schema), sigma, predictor).double()
    with torch.no_grad():
        module.moved.copy_((torch.tensor(means).double() - 0.5) / SPEED)
    return module


def test_the_expected_number_of_open_gates_by_hand(make_problem):
    module = gated(make_problem((1, 1, 1, 1)), [0.0, 0.5, -0.5, 1.0])
    expected = module.expected_open()
    assert abs(float(expected.detach()) - (0.5 + 0.8413447 + 0.1586553 + 0.9772499)) < 1e-6
    with seeded(0):
        counts = (module.gates(200_000) > 0).sum(dim=1).double()
    assert abs(float(counts.mean()) - 2.4772499) < 0.01
    expected.backward()
    density = [math.exp(-0.5 * (mean / 0.5) ** 2) / (0.5 * math.sqrt(2 * math.pi)) for mean in (0.0, 0.5, -0.5, 1.0)]
    np.testing.assert_allclose(module.moved.grad, SPEED * np.array(density), atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(("widths", "gaps"), [((1, 1, 1), False), ((1, 3, 2, 1), True)])
def test_the_loss_is_the_literal_one(task, widths, gaps, make_problem):
    problem = make_problem(widths, task, gaps=gaps)
    module = gated(problem, np.linspace(0.0, 0.75, len(widths)))
    subsets = SubsetLearner(module.predictor, problem, full_sets, batch_size=12, seed=0)
    learner = GateLearner(module, subsets, torch.zeros(1, len(widths)), 0, penalty=0.3)
    rows = subsets.rows
    with seeded(3):
        loss = learner.loss(torch.arange(len(rows)), 1.0)
    grads = torch.autograd.grad(loss, list(module.parameters()))

    with seeded(3):
        noise = torch.randn(len(rows), len(widths), dtype=torch.float64)
    losses, price = [], 0.0
    for row in range(len(rows)):
        values, mask, start = [], [], 0
        for i, width in enumerate(widths):
            gate = torch.clamp(0.5 + SPEED * module.moved[i] + 0.5 * noise[row, i], 0, 1) * rows.present[row, i]
            values.append(gate * rows.x[row, start : start + width])
            mask.append(gate[None])
            start += width
        y = rows.y[row : row + 1]
        losses.append(loss_of(forward(module.predictor, torch.cat([*values, *mask])[None]), y))
    for i in range(len(widths)):
        price = price + torch.distributions.Normal(0.0, 1.0).cdf((0.5 + SPEED * module.moved[i]) / 0.5)
    literal = torch.cat(losses).mean() + 0.3 * price
    expected = torch.autograd.grad(literal, list(module.parameters()))
    torch.testing.assert_close(loss, literal, rtol=0, atol=1e-7, check_dtype=False)
    for mine, theirs in zip(grads, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-7)
    assert float(grads[0].abs().min()) > 1e-5


def test_means_stay_where_the_penalty_moves_them(make_problem):
    module = gated(make_problem((1, 1)), [15.5, -14.5])
    module.bound()
    assert module.means.tolist() == pytest.approx([1.0, -14.5])


def test_validation_is_without_noise_and_notes_the_means(make_problem):
    problem = make_problem((1, 1, 1), gaps=True)
    module = gated(problem, [0.25, -0.5, 2.0])
    subsets = SubsetLearner(module.predictor, problem, full_sets, batch_size=12, seed=0)
    learner = GateLearner(module, subsets, torch.full((2, 3), torch.nan), 1, penalty=0.3)
    losses, valid = learner.validate(module, 1.0), subsets.valid
    mask = torch.tensor([0.25, 0.0, 1.0]).double() * valid.present
    expected = loss_of(forward(module.predictor, torch.cat([valid.x * mask, mask], dim=1)), valid.y).mean()
    assert losses == {"loss": pytest.approx(float(expected.detach()), abs=1e-9), "open": 2}
    assert learner.path[1].tolist() == pytest.approx([0.25, -0.5, 2.0])
    assert bool(learner.path[0].isnan().all())


def test_closed_gates_need_no_batches(make_problem):
    problem = make_problem((1, 1))
    for means, batches in (([-0.1, 0.0], 0), ([-0.1, 0.1], 1)):
        module = gated(problem, means)
        subsets = SubsetLearner(module.predictor, problem, full_sets, batch_size=12, seed=0)
        assert len(GateLearner(module, subsets, torch.zeros(1, 2), 0, penalty=1.0).batches()) == batches


def test_the_rank_is_how_long_a_gate_stays_open():
    path = np.array(
        [
            # last to close; first; never open; opens again; closes with the fourth, but further
            [0.5, 0.2, -0.1, 0.3, 0.9],
            [0.5, -0.2, -0.2, -0.3, 0.9],
            [0.5, -0.3, -0.3, 0.1, 0.8],
            [0.4, -0.4, -0.4, -0.2, -0.5],
            [-0.1, -0.5, -0.5, -0.3, -0.5],
        ]
    )
    assert ranked_by_leaving(path, tie=1).tolist() == [4, 1, 0, 3, 2]
    assert ranked_by_leaving(np.array([[0.5, 0.9, 0.7]]), tie=1).tolist() == [0, 2, 1]  # none has closed


def test_a_pair_that_matters_only_together_is_found():
    assert set(first(scores_of(StochasticGates(**QUICK), problem_of(*xor_rows(), 2)), 2)) == {2, 4}


def test_of_a_column_and_its_copy_only_one_is_among_the_first():
    chosen = first(scores_of(StochasticGates(**QUICK), problem_of(*copied_rows(), 2)), 2)
    assert len({0, 1} & set(chosen)) == 1
    assert 4 in chosen


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_most_useful_come_first_and_groups_are_whole(task):
    problem = planted(task, gaps=0.1)
    scores, history = StochasticGates(**QUICK)._scores(problem, 0, Progress(), None)
    assert first(scores, 2) == [BEST, SECOND]
    assert sorted(scores) == list(range(len(problem.schema)))  # no two are equal: every budget is met
    opened = [row["valid_open"] for row in history if "valid_open" in row]
    assert opened[0] >= 4
    assert opened[-1] == 0


def test_higher_penalties_close_gates_earlier():
    problem = planted("classification", n=300)
    opened = []
    for last in (0.02, 20.0):
        method = StochasticGates(hidden=(8,), stages=4, stage_epochs=30, open_epochs=5, penalties=(1e-3, last))
        _, history = method._scores(problem, 0, Progress(), None)
        assert len(history) == 5 + 4 * 30
        opened.append([row["valid_open"] for row in history if "valid_open" in row][-1])
    assert opened[0] > opened[1]


def test_an_interrupted_path_continues_to_the_same_end(tmp_path):
    class Killed(Exception):
        pass

    class Killing(Progress):
        def epoch(self, done, phase, row):
            if done == 23:
                raise Killed

    problem = planted("classification", n=90)
    method = StochasticGates(hidden=(8,), stages=10, stage_epochs=3, open_epochs=5)
    whole, _ = method._scores(problem, 0, Progress(), None)
    with pytest.raises(Killed):
        method._scores(problem, 0, Killing(), Checkpoint(tmp_path / "fit", "same"))
    again, history = method._scores(problem, 0, Progress(), Checkpoint(tmp_path / "fit", "same"))
    assert again.tolist() == whole.tolist()
    assert len(history) == 35
