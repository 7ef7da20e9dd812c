"""Certified stopping from `fit` and `certify`."""

import json

import numpy as np
import pandas as pd
import pytest

from askless import DynamicClassifier, DynamicRegressor, load
from askless.certification import held_for_proof
from askless.core.stopping import (
    Certified,
    Confidence,
    DecisionStable,
    MaxCost,
    MaxFeatures,
    rule_from_json,
    rule_to_json,
)
from askless.exceptions import CertificationWarning, InterviewError, TableError
from askless.methods import Greedy

QUICK = Greedy(epochs=4, pretrain_epochs=8, hidden=(32,))


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    y = np.where(x[:, 0] + x[:, 1] + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    return pd.DataFrame(x, columns=list("abcde")), pd.Series(y, name="label")


@pytest.fixture(scope="module")
def model():
    return DynamicClassifier(max_features=4, method=QUICK).fit(*table(1200))


def test_certify_and_use(model):
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.1)
    assert (rule.risk, rule.confidence, rule.within) == (0.1, 0.95, 4)
    X, y = table(3000, seed=2)
    t = model.rollout(X, stopping=rule)
    stopped = np.array([reason.startswith("sure enough") for reason in t.stop_reason])
    abstains = np.array(["abstains" in reason for reason in t.stop_reason])
    assert (stopped ^ abstains).all()
    assert stopped.any()
    assert abstains.any()
    wrong = model.classes_[t.predictions[:, -1].argmax(axis=1)] != y
    assert wrong[stopped].mean() <= 0.1
    assert wrong[abstains].mean() > wrong[stopped].mean()
    assert t.n_asked[stopped].mean() < 4


def test_certified_beside_other_rules(model):
    """The cases are asked as they will be: no further than another rule lets them."""
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.2, stopping=MaxFeatures(2))
    assert rule.within == 2
    assert model.certify(X, y, risk=0.2, max_features=2).threshold == rule.threshold
    t = model.rollout(X, stopping=[rule, MaxFeatures(2)])
    assert t.n_asked.max() == 2


def test_the_order_of_the_rules_does_not_matter(model):
    """Cases that another rule stops with the same answer are not taken from the one that makes a promise."""
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.2, stopping=Confidence(0.7))
    first, last = (model.rollout(X, stopping=rules) for rules in ([rule, Confidence(0.7)], Confidence(0.7) | rule))
    assert first.stop_reason.tolist() == last.stop_reason.tolist()
    sure = np.array([reason.startswith("sure enough") for reason in last.stop_reason])
    assert (sure == (last.predictions[:, -1].max(axis=1) >= rule.threshold)).all()
    assert sure.any()


def test_one_promise_at_a_time(model):
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.2)
    with pytest.raises(ValueError, match="two rules with a promise"):
        model.rollout(X, stopping=[rule, model.certify(X, y, risk=0.3)])


def test_batches_cannot_be_certified(model):
    with pytest.raises(ValueError, match="one at a time"):
        model.certify(*table(300), batch=2)


def test_what_cannot_be_promised_warns_and_abstains(model):
    with pytest.warns(CertificationWarning, match="stops none"):
        rule = model.certify(*table(100, seed=3), risk=0.01)
    t = model.rollout(table(20)[0], stopping=rule)
    assert all("abstains" in reason for reason in t.stop_reason)


def test_at_fit_some_rows_are_held_out(tmp_path):
    X, y = table(1500)
    model = DynamicClassifier(max_features=4, method=QUICK, stopping=[MaxCost(3), Certified(0.1)]).fit(X, y)
    rule, limit = model.model_.stopping  # what makes a promise goes first
    assert isinstance(limit, MaxCost)
    assert rule.threshold is not None
    assert rule.cases == 270  # 20 % of the rows are held out, and 10 % of these say where to begin
    assert model.stopping[1] == Certified(0.1)  # a parameter stays what it was
    model.save(tmp_path / "m.askless")
    again = load(tmp_path / "m.askless")
    assert again.model_.stopping == model.model_.stopping
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    talk = again.interview()
    while not talk.done:
        talk.answer(2.0)
    assert talk.stop_reason.startswith("sure enough")


def test_a_bad_cell_is_found_before_training_wherever_it_is():
    X, y = table(120)
    _, proof = held_for_proof((Certified(0.1),), (y == "yes").to_numpy().astype(int), 0)
    name = X.columns[0]
    X = X.astype({name: object})
    X.loc[proof[3], name] = "many"
    with pytest.raises(TableError, match=rf"column {name!r}, row {proof[3]} "):
        DynamicClassifier(method=Never(), stopping=Certified(0.1), random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"stopping": DecisionStable()}, "stored rows"), ({"stopping": MaxCost(3) & DecisionStable()}, "stored rows")],
)
def test_a_rule_that_cannot_be_used_is_an_error_before_training(settings, words):
    with pytest.raises(ValueError, match=words):
        DynamicClassifier(method=Never(), **settings).fit(*table(60))
    X, y = table(60)
    with pytest.raises(ValueError, match="tolerance"):
        DynamicRegressor(method=Never(), stopping=DecisionStable(), reference_rows=256).fit(
            X, (y == "yes").astype(float)
        )


class Never(type(QUICK)):
    def _fit(self, *given):
        raise AssertionError("it was trained")


def test_and_would_break_the_promise():
    with pytest.raises(ValueError, match="&"):
        Certified(0.1) & Confidence(0.8)
    with pytest.raises(ValueError, match="&"):
        (Confidence(0.9) | Certified(0.1)) & Confidence(0.8)


def test_a_promise_is_not_for_cases_that_are_asked_in_another_way(model, tmp_path):
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.2, stopping=MaxCost(3), known=["e"])
    assert rule.manner == ("beside MaxCost(3)", "known: e")
    assert rule_from_json(json.loads(json.dumps(rule_to_json(rule)))) == rule
    same = {"stopping": [MaxCost(3), rule], "known": np.tile([False] * 4 + [True], (5, 1))}
    model.rollout(X[:5], **same)
    model.interview(stopping=same["stopping"], known={"e": 1.0})
    for other in ({"stopping": rule}, {"known": None}, {"available": ["a", "b", "e"]}, {"costs": {"a": 1.0}}):
        with pytest.warns(CertificationWarning, match="certified for cases asked in another way"):
            model.rollout(X[:5], **same | other)
    with pytest.warns(CertificationWarning, match="now: beside MaxCost.*; known: e; unavailable: a, b"):
        model.interview(stopping=same["stopping"], known={"e": 1.0}, unavailable=iter(["a", "b"]))
    model.interview(stopping=same["stopping"], known=pd.Series({"e": 1.0}))
    with pytest.raises(InterviewError, match="give a list of feature names"):
        model.interview(stopping=same["stopping"], unavailable="a")
    plain = model.certify(X, y, risk=0.2)
    model.interview(stopping=plain)
    with pytest.warns(CertificationWarning, match="by itself; now: known: a"):
        model.rollout(X[:5], stopping=plain, known=["a"])
