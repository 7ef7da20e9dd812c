"""The expected-loss phase and the first question, against loops."""

import copy

import numpy as np
import torch
from torch.nn import functional

from askless.core import Cases, Grid, Schema
from askless.methods.greedy.expected import SHARPNESS, ExpectedLearner
from askless.nn import Dropout, GumbelBank, conv_pair
from askless.training import Problem, States, candidate_losses, first, first_question
from tests.methods.algorithm_1 import forward, loss_of
from tests.methods.given_rows import chains_of


def some_states(problem, seed=0):
    rows = problem.tensors("train")
    drawn = torch.rand(rows.present.shape, generator=torch.Generator().manual_seed(seed)) < 0.4
    drawn[:, 0] = False
    asked = (drawn & rows.askable).to(torch.uint8)
    return rows, States(rows.x, rows.y, asked, rows.present.double(), rows.askable.double())


def literal_loss(module, problem, rows, row, asked):
    shown = asked.bool() & rows.present[row]
    column_feature = torch.from_numpy(problem.schema.column_feature)
    inputs = torch.cat([rows.x[row] * shown[column_feature], shown.double()])
    return loss_of(forward(module.predictor, inputs[None]), rows.y[row : row + 1])[0]


def test_candidate_losses(make_problem, make_module):
    problem = make_problem((1, 2, 1, 3), gaps=True, missing="answer")
    module = make_module(problem)
    rows, states = some_states(problem)
    candidates = torch.rand(len(rows), 4, generator=torch.Generator().manual_seed(1)).argsort(dim=1)[:, :3]
    inputs = rows.inputs(states.x, states.known)
    fast = candidate_losses(module.predictor, rows, states, inputs, candidates)
    for row in range(len(rows)):
        for j, feature in enumerate(candidates[row].tolist()):
            if states.asked[row, feature]:
                continue  # no candidate: it is known already
            asked = states.asked[row].clone()
            asked[feature] = True
            literal = literal_loss(module, problem, rows, row, asked)
            assert abs(float(fast[row, j] - literal.detach())) < 1e-12


def test_loss_is_the_expectation_over_the_policy_plus_the_loss_of_the_pick(make_problem, make_module):
    problem = make_problem((1, 2, 1), gaps=True)  # fewer features than candidates: the expectation is complete
    module = make_module(problem)
    rows, states = some_states(problem)
    gumbel = GumbelBank(12, 3, torch.Generator().manual_seed(0), 0)
    learner = ExpectedLearner(module, problem, chains_of(problem), gumbel, None, exact_first=False)
    loss, pick = learner._gradients(states, states.first_rows(0), 1.0)

    total = 0.0
    column_feature = torch.from_numpy(problem.schema.column_feature)
    for row in range(len(rows)):
        shown = states.asked[row].bool() & rows.present[row]
        inputs = torch.cat([rows.x[row] * shown[column_feature], shown.double()])
        logits = SHARPNESS * forward(module.policy, inputs[None])[0]
        allowed = [i for i in range(3) if not states.blocked[row, i]]
        chance = torch.softmax(logits[allowed], dim=0)
        for p, feature in zip(chance, allowed, strict=True):
            asked = states.asked[row].clone()
            asked[feature] = True
            total = total + p * literal_loss(module, problem, rows, row, asked).detach()
        asked = states.asked[row].clone()
        asked[pick[row]] = True
        assert pick[row] in allowed
        total = total + literal_loss(module, problem, rows, row, asked)
    total = total / len(rows)
    assert abs(float((loss - total).detach())) < 1e-9
    parameters = list(module.parameters())
    for parameter, literal in zip(parameters, torch.autograd.grad(total, parameters), strict=True):
        torch.testing.assert_close(parameter.grad, literal, rtol=0, atol=1e-9)


def test_dropout_leaves_units_out_of_both_networks(make_problem, make_module):
    problem = make_problem((1, 2, 1))
    idle = []
    for dropout in (None, Dropout(0.5, torch.Generator().manual_seed(0), 0)):
        module = make_module(problem)
        gumbel = GumbelBank(12, 3, torch.Generator().manual_seed(0), 0)
        learner = ExpectedLearner(module, problem, chains_of(problem), gumbel, dropout, exact_first=False)
        learner.gradients(torch.arange(12), 1.0)
        weights = [net.head.gradients()[0][0] for net in (module.policy, module.predictor)]  # (outputs, 8) each
        idle.append([int((weight == 0).all(axis=0).sum()) for weight in weights])
    without, some = idle
    assert all(count >= 4 for count in some)
    assert all(count < 4 for count in without)


def test_on_one_trunk_the_policy_s_pass_is_a_lesson_for_the_predictor_too():
    grid = Grid(height=4, width=8, channels=1, patch_size=4)
    rng = np.random.default_rng(0)
    cases = Cases(rng.random((12, grid.n_columns)).astype(np.float32), np.ones((12, 2), dtype=bool))
    problem = Problem(
        Schema.of_patches(grid), cases, np.arange(12) % 3, cases, np.arange(12) % 3, "classification", 3, 2
    )
    module = conv_pair(grid, 3, "conv_tiny", shared=True, generator=torch.Generator().manual_seed(0)).double()
    literal = copy.deepcopy(module)
    gumbel = GumbelBank(12, 2, torch.Generator().manual_seed(0), 0)
    learner = ExpectedLearner(module, problem, chains_of(problem), gumbel, None, exact_first=False)
    rows = problem.tensors("train")
    asked = torch.tensor([[1, 0], [0, 1], [0, 0]], dtype=torch.uint8).repeat(4, 1)
    states = States(rows.x.double(), rows.y, asked)
    inputs = rows.inputs(states.x, states.known)
    run = learner._policy_pass(states, inputs)
    slopes = torch.randn(run.outputs.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    run.backward(slopes)

    literal.train()
    logits, outputs = (net.head(net.trunk(net.pixels(inputs))) for net in (literal.policy, literal.predictor))
    torch.testing.assert_close(run.outputs, logits.detach())
    ((slopes * logits).sum() + functional.cross_entropy(outputs, states.y)).backward()
    for mine, theirs in zip(module.parameters(), literal.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)


def test_first_question_compares_one_feature_losses(make_problem, make_module):
    problem = make_problem((1, 2, 1), gaps=True)
    module = make_module(problem).float()
    parts = [problem.tensors("train"), problem.tensors("valid")]
    for rows in parts:
        object.__setattr__(rows, "x", rows.x.float())
    gains = first_question(module.predictor, parts)
    prior = problem.prior_outputs
    for feature in range(3):
        gain, count = 0.0, 0
        for rows in parts:
            for row in range(len(rows)):
                if not rows.present[row, feature]:
                    continue
                mask = torch.zeros(1, 3)
                mask[0, feature] = 1.0
                x = rows.x[row : row + 1] * mask[:, torch.from_numpy(problem.schema.column_feature)]
                after = loss_of(module.predictor(torch.cat([x, mask], dim=1)).outputs, rows.y[row : row + 1])
                gain += float(loss_of(prior[None], rows.y[row : row + 1]) - after)
                count += 1
        assert abs(float(gains[feature]) - gain / count) < 1e-5


def test_large_tables_find_the_first_question_in_two_rounds(make_problem, make_module, monkeypatch):
    problem = make_problem((1, 2, 1, 1, 1, 1), n=200)
    module = make_module(problem).float()
    parts = [problem.tensors("train"), problem.tensors("valid")]
    for rows in parts:
        object.__setattr__(rows, "x", rows.x.float())
    exact = first_question(module.predictor, parts)
    monkeypatch.setattr(
        module.predictor, "first_trials", 621
    )  # half of the rows with all features, then all rows with the finalists
    monkeypatch.setattr(first, "FINALISTS", 3)
    rough = first_question(module.predictor, parts)
    finalists = rough.topk(3).indices
    assert rough.argmax() == finalists[exact[finalists].argmax()]
    assert torch.equal(rough[finalists].argsort(), exact[finalists].argsort())
