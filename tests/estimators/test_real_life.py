"""Costs, rules, precedence, batches and candidates from the estimators, saved and loaded."""

import copy
import gc
import pickle
import weakref
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from askless import DynamicClassifier, DynamicRegressor, load
from askless.acquisition.costs import Depends, Panels, split_costs
from askless.acquisition.stopping import Confidence, DecisionStable, InformationPerCost, MaxCost, MaxFeatures, Spread
from askless.exceptions import DataWarning, ParameterError
from askless.methods import Auto, Greedy, Value
from tests.coded import raises, warns

QUICK = {"epochs": 8, "pretrain_epochs": 8, "hidden": (32,)}
COSTS = Panels({"blood_a": 4.0, "blood_b": 4.0, "age": 0.0, "scan": 9.0}, {"blood": {"blood_a": 1.0, "blood_b": 1.0}})
NAMES = ["age", "blood_a", "blood_b", "scan", "noise"]


def table(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=NAMES)
    for name, weight in zip(NAMES, (0.4, 1.0, 1.0, 1.6, 0.0), strict=True):
        X[name] += weight * y
    return X, np.where(y, "ill", "well")


@pytest.fixture(scope="module")
def model():
    rules = Confidence(0.97) | MaxCost(12)
    how = {"costs": COSTS, "stopping": rules, "precedence": {"scan": ["age"]}}
    return DynamicClassifier(5, method=Value(**QUICK), reference_rows=256, **how).fit(*table())


def test_free_first_dear_last_and_why(model):
    X, _ = table(300, seed=1)
    t = model.rollout(X)
    age, scan = NAMES.index("age"), NAMES.index("scan")
    assert (t.order[:, 0] == age).all()
    assert (t.cost[:, -1] <= 12.0).all()
    assert set(t.stop_reason) <= {"confidence of 0.97 reached", "nothing affordable left of 12"}
    assert (t.predictions[:, -1].max(axis=1)[t.stop_reason == "confidence of 0.97 reached"] >= 0.97).all()
    for order in t.order.tolist():
        if scan in order:
            assert order.index(age) < order.index(scan)


def test_other_prices_without_training(model):
    X, _ = table(200, seed=1)
    dear = model.rollout(X, costs={"age": 100.0})  # and with it the scan, which waits for it
    assert not (dear.order == NAMES.index("age")).any()
    cheap = model.rollout(X, costs={"scan": 0.01}, stopping=MaxFeatures(2))
    assert (cheap.order[:, :2] == [NAMES.index("age"), NAMES.index("scan")]).all()
    alone = model.rollout(X, costs=Depends(lambda state: np.ones(state.asked.shape)), stopping=())
    assert alone.cost[:, -1].tolist() == [5.0] * 200
    talk = model.interview(costs={"age": 100.0})
    assert talk.question.name != "age"


def test_candidates_say_what_came_second(model):
    X, _ = table(100, seed=1)
    t = model.rollout(X)
    for row in (0, 7):
        for step in range(t.n_asked[row]):
            candidates = model.candidates(X, row, t.names(row)[:step])
            assert candidates[0].name == t.names(row)[step]
            assert all(a.score >= b.score for a, b in pairwise(candidates))
            assert all(c.information >= 0 for c in candidates)
        assert model.candidates(X, row, t.names(row)) == ()
    talk = model.interview()
    for a, b in zip(talk.candidates, model.candidates(X, 0), strict=True):
        assert (a.name, a.price) == (b.name, b.price)
        assert a.score == pytest.approx(b.score, rel=1e-4)
    name = t.names(0)[0]
    with raises(ParameterError, "duplicate_name", name="asked", value=[name, name]):
        model.candidates(X, 0, [name, name])
    with raises(ParameterError, "unknown_name", name="agee"):
        model.candidates(X, 0, ["agee"])
    with raises(ParameterError, "wrong_type", name="asked", value=name):
        model.candidates(X, 0, name)


def test_a_saved_model_asks_the_same(model, tmp_path):
    X, _ = table(100, seed=1)
    model.save(tmp_path / "m.askless")
    again = load(tmp_path / "m.askless")
    a, b = model.rollout(X, batch=2), again.rollout(X, batch=2)
    assert (a.order == b.order).all()
    assert (a.cost == b.cost).all()
    assert a.stop_reason.tolist() == b.stop_reason.tolist()
    assert again.precedence == {"scan": ["age"]}
    assert again.costs.config() == COSTS.config()
    assert again.interview().batch(2) == model.interview().batch(2)
    again.fit(*table(200))  # what was loaded can be fitted again


def test_every_rule_runs_from_a_model(model):
    X, _ = table(60, seed=2)
    t = model.rollout(X, stopping=DecisionStable(0.02, draws=32))
    assert "no answer changes the decision with a probability above 0.02" in set(t.stop_reason)
    t = model.rollout(X, stopping=InformationPerCost(0.02) & MaxFeatures(2))
    assert (t.n_asked >= 2).all()
    talk = model.interview(stopping=DecisionStable(0.02))
    while talk.question:
        talk.answer(2.5)
    assert talk.stop_reason


def test_rules_are_checked_before_training():
    X, y = table(50)
    for rule in (Spread(1), Spread(1) | MaxCost(3), MaxCost(2) & Spread(1)):
        with pytest.raises(ValueError, match="regression"):
            DynamicClassifier(stopping=rule).fit(X, y)
    for method in ("greedy", "auto", Auto(methods=("value", "greedy"))):
        with pytest.raises(ValueError, match=r"information_per_cost.*value"):
            DynamicClassifier(method=method, stopping=MaxCost(2) | InformationPerCost(0.1)).fit(X, y)
    with pytest.raises(ValueError, match="'ag'"):
        DynamicClassifier(precedence={"scan": ["ag"]}).fit(X, y)
    with pytest.raises(ValueError, match=r"circle|cycl"):
        DynamicClassifier(precedence={"scan": ["age"], "age": ["scan"]}).fit(X, y)
    with pytest.raises(ValueError, match="'bloodd'"):
        DynamicClassifier(costs=Panels({}, {"p": {"bloodd": 1}})).fit(X, y)
    with raises(ParameterError, "out_of_range", name="reference_rows", value=-1):
        DynamicClassifier(reference_rows=-1).fit(X, y)


def test_a_method_with_information_is_fitted_with_a_rule_that_needs_it():
    rule = InformationPerCost(1e9)  # which nothing reaches
    model = DynamicClassifier(3, method=Auto(methods=("value",), **QUICK), stopping=rule).fit(*table(200))
    assert (model.rollout(table(20)[0]).n_asked == 0).all()


def test_a_regression_by_spread_and_tolerance():
    X, _ = table(800)
    target = X["scan"] * 3 + X["age"]
    model = DynamicRegressor(4, method=Greedy(**QUICK), stopping=Spread(3.0), reference_rows=256).fit(X, target)
    t = model.rollout(X)
    assert t.n_asked.min() < 4
    assert "standard deviation of 3 reached" in set(t.stop_reason)
    stable = model.rollout(X[:50], stopping=DecisionStable(0.05, tolerance=100.0))
    assert (stable.n_asked == 0).all()
    assert model.interview().batch(2)[0].name == model.interview().question.name


@pytest.mark.parametrize("method", [Greedy(**QUICK), Value(**QUICK)], ids=["greedy", "value"])
def test_a_batch_never_asks_both_copies(method):
    """Four tests of a condition, each there twice."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    values = rng.normal(size=(3000, 4)) + np.array([1.4, 1.2, 1.0, 0.8]) * y[:, None]
    X = pd.DataFrame(np.repeat(values, 2, axis=1), columns=[f"{t}{c}" for t in "abcd" for c in "12"])
    with warns(DataWarning, "duplicate_column", columns=["a2", "b2", "c2", "d2"]):
        model = DynamicClassifier(4, method=method, reference_rows=256).fit(X[:2500], y[:2500])
    for size in (2, 3, 4):
        t = model.rollout(X[2500:], batch=size, max_features=size)  # one batch
        tests = t.order // 2
        assert (t.n_asked == size).all()
        assert all(len(set(row)) == size for row in tests.tolist())
    assert len({q.name[0] for q in model.interview().batch(4)}) == 4


def test_by_default_no_training_rows_are_stored(tmp_path):
    X, y = table(300)
    model = DynamicClassifier(3, method=Greedy(**QUICK)).fit(X, y)
    model.save(tmp_path / "m.askless")
    assert model.model_.reference is None
    assert load(tmp_path / "m.askless").summary_["stored_rows"] == 0
    with pytest.raises(ValueError, match=r"stored rows|reference_rows"):
        load(tmp_path / "m.askless").rollout(X, batch=2)
    with raises(ParameterError, "out_of_range", name="batch", value=0):
        model.rollout(X, batch=0)


def test_a_function_is_not_saved(tmp_path):
    X, y = table(300)
    costs = Depends(lambda state: 1.0 + state.asked.sum(axis=1, keepdims=True) * np.ones(state.asked.shape))
    model = DynamicClassifier(3, method=Greedy(**QUICK), costs=costs).fit(X, y)
    assert model.rollout(X).cost[0].tolist() == [0.0, 1.0, 3.0, 6.0]
    with pytest.raises(ValueError, match="Depends"):
        model.save(tmp_path / "m.askless")


def test_candidates_of_the_last_case(model):
    X, _ = table(4, seed=3)
    last = model.candidates(X, -1, available=NAMES[:3], known=NAMES[:1])
    assert last == model.candidates(X, 3, available=NAMES[:3], known=NAMES[:1])
    assert {candidate.name for candidate in last} <= set(NAMES[1:3])
    assert len(last) > 0
    for row in (4, -5, 1.0):
        with raises(ParameterError, "out_of_range", name="row", value=row, high=3):
            model.candidates(X, row)


def test_a_trajectory_holds_neither_the_model_nor_the_table(model):
    X, _ = table(20_000, seed=3)
    fitted = replace(model.model_)
    held = [weakref.ref(X), weakref.ref(fitted)]
    t = fitted.rollout(X)
    arrays = sum(array.nbytes for array in (t.order, t.predictions, t.cost))
    assert len(pickle.dumps(t)) < arrays + 20 * len(X)  # and a few bytes for each stop reason
    assert len(pickle.dumps(fitted.rollout(X[:1]))) < 2000
    del X, fitted
    gc.collect()
    assert [each() for each in held] == [None, None]
    np.testing.assert_array_equal(copy.deepcopy(t).order, t.order)


def test_a_batch_of_one_in_an_interview_is_the_question(model):
    talk = model.interview()
    assert talk.batch(1) == (talk.question,)


def test_a_fit_that_fails_leaves_no_model():
    X, y = table(300)
    model = DynamicClassifier(2, method=Value(**QUICK)).fit(X, y)
    model.set_params(groups={"both": pd.to_datetime(["2020-01-01", "2020-01-02"]).tolist()})
    X.columns = [*model.groups["both"], "blood_b", "scan", "noise"]
    with pytest.raises(ValueError, match="Timestamp"):
        model.fit(X, y)
    assert not hasattr(model, "model_")


def test_prices_and_what_is_known_as_a_series(model):
    prices = pd.Series({"scan": 0.01, "age": 5.0})
    X, _ = table(20, seed=4)
    how = {"stopping": MaxFeatures(2)}
    assert (
        model.rollout(X, costs=prices, **how).order == model.rollout(X, costs=prices.to_dict(), **how).order
    ).all()
    talk = model.interview(known=X.iloc[0][["age", "scan"]])
    assert [event.feature for event in talk.history] == ["age", "scan"]
    assert split_costs(prices) == (prices.to_dict(), None)


def test_a_price_function_that_gives_no_prices(model):
    X, _ = table(5)
    with raises(ParameterError, "wrong_type", name="function", expected=(5, 5)):
        model.rollout(X, costs=Depends(lambda state: {"age": 3}))


def test_a_function_cannot_be_saved(tmp_path):
    X, y = table(200)
    costs = Depends(lambda state: np.ones(state.asked.shape))
    model = DynamicClassifier(2, method=Greedy(epochs=1, pretrain_epochs=1, hidden=(8,)), costs=costs).fit(X, y)
    with pytest.raises(ValueError, match=r"Depends.*rollout"):
        model.save(tmp_path / "m.askless")


def test_budgets_that_are_one_number(model):
    with raises(ParameterError, "wrong_type", name="budgets", value=3):
        model.curve(*table(50), budgets=3)


def test_words_for_missing_values_of_the_command_line_count_in_python_too(tmp_path):
    X, y = table(300)
    X = X.assign(flag=np.arange(300) % 2 == 0)
    model = DynamicClassifier(3, method=Greedy(**QUICK)).fit(X, y)
    model.model_ = replace(model.model_, settings=model.model_.settings | {"na": ["-999", "1", "n. b."]})
    model.save(tmp_path / "m.askless")
    again = load(tmp_path / "m.askless")
    coded = X.assign(age=X["age"].where(np.arange(300) % 3 > 0, -999))
    gaps = X.assign(age=X["age"].where(np.arange(300) % 3 > 0))
    np.testing.assert_array_equal(again.predict_proba(coded), model.predict_proba(gaps))
    assert not np.array_equal(again.predict_proba(coded), again.predict_proba(X))
