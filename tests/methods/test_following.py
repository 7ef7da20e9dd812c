"""The phase that trains greedy's predictor alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from askless.methods import Greedy
from askless.methods.greedy import ExpectedLearner, FollowingLearner
from askless.networks import GumbelBank
from askless.training import Progress
from tests.methods.given_rows import chains_of, problem_of

SHORT = {"hidden": (16,), "epochs": 3, "pretrain_epochs": 2, "polish": False}


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 6))
    return problem_of(x, (x[:, 0] + x[:, 1] * (x[:, 2] > 0) > 0).astype(int), 3)


def losses(fitted, phase):
    return [row["valid_loss"] for row in fitted.history if row["phase"] == phase and "valid_loss" in row]


@pytest.mark.parametrize("shared", [False, True])
def test_the_policy_stays_and_the_predictor_gets_better(problem, shared):
    before = Greedy(**SHORT, shared=shared).fit(problem, seed=0, progress=Progress())
    after = Greedy(**SHORT, shared=shared, recipe={"predictor_epochs": 30}).fit(problem, seed=0, progress=Progress())
    for name, weights in before.policy.arrays().items():
        np.testing.assert_array_equal(after.policy.arrays()[name], weights)
    changed = [
        not np.array_equal(after.predictor.arrays()[name], weights)
        for name, weights in before.predictor.arrays().items()
        if name.startswith(("weight", "value"))
    ]
    assert all(changed)
    assert min(losses(after, "predictor")) < min(losses(before, "policy"))


def test_states_go_on_by_the_policy_s_choice(problem, make_module):
    """Each state moves to the best open feature by the policy's scores; the first one is the exact one."""
    module, chains = make_module(problem), chains_of(problem)
    for network in (module.policy, module.predictor):
        network.float()
    joint = ExpectedLearner(module, problem, chains, GumbelBank(12, 6), exact_first=True, repeats=False)
    learner = FollowingLearner(joint, chains)
    learner.begin()
    assert not any(parameter.requires_grad for parameter in learner.module.policy.parameters())
    batch = chains.batches()[0]
    states = chains.states(batch)
    scores = module.policy.evaluate(states.x, states.known)
    empty = ~states.known.any(dim=1)
    scores[empty] = chains.first
    wanted = scores.masked_fill(states.asked.bool(), -torch.inf).argmax(dim=1)
    loss, pick = learner.states_loss(states, states[:0], 1.0)
    loss.backward()
    assert pick.tolist() == wanted.tolist()
    assert all(parameter.grad is None for parameter in learner.module.policy.parameters())


def test_a_worse_end_is_not_kept(problem):
    """What is returned is the best of all phases, also if the last one makes everything worse."""
    before = Greedy(**SHORT).fit(problem, seed=0, progress=Progress())
    after = Greedy(**SHORT, recipe={"predictor_epochs": 3, "predictor_rate": 1000.0}).fit(
        problem, seed=0, progress=Progress()
    )
    assert min(losses(after, "predictor")) > min(losses(after, "policy"))
    for part in ("policy", "predictor"):
        for name, weights in getattr(before, part).arrays().items():
            np.testing.assert_array_equal(getattr(after, part).arrays()[name], weights)


def test_its_chains_begin_on_the_policy_s_own_paths(problem, make_module):
    """Every row has a chain, at all depths; each one's set is what the policy asks for first, so many times."""
    module, depth = make_module(problem), 3
    for network in (module.policy, module.predictor):
        network.float()
    joint = ExpectedLearner(module, problem, chains_of(problem), GumbelBank(12, 6), exact_first=True, repeats=False)
    joint.begin()
    learner = FollowingLearner(joint, chains_of(problem, epochs=12, depths="even"))
    learner.begin()
    assert learner.chains.first.tolist() == joint.chains.first.tolist()
    everything = torch.arange(len(learner.chains.row))
    assert learner.chains.row.tolist() == list(range(len(problem.y_train)))
    states = learner.chains.states(everything)
    counts = states.asked.sum(dim=1)
    assert np.bincount(counts).shape == (depth,)
    assert np.bincount(counts).min() > len(everything) / (2 * depth)
    asked = torch.zeros_like(states.asked)
    for _ in range(depth - 1):
        walking = asked.sum(dim=1) < counts
        pick = learner._pick(replace(states, asked=asked))
        asked[walking, pick[walking]] = 1
    assert torch.equal(asked, states.asked)
