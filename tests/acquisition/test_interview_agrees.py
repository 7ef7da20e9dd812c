"""An interview answered from a row asks what a roll-out of the row asks, and predicts the same."""

import numpy as np
import pandas as pd
import pytest

from askless import DynamicClassifier, DynamicRegressor
from askless.checks import example_table
from askless.exceptions import UnseenWarning
from askless.methods import Greedy

QUICK = Greedy(epochs=2, pretrain_epochs=2, hidden=(16,))
GROUPS = {"pressure": ["upper", "lower"]}
COSTS = {"pressure": 3.0, "age": 0.5}


@pytest.fixture(scope="module", params=["classification", "regression"])
def task(request):
    return request.param


@pytest.fixture(scope="module", params=["skip", "answer"])
def model(request, task):
    kind = DynamicClassifier if task == "classification" else DynamicRegressor
    return kind(4, method=QUICK, groups=GROUPS, costs=COSTS, missing=request.param).fit(*example_table(task))


def ask(model, row, **how):
    """Interview a row: what it says to each question; the names asked, the predictions, and the interview."""
    answers = {
        feature.name: {part.name: row[part.name] for part in feature.parts} for feature in model.schema_.features
    }
    absent = [name for name, parts in answers.items() if all(pd.isna(value) for value in parts.values())]
    if model.missing == "skip":
        how["unavailable"] = [*how.get("unavailable", ()), *absent]
    talk = model.interview(**how)
    names, told = [], [list(talk.prediction.values())]
    while talk.question:
        name = talk.question.name
        assert name not in names, f"{name} is asked twice"
        names.append(name)
        single = len(answers[name]) == 1
        if name in absent:
            talk.unknown()
        else:
            talk.answer(next(iter(answers[name].values())) if single else answers[name])
        told.append(list(talk.prediction.values()))
    return names, np.array(told), talk


def assert_agrees(model, t, i, names, told, talk):
    assert names == t.names(i)
    outputs = len(t.outputs)  # a regression tells a standard deviation too
    np.testing.assert_allclose(told[:, :outputs], t.predictions[i, : len(names) + 1], rtol=1e-5, atol=1e-6)
    assert talk.cost == t.cost[i, -1]
    assert talk.stop_reason == t.stop_reason[i]
    assert [event.cost for event in talk.history] == np.diff(t.cost[i, : len(names) + 1]).tolist()


def test_every_row(model, task):
    X, _ = example_table(task, n=60, seed=5)
    t = model.rollout(X)
    assert (t.n_asked < t.n_asked.max()).any() or model.missing == "answer"
    for i in range(len(X)):
        assert_agrees(model, t, i, *ask(model, X.iloc[i]))


def test_with_something_known_and_something_unavailable(model, task):
    X, _ = example_table(task, n=20, seed=6)
    X = X.assign(age=50.0 + np.arange(20.0))  # what is known must be there
    shape = (20, len(model.schema_))
    known, available = np.zeros(shape, dtype=bool), np.ones(shape, dtype=bool)
    known[:, model.schema_.index("age")] = True
    available[:, model.schema_.index("smoker")] = False
    t = model.rollout(X, known=known, available=available, max_features=2)
    for i in range(len(X)):
        names, told, talk = ask(
            model, X.iloc[i], known={"age": X["age"].iloc[i]}, unavailable=["smoker"], max_features=2
        )
        assert names == t.names(i)
        np.testing.assert_allclose(
            told[:, : len(t.outputs)], t.predictions[i, : len(names) + 1], rtol=1e-5, atol=1e-6
        )
        assert talk.history[0].action == "tell"
    assert model.rollout(X, known=["age"], max_features=2).order.tolist() == (
        model.rollout(X, known=known, max_features=2).order.tolist()
    )


def test_an_unseen_category_is_unknown(model, task):
    X, _ = example_table(task, n=1, seed=7)
    X = X.assign(colour=pd.Series(["purple"], dtype=object))
    t = model.rollout(X)
    if model.missing == "skip":
        assert "colour" not in t.names(0)
    talk = model.interview(unavailable=[name for name in model.schema_.names if name != "colour"])
    before = talk.prediction
    with pytest.warns(UnseenWarning, match="'purple'"):
        talk.answer("purple")
    assert talk.prediction == before
    assert talk.done
    assert talk.history[-1].action == "unknown"


def test_a_misspelt_category_is_told(model):
    talk = model.interview()
    with pytest.warns(UnseenWarning, match=r"'Redd'.*\(did you mean 'red'\?\)"):
        talk.tell("colour", "Redd")
    unknown = talk.prediction
    with pytest.warns(UnseenWarning, match="'Red' is read as 'red'"):
        talk.tell("colour", "Red")
    told = talk.prediction
    talk.tell("colour", "red")
    assert talk.prediction == told != unknown
