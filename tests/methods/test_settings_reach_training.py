"""Settings of the methods that learn on chains reach what they are for."""

import numpy as np
import pytest

from askless.exceptions import ParameterError
from askless.methods import Greedy, Value, greedy, value
from askless.methods.greedy import GreedyRecipe
from askless.training import Chains, Progress
from tests.coded import raises
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
        (greedy, Greedy(**SHORT, recipe=GreedyRecipe(depths="even")), {"walks": 4, "depths": "even"}),
        (value, Value(**SHORT, recipe={"walks": 2}), {"walks": 2}),
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


def test_an_expected_schedule_has_dropout_and_no_temperature(problem, monkeypatch):
    made, rates = [], set()

    class Noted(greedy.ExpectedLearner):
        def states_loss(self, states, extra, temperature):
            made.append(self)
            rates.add(self.module.policy.hidden.dropouts[0].rate)
            return super().states_loss(states, extra, temperature)

    monkeypatch.setattr(greedy, "ExpectedLearner", Noted)
    method = Greedy(**SHORT, schedule="expected", dropout=0.25, recipe={"candidates": 3})
    fitted = method.fit(problem, seed=0, progress=Progress())
    assert rates == {0.25, 0.0}  # the schedule's, and the polish's
    assert {learner.candidates for learner in made} == {3}
    assert {row["phase"] for row in fitted.history} == {"pretraining", "policy", "polish"}
    assert not any("temperature" in row for row in fitted.history)


def test_a_schedule_of_two_parts_ends_without_a_relaxation(problem):
    method = Greedy(**SHORT, schedule="annealed+expected", polish=False)
    policy = [row for row in method.fit(problem, seed=0, progress=Progress()).history if row["phase"] == "policy"]
    assert ["temperature" in row for row in policy] == [True, True, False, False]
    assert [row["lr"] / 2 for row in policy[:2]] == pytest.approx([row["lr"] for row in policy[2:]])


@pytest.mark.parametrize("by", ["batch", "row"])
def test_dropout_is_by_batch_or_by_row(problem, by, monkeypatch):
    made = []
    new = greedy.new_policy_predictor
    monkeypatch.setattr(greedy, "new_policy_predictor", lambda *a, **k: made.append(new(*a, **k)) or made[0])
    Greedy(**SHORT, polish=False, recipe={"dropout_by": by}).fit(problem, seed=0, progress=Progress())
    assert {d.by for d in (*made[0].policy.hidden.dropouts, *made[0].predictor.hidden.dropouts)} == {by}


def test_a_wrong_entry_of_a_recipe_is_refused(problem):
    with raises(ParameterError, "unknown_name", name="walk", nearest="walks"):
        Greedy(recipe={"walk": 2}).check()
    with raises(ParameterError, "out_of_range", name="walks", value=0):
        Value(recipe={"walks": 0}).check()
    with raises(ParameterError, "wrong_type", name="recipe"):
        Greedy(recipe=3).check()


def test_each_part_has_epochs_of_its_own(problem):
    own = {"expected_epochs": 3, "predictor_epochs": 4}
    method = Greedy(**SHORT, schedule="annealed+expected", polish=False, recipe=own)
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
