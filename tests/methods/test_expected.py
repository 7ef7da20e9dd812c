"""The expected-loss phase and the first question, against loops."""

import copy

import numpy as np
import pytest
import torch
from torch.nn import functional

from askless.acquisition import Cases, Grid, Schema
from askless.methods.greedy import SHARPNESS, ExpectedLearner
from askless.networks import GumbelBank, conv_pair
from askless.training import Problem, Rows, States, chain_learner, first_question, seeded
from tests.methods.algorithm_1 import believed_gain, forward, loss_of
from tests.methods.given_rows import chains_of


def some_states(problem, seed=0):
    rows = problem.rows("train")
    drawn = torch.rand(rows.present.shape, generator=torch.Generator().manual_seed(seed)) < 0.4
    drawn[:, 0] = False
    asked = (drawn & rows.askable).to(torch.uint8)
    return rows, States(rows.x, rows.y, asked, rows.present.double(), rows.askable.double())


def learner_of(problem, module, candidates=6):
    with seeded(0):
        gumbel = GumbelBank(12, len(problem.schema))
    learner = ExpectedLearner(module, problem, chains_of(problem), gumbel, exact_first=False, repeats=False)
    learner.candidates = min(candidates, len(problem.schema))
    return learner


def literal_outputs(module, problem, rows, row, asked):
    """(1, outputs) of one row; where nothing is known, the prior's."""
    shown = asked.bool() & rows.present[row]
    if not shown.any():
        return problem.prior_outputs.double()[None]
    column_feature = torch.from_numpy(problem.schema.column_feature)
    inputs = torch.cat([rows.x[row] * shown[column_feature], shown.double()])
    return forward(module.predictor, inputs[None])


def literal_gain(module, problem, rows, row, asked, feature):
    more = asked.clone()
    more[feature] = True
    (now,), (then,) = (literal_outputs(module, problem, rows, row, known).detach() for known in (asked, more))
    return believed_gain(now, then, problem.task)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_candidate_gains(task, make_problem, make_module):
    problem = make_problem((1, 2, 1, 3), gaps=True, missing="answer", task=task)
    module = make_module(problem)
    rows, states = some_states(problem)
    candidates = torch.rand(len(rows), 4, generator=torch.Generator().manual_seed(1)).argsort(dim=1)[:, :3]
    fast = learner_of(problem, module).candidate_gains(states, candidates)
    for row in range(len(rows)):
        for j, feature in enumerate(candidates[row].tolist()):
            if states.asked[row, feature]:
                continue  # no candidate: it is known already
            literal = literal_gain(module, problem, rows, row, states.asked[row], feature)
            assert abs(float(fast[row, j]) - literal) < 1e-12


def test_gains_by_belief_are_those_by_labels_without_their_luck():
    """Labels drawn by the prediction after the answer: the same mean, and far less spread."""
    rng = np.random.default_rng(0)
    now, then = torch.tensor([[0.2, 0.0, -0.1]]), torch.tensor([[[0.3, -0.1, -0.1]]])
    labels = torch.from_numpy(rng.choice(3, 400_000, p=torch.softmax(then[0, 0].double(), dim=0).numpy()))
    problem = Problem(
        schema=Schema.of_patches(Grid(1, 1, 1, 1)),
        train=None,
        y_train=labels[:3].numpy(),
        valid=None,
        y_valid=None,
        task="classification",
        n_classes=3,
        max_features=1,
    )
    rows = Rows(None, None, None, None, problem)
    fell = rows.loss(now.expand(len(labels), -1), labels) - rows.loss(then[0].expand(len(labels), -1), labels)
    assert float(rows.divergence(then, now[:, None])) == pytest.approx(float(fell.mean()), abs=4e-4)
    assert float(fell.std()) > 10 * float(fell.mean())


def test_loss_is_the_loss_of_the_pick_less_the_expected_gain_over_the_policy(make_problem, make_module):
    problem = make_problem((1, 2, 1), gaps=True)  # fewer features than candidates: the expectation is complete
    module = make_module(problem)
    rows, states = some_states(problem)
    loss, pick = learner_of(problem, module).states_loss(states, states[:0], 1.0)

    total = 0.0
    column_feature = torch.from_numpy(problem.schema.column_feature)
    for row in range(len(rows)):
        shown = states.asked[row].bool() & rows.present[row]
        inputs = torch.cat([rows.x[row] * shown[column_feature], shown.double()])
        logits = SHARPNESS * forward(module.policy, inputs[None])[0]
        allowed = [i for i in range(3) if not states.blocked[row, i]]
        chance = torch.softmax(logits[allowed], dim=0)
        for p, feature in zip(chance, allowed, strict=True):
            total = total - p * literal_gain(module, problem, rows, row, states.asked[row], feature)
        asked = states.asked[row].clone()
        asked[pick[row]] = True
        assert pick[row] in allowed
        outputs = literal_outputs(module, problem, rows, row, asked)
        total = total + loss_of(outputs, rows.y[row : row + 1])[0]
    total = total / len(rows)
    assert abs(float((loss - total).detach())) < 1e-9
    parameters = list(module.parameters())
    fast, literal = (torch.autograd.grad(each, parameters) for each in (loss, total))
    for mine, theirs in zip(fast, literal, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-9)


def test_dropout_leaves_units_out_of_both_networks(make_problem, make_module):
    problem = make_problem((1, 2, 1))
    idle = []
    for dropout in (0.0, 0.5):
        module = make_module(problem, dropout=dropout)
        module.train()
        learner_of(problem, module).loss(torch.arange(12), 1.0).backward()
        slopes = [net.head.weight.grad for net in (module.policy, module.predictor)]  # (outputs, 8) each
        idle.append([int((slope == 0).all(dim=0).sum()) for slope in slopes])
    without, some = idle
    assert all(count >= 4 for count in some)
    assert all(count < 4 for count in without)


def test_on_one_trunk_the_policy_s_pass_teaches_the_predictor_too():
    grid = Grid(height=4, width=8, channels=1, patch_size=4)
    rng = np.random.default_rng(0)
    cases = Cases(rng.random((12, grid.n_columns)).astype(np.float32), np.ones((12, 2), dtype=bool))
    problem = Problem(
        schema=Schema.of_patches(grid),
        train=cases,
        y_train=np.arange(12) % 3,
        valid=cases,
        y_valid=np.arange(12) % 3,
        task="classification",
        n_classes=3,
        max_features=2,
    )
    with seeded(0):
        module = conv_pair(grid, 3, "conv_tiny", shared=True).double()
    literal = copy.deepcopy(module)
    learner = learner_of(problem, module)
    rows = problem.rows("train")
    asked = torch.tensor([[1, 0], [0, 1], [0, 0]], dtype=torch.uint8).repeat(4, 1)
    states = States(rows.x.double(), rows.y, asked)
    slopes = torch.randn(12, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    for pair in (module, literal):
        pair.train()
    scores, lesson = learner.policy_outputs(states)
    ((slopes * scores).sum() + lesson).backward()

    others = literal.policy(states.x, states.known)
    outputs = literal.predictor(states.x, states.known)
    torch.testing.assert_close(scores.detach(), others.detach())
    ((slopes * others).sum() + functional.cross_entropy(outputs, states.y)).backward()
    for mine, theirs in zip(module.parameters(), literal.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)


def test_first_question_compares_one_feature_losses(make_problem, make_module):
    problem = make_problem((1, 2, 1), gaps=True)
    module = make_module(problem).float()
    parts = [problem.rows("train"), problem.rows("valid")]
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
                after = loss_of(module.predictor.evaluate(x, mask), rows.y[row : row + 1])
                gain += float(loss_of(prior[None], rows.y[row : row + 1]) - after)
                count += 1
        assert abs(float(gains[feature]) - gain / count) < 1e-5


def test_large_tables_find_the_first_question_in_two_rounds(make_problem, make_module, monkeypatch):
    problem = make_problem((1, 2, 1, 1, 1, 1), n=200)
    module = make_module(problem).float()
    parts = [problem.rows("train"), problem.rows("valid")]
    for rows in parts:
        object.__setattr__(rows, "x", rows.x.float())
    exact = first_question(module.predictor, parts)
    monkeypatch.setattr(
        module.predictor, "first_trials", 621
    )  # half of the rows with all features, then all rows with the finalists
    monkeypatch.setattr(chain_learner, "FINALISTS", 3)
    rough = first_question(module.predictor, parts)
    finalists = rough.topk(3).indices
    assert rough.argmax() == finalists[exact[finalists].argmax()]
    assert torch.equal(rough[finalists].argsort(), exact[finalists].argsort())
