"""Settings of the methods that learn on chains reach what they are for."""

import numpy as np
import pytest
from askless.methods.greedy.expected import ExpectedLearner

from askless.methods import Greedy, Value
from askless.methods.greedy import fitting as greedy_fitting
from askless.methods.value import fitting as value_fitting
from askless.training import Chains, Progress
from tests.methods.given_rows import problem_of

SHORT = {"hidden": (8,), "epochs": 2, "pretrain_epochs": 1}


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 5))
    return problem_of(x, (x[:, 0] > 0).astype(int), 3)


@pytest.mark.parametrize(
    ("fitting", "method", "given"),
    [
        (greedy_fitting, Greedy(**SHORT, walks=3, depths="mixed"), {"walks": 3, "depths": "mixed"}),
        (greedy_fitting, Greedy(**SHORT, depths="even"), {"walks": 4, "depths": "even"}),
        (value_fitting, Value(**SHORT, walks=2), {"walks": 2}),
    ],
)
def test_chains_are_made_as_the_method_says(fitting, method, given, problem, monkeypatch):
    made = []

    class Noted(Chains):
        def __init__(self, *rows, **settings):
            made.append(settings)
            super().__init__(*rows, **settings)

    monkeypatch.setattr(fitting, "Chains", Noted)
    method.fit(problem, seed=0, progress=Progress())
    assert len(made) == 1
    assert {name: made[0][name] for name in given} == given


def test_an_expected_schedule_has_dropout_and_no_temperature(problem, monkeypatch):
    made = []

    class Noted(ExpectedLearner):
        def __init__(self, *parts, **settings):
            super().__init__(*parts, **settings)
            made.append((self.dropout, self.candidates))

    monkeypatch.setattr(greedy_fitting, "ExpectedLearner", Noted)
    fitted = Greedy(**SHORT, schedule="expected", dropout=0.25, candidates=3).fit(
        problem, seed=0, progress=Progress()
    )
    assert [dropout and dropout.rate for dropout, _ in made] == [0.25, None]  # the schedule's, and the polish's
    assert [candidates for _, candidates in made] == [3, 3]
    assert {row["phase"] for row in fitted.history} == {"pretraining", "policy", "polish"}
    assert not any("temperature" in row for row in fitted.history)


def test_a_schedule_of_two_parts_ends_without_a_relaxation(problem, monkeypatch):
    made = []

    class Noted(ExpectedLearner):
        def __init__(self, *parts, **settings):
            super().__init__(*parts, **settings)
            made.append(self.dropout and self.dropout.rate)

    monkeypatch.setattr(greedy_fitting, "ExpectedLearner", Noted)
    method = Greedy(**SHORT, schedule="annealed+expected", dropout=0.25, polish=False)
    policy = [row for row in method.fit(problem, seed=0, progress=Progress()).history if row["phase"] == "policy"]
    assert made[0] == 0.25
    assert ["temperature" in row for row in policy] == [True, True, False, False]
    assert [row["lr"] / 2 for row in policy[:2]] == pytest.approx([row["lr"] for row in policy[2:]])


def test_each_part_has_epochs_of_its_own(problem):
    method = Greedy(**SHORT, schedule="annealed+expected", expected_epochs=3, predictor_epochs=4, polish=False)
    history = method.fit(problem, seed=0, progress=Progress()).history
    assert [row["phase"] for row in history if row["phase"] != "pretraining"] == ["policy"] * 5 + ["predictor"] * 4
    assert sum("temperature" in row for row in history) == 2


def test_the_predictor_alone_has_a_rate_of_its_own(problem):
    rates = []
    for share in (0.5, 1.0):
        method = Greedy(**SHORT, predictor_epochs=2, predictor_rate=share, polish=False)
        history = method.fit(problem, seed=0, progress=Progress()).history
        rates.append([row["lr"] for row in history if row["phase"] == "predictor"])
    assert [2 * rate for rate in rates[0]] == pytest.approx(rates[1])
    assert rates[1] == pytest.approx([row["lr"] for row in history if row["phase"] == "policy"])
