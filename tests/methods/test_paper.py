"""`Greedy.paper()` trains as published."""

import numpy as np
import pytest
import torch

from askless import metrics
from askless.methods import Greedy, greedy
from askless.methods.greedy import GreedyRecipe, RelaxedLearner
from askless.training import Chains, Progress, States, new_policy_predictor, seeded, validation_rollout
from tests.methods.given_rows import problem_of
from tests.methods.planted import BEST, SECOND, planted


@pytest.fixture
def problem():
    return planted("classification", n=300)


@pytest.fixture
def published(problem):
    """The phases of a fit, and its networks."""
    method = Greedy.paper()
    recipe = GreedyRecipe.of(method.recipe)
    with seeded(0):
        net = method.net
        module = new_policy_predictor(problem, net, shared=method.shared)
        phases, _ = method._phases(module, problem, recipe, 0)
    return phases, recipe


def test_its_phases_are_those_of_the_paper(published):
    phases, _ = published
    first, *stages = phases
    assert first.name == "pretraining"
    temperatures = [phase.temperature for phase in stages]
    assert temperatures == [pytest.approx((t, t)) for t in np.geomspace(1.0, 0.1, 5)]
    assert {phase.name for phase in stages} == {"policy"}  # nothing follows
    for phase in stages:
        assert isinstance(phase.learner, RelaxedLearner)
        assert (phase.schedule, phase.monitor, phase.patience) == ("plateau", "relaxed_loss", 10)
    for phase in phases:
        assert (phase.average, phase.weight_decay, phase.lr) == (0.0, 0.0, 1e-3)


def test_its_chains_ask_every_case_to_the_last_question_from_nothing(published):
    phases, _ = published
    learner = phases[-1].learner
    assert learner.first is None  # the policy network chooses the first question too
    chains = learner.chains
    assert chains.random_starts == 0.0
    assert not chains.random_subsets
    assert torch.equal(chains._end, chains._last[chains.row])


def test_in_training_what_was_selected_can_be_selected_again(published):
    phases, recipe = published
    learner = phases[-1].learner
    assert recipe.repeats
    rows = learner.rows
    asked = torch.zeros_like(rows.present, dtype=torch.uint8)
    asked[:, BEST] = 1
    states = States(rows.x, rows.y, asked)
    scores = torch.zeros(asked.shape)
    scores[:, BEST] = 20.0
    soft, _, pick = learner.select(scores, states, torch.zeros(asked.shape), 1.0)
    assert set(pick.tolist()) == {BEST}
    assert float(soft[:, BEST].min()) > 0.99


def test_its_dropout_is_by_row(problem, monkeypatch):
    made = []
    new = greedy.new_policy_predictor
    monkeypatch.setattr(greedy, "new_policy_predictor", lambda *a, **k: made.append(new(*a, **k)) or made[0])
    Greedy.paper(epochs=1, pretrain_epochs=1).fit(problem, seed=0, progress=Progress())
    assert {(d.by, d.rate) for d in made[0].policy.hidden.dropouts} == {("row", 0.3)}


def test_chains_whose_selections_repeat_come_to_their_end():
    """A question that is selected again counts, as in the paper: each case has its number of selections."""
    x = np.random.default_rng(0).normal(size=(30, 4))
    with seeded(0):
        chains = Chains(
            problem_of(x, (x[:, 0] > 0).astype(int), 3),
            batch_size=20,
            states_per_row=1,
            epochs=1000,
            random_subsets=False,
            random_starts=0.0,
            depths="even",
        )
        for asked in (chains.asked, chains._count):
            asked.zero_()
    everyone = torch.arange(len(chains.row))
    for selection in range(3):
        assert (chains._count == selection).all()
        chains.move(everyone, torch.ones(len(everyone), dtype=torch.int64))
        assert chains.asked.sum(dim=1).unique().tolist() == ([1] if selection < 2 else [0])


def test_it_learns_what_to_ask():
    problem = planted("classification", n=1500)
    method = Greedy.paper(hidden=(32,), epochs=12, pretrain_epochs=20, batch_size=128, learning_rate=3e-3)
    fitted = method.fit(problem, seed=0, progress=Progress())
    trajectory = validation_rollout(fitted.policy, fitted.predictor, problem)
    assert (trajectory.order[:, 0] == BEST).mean() > 0.95
    assert (trajectory.order[:, 1] == SECOND).mean() > 0.8
    assert metrics.metric("auroc")(problem.y_valid, trajectory.predictions[:, 2]) > 0.95
    assert fitted.policy.first is None
