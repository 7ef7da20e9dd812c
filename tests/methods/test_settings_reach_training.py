"""Settings of the methods that learn on chains reach what they are for."""

import numpy as np
import pytest

from askless.methods import Greedy, Value, greedy, value
from askless.methods.greedy import ExpectedLearner
from askless.training import Chains, Progress
from tests.methods.given_rows import problem_of

SHORT = {"hidden": (8,), "epochs": 2, "pretrain_epochs": 1}


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 5))
    return problem_of(x, (x[:, 0] > 0).astype(int), 3)


@pytest.mark.parametrize(
    ("module", "method", "given"),
    [
        (greedy, Greedy(**SHORT, recipe={"walks": 3, "depths": "mixed"}), {"walks": 3, "depths": "mixed"}),
        (greedy, Greedy(**SHORT, recipe={"depths": "even"}), {"walks": 4, "depths": "even"}),
        (greedy, Greedy(**SHORT, subsets="random"), {"random_subsets": True, "random_starts": 0.2}),
        (value, Value(**SHORT, recipe={"walks": 2, "random_starts": 0.5}), {"walks": 2, "random_starts": 0.5}),
    ],
)
def test_chains_are_made_as_the_method_says(module, method, given, problem, monkeypatch):
    made = []

    class Noted(Chains):
        def __init__(self, *rows, **settings):
            made.append(settings)
            super().__init__(*rows, **settings)

    monkeypatch.setattr(module, "Chains", Noted)
    method.fit(problem, seed=0, progress=Progress())
    assert len(made) == 1
    assert {name: made[0][name] for name in given} == given


@pytest.fixture
def expected_steps(monkeypatch):
    """The dropout rate, whether the module trains, and the candidates, of each step without relaxation."""
    made = []

    class Noted(ExpectedLearner):
        def states_loss(self, states, extra, temperature):
            net = self.module.predictor
            made.append((net.hidden.dropouts[0].rate, net.training, self.candidates))
            return super().states_loss(states, extra, temperature)

    monkeypatch.setattr(greedy, "ExpectedLearner", Noted)
    return made


def test_an_expected_schedule_has_dropout_and_no_temperature(problem, expected_steps):
    method = Greedy(**SHORT, schedule="expected", dropout=0.25, recipe={"candidates": 3})
    history = method.fit(problem, seed=0, progress=Progress()).history
    assert list(dict.fromkeys(expected_steps)) == [(0.25, True, 3), (0.0, True, 3)]  # the schedule, and the polish
    assert {row["phase"] for row in history} == {"pretraining", "policy", "polish"}
    assert not any("temperature" in row for row in history)


def test_a_schedule_of_two_parts_ends_without_a_relaxation(problem, expected_steps):
    method = Greedy(**SHORT, schedule="annealed+expected", dropout=0.25, polish=False)
    policy = [row for row in method.fit(problem, seed=0, progress=Progress()).history if row["phase"] == "policy"]
    assert set(expected_steps) == {(0.25, True, 5)}  # candidates: at most all features
    assert ["temperature" in row for row in policy] == [True, True, False, False]
    assert [row["lr"] / 2 for row in policy[:2]] == pytest.approx([row["lr"] for row in policy[2:]])


def test_each_part_has_epochs_of_its_own(problem):
    recipe = {"expected_epochs": 3, "predictor_epochs": 4}
    method = Greedy(**SHORT, schedule="annealed+expected", polish=False, recipe=recipe)
    history = method.fit(problem, seed=0, progress=Progress()).history
    assert [row["phase"] for row in history if row["phase"] != "pretraining"] == ["policy"] * 5 + ["predictor"] * 4
    assert sum("temperature" in row for row in history) == 2


def test_the_predictor_alone_has_a_rate_of_its_own(problem):
    rates = []
    for share in (0.5, 1.0):
        method = Greedy(**SHORT, polish=False, recipe={"predictor_epochs": 2, "predictor_rate": share})
        history = method.fit(problem, seed=0, progress=Progress()).history
        rates.append([row["lr"] for row in history if row["phase"] == "predictor"])
    assert [2 * rate for rate in rates[0]] == pytest.approx(rates[1])
    assert rates[1] == pytest.approx([row["lr"] for row in history if row["phase"] == "policy"])
