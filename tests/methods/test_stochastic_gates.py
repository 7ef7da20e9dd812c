"""Stochastic gates: formulas by hand, gradients against autograd, ranks against planted signals."""

import numpy as np
import pytest
import torch
from askless.nn import Dropout

from askless.methods import FixedOrder, StochasticGates
from askless.methods.stochastic_gates.fitting import GateLearner, ranked_by_closing
from askless.methods.stochastic_gates.gates import (
    SPEED,
    GatedNetwork,
    Gates,
    expected_open,
    expected_open_gradient,
)
from askless.training import Checkpoint, SubsetLearner, full_sets, new_predictor
from tests.methods.algorithm_1 import forward, loss_of
from tests.methods.given_rows import copied_rows, first, problem_of, xor_rows
from tests.methods.planted import BEST, SECOND, Silent, planted

QUICK = {"hidden": (32,), "stages": 25, "stage_epochs": 10, "open_epochs": 40, "batch_size": 128}


def scores_of(method, problem, seed=0):
    return method._scores(problem, seed, Silent(), None)[0]


def test_the_expected_number_of_open_gates_by_hand():
    means = torch.tensor([0.0, 0.5, -0.5, 1.0], dtype=torch.float64)
    assert abs(float(expected_open(means, 0.5)) - (0.5 + 0.8413447 + 0.1586553 + 0.9772499)) < 1e-6
    draws = torch.randn(200_000, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert abs(float((Gates(means, draws, 0.5).mask > 0).sum(dim=1).double().mean()) - 2.4772499) < 0.01
    means.requires_grad_()
    (theirs,) = torch.autograd.grad(expected_open(means, 0.7), means)
    torch.testing.assert_close(expected_open_gradient(means.detach(), 0.7), theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(("widths", "gaps"), [((1, 1, 1), False), ((1, 3, 2, 1), True)])
def test_the_gradients_are_those_of_autograd(task, widths, gaps, make_problem):
    problem = make_problem(widths, task, gaps=gaps)
    source = torch.Generator().manual_seed(0)
    module = GatedNetwork(len(widths), new_predictor(problem, FixedOrder(hidden=(16, 8)).net, source)).double()
    dropout = Dropout(0.0, source, 0)
    subsets = SubsetLearner(module.predictor, problem, dropout, full_sets, 12, 0)
    learner = GateLearner(module, subsets, torch.zeros(1, len(widths)), 0, penalty=0.3, sigma=0.5)
    rows = subsets.rows
    with torch.no_grad():
        module.moved.copy_(torch.linspace(-0.1, 0.05, len(widths)))
    before = source.get_state()
    loss = learner.gradients(torch.arange(len(rows)), 1.0)
    mine = [p.grad.clone() for p in module.parameters()]

    source.set_state(before)
    noise = torch.randn(len(rows), len(widths), generator=source, dtype=torch.float64)
    means = 0.5 + SPEED * module.moved
    mask = torch.clamp(means + 0.5 * noise, 0, 1) * rows.present
    inputs = torch.cat([rows.x * mask[:, problem.schema.column_feature], mask], dim=1)
    y = rows.y if task == "classification" else rows.y.double()
    literal = loss_of(forward(module.predictor, inputs), y).mean()
    literal = literal + 0.3 * torch.distributions.Normal(0.0, 1.0).cdf(means / 0.5).sum()
    theirs = torch.autograd.grad(literal, list(module.parameters()))
    assert abs(float(loss) - float(literal.detach())) < 1e-9
    for a, b in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-9)


def test_means_do_not_leave_for_where_no_penalty_reaches_them(make_problem):
    problem = make_problem((1, 1))
    module = GatedNetwork(2, new_predictor(problem, FixedOrder(hidden=(4,)).net, torch.Generator().manual_seed(0)))
    with torch.no_grad():
        module.moved.copy_(torch.tensor([3.0, -3.0]))
    module.bound()
    assert module.means.tolist() == [1.0, 0.5 - 3.0 * SPEED]


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
    assert ranked_by_closing(path).tolist() == [4, 1, 0, 3, 2]
    assert ranked_by_closing(np.array([[0.5, 0.9, 0.7]])).tolist() == [0, 2, 1]  # none has closed


def test_a_pair_that_matters_only_together_is_found():
    assert set(first(scores_of(StochasticGates(**QUICK), problem_of(*xor_rows(), 2)), 2)) == {2, 4}


def test_of_a_column_and_its_copy_only_one_is_among_the_first():
    chosen = first(scores_of(StochasticGates(**QUICK), problem_of(*copied_rows(), 2)), 2)
    assert len({0, 1} & set(chosen)) == 1
    assert 4 in chosen


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_most_useful_come_first_and_groups_are_whole(task):
    problem = planted(task, gaps=0.1)
    scores, history = StochasticGates(**QUICK)._scores(problem, 0, Silent(), None)
    assert first(scores, 2) == [BEST, SECOND]
    assert sorted(scores) == list(range(len(problem.schema)))  # no two are equal: every budget is met
    opened = [row["valid_open"] for row in history if "valid_open" in row]
    assert opened[0] == 5
    assert opened[-1] == 0


def test_a_path_that_was_interrupted_goes_on_to_the_same_end(tmp_path):
    class Killed(Exception):
        pass

    class Killing(Silent):
        def epoch(self, done, phase, row):
            if done == 23:
                raise Killed

    problem = planted("classification", n=90)
    method = StochasticGates(hidden=(8,), stages=10, stage_epochs=3, open_epochs=5)
    whole, _ = method._scores(problem, 0, Silent(), None)
    with pytest.raises(Killed):
        method._scores(problem, 0, Killing(), Checkpoint(tmp_path / "fit", "same"))
    again, history = method._scores(problem, 0, Silent(), Checkpoint(tmp_path / "fit", "same"))
    assert again.tolist() == whole.tolist()
    assert len(history) == 35
