"""Certified stopping from `fit` and `certify`."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from askless import DynamicClassifier, DynamicRegressor, load
from askless.acquisition.costs import Depends
from askless.acquisition.stopping import (
    Certified,
    Confidence,
    DecisionStable,
    MaxCost,
    MaxFeatures,
    rule_from_json,
    rule_to_json,
)
from askless.estimators import PROOF
from askless.exceptions import CertificationWarning, InterviewError, ParameterError, TableError
from askless.methods import Greedy
from askless.tables import holdout
from tests.coded import no_warning, raises, warns

QUICK = Greedy(epochs=4, pretrain_epochs=8, hidden=(32,))


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    y = np.where(x[:, 0] + x[:, 1] + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    return pd.DataFrame(x, columns=list("abcde")), pd.Series(y, name="label")


@pytest.fixture(scope="module")
def model():
    return DynamicClassifier(max_features=4, method=QUICK, reference_rows=256).fit(*table(1200))


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
    with raises(ParameterError, "conflicting_settings", name="stopping"):
        model.rollout(X, stopping=[rule, model.certify(X, y, risk=0.3)])


def test_batches_cannot_be_certified(model):
    with raises(ParameterError, "not_supported", name="batch", value=2):
        model.certify(*table(300), batch=2)


def test_what_cannot_be_promised_warns_and_abstains(model):
    with warns(CertificationWarning, "no_threshold", rows=100, risk=0.01):
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
    _, proof = holdout((y == "yes").to_numpy().astype(int), PROOF, stratify=True, seed=0)
    name = X.columns[0]
    X = X.astype({name: object})
    X.loc[proof[3], name] = "many"
    with pytest.raises(TableError, match=rf"column {name!r}, row {proof[3]} "):
        DynamicClassifier(method=Never(), stopping=Certified(0.1), random_state=0).fit(X, y)


@pytest.mark.parametrize("settings", [{"stopping": DecisionStable()}, {"stopping": MaxCost(3) & DecisionStable()}])
def test_a_rule_that_cannot_be_used_is_an_error_before_training(settings):
    with raises(ParameterError, "not_supported", name="decision_stable", needed="reference_rows"):
        DynamicClassifier(method=Never(), **settings).fit(*table(60))
    X, y = table(60)
    with raises(ParameterError, "required", name="tolerance"):
        DynamicRegressor(method=Never(), stopping=DecisionStable(), reference_rows=256).fit(
            X, (y == "yes").astype(float)
        )


class Never(type(QUICK)):
    def _fit(self, *given):
        raise AssertionError("it was trained")


def test_and_would_break_the_promise():
    with raises(ParameterError, "conflicting_settings", name="certified"):
        Certified(0.1) & Confidence(0.8)
    with raises(ParameterError, "conflicting_settings", name="certified"):
        (Confidence(0.9) | Certified(0.1)) & Confidence(0.8)


def test_a_certified_rule_holds_only_under_its_conditions(model, tmp_path):
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.2, stopping=MaxCost(3), known=["e"])
    assert rule.manner == ("rule: MaxCost(3)", "known: e")
    assert rule_from_json(json.loads(json.dumps(rule_to_json(rule)))) == rule
    same = {"stopping": [MaxCost(3), rule], "known": np.tile([False] * 4 + [True], (200, 1))}
    with no_warning(CertificationWarning):
        reasons = model.rollout(X[:200], **same).stop_reason
        assert any(reason.startswith("sure enough") for reason in reasons)
        model.rollout(X[:200], **same, costs={"a": 1.0})  # as at `fit`
        model.interview(stopping=same["stopping"], known={"e": 1.0})
        model.interview(stopping=same["stopping"], known=pd.Series({"e": 1.0}))
    for other, why in (
        ({"stopping": rule}, "the rule MaxCost(3) was removed"),
        ({"stopping": [rule, MaxCost(3), Confidence(0.999)]}, "the rule Confidence(probability=0.999) was added"),
        ({"known": None}, "'e' was not known beforehand"),
        ({"known": ["a", "e"]}, "'a' was known beforehand"),
        ({"known": np.arange(1000).reshape(200, 5) % 3 == 0}, "a set of features that differs between the cases ("),
        ({"available": ["a", "b", "e"]}, "'c' and 1 more were unavailable"),
        ({"costs": {"a": 0.5}}, "the costs differ"),
        ({"batch": 2}, "features were asked in batches"),
    ):
        with warns(CertificationWarning, "conditions_changed", certified=list(rule.manner)) as caught:
            reasons = model.rollout(X[:200], **same | other).stop_reason
        assert len(caught) == 1
        assert all(f"; the certified stopping rule was not used: {why}" in reason for reason in reasons), reasons[0]
        assert not any("sure enough" in reason for reason in reasons)
    with warns(CertificationWarning, "conditions_changed", now=["rule: MaxCost(3)", "known: e", "unavailable: a"]):
        talk = model.interview(stopping=same["stopping"], known={"e": 1.0}, unavailable=iter(["a"]))
    while not talk.done:
        talk.answer(2.0)
    assert talk.stop_reason == ("nothing left to ask; the certified stopping rule was not used: 'a' was unavailable")
    with raises(InterviewError, "wrong_type", name="unavailable", value="a"):
        model.interview(stopping=same["stopping"], unavailable="a")


def test_other_costs_are_compared_with_those_of_the_certification(model):
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.2, costs={"a": 2.0})
    assert rule.manner == ("cost: a=2",)
    with no_warning(CertificationWarning):
        model.rollout(X[:5], stopping=rule, costs={"a": 2.0})
    for costs in (None, {"a": 3.0}, {"a": 2.0, "b": 0.5}, Depends(lambda state: np.ones(state.asked.shape))):
        with warns(CertificationWarning, "conditions_changed"):
            t = model.rollout(X[:5], stopping=rule, costs=costs)
        assert all(reason.endswith("was not used: the costs differ") for reason in t.stop_reason)


FEWER = "at most 1 question instead of 4"


def test_fewer_questions_than_certified_turn_the_rule_off(model):
    """With four questions a case that is sure but wrong may be stopped rightly later; with one it is not."""
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.2)
    for options in ({"stopping": rule, "max_features": 1}, {"stopping": [rule, MaxFeatures(1)]}):
        with warns(CertificationWarning, "conditions_changed", certified=["questions: 4"], now=["questions: 1"]):
            reasons = model.rollout(X[:200], **options).stop_reason
        assert set(reasons) == {f"asked 1 feature; the certified stopping rule was not used: {FEWER}"}
        with warns(CertificationWarning, "conditions_changed", now=["questions: 1"]):
            talk = model.interview(**options)
        assert finish(talk) == f"asked 1 feature; the certified stopping rule was not used: {FEWER}"
    with no_warning(CertificationWarning):  # more are no change: later answers are not looked at
        reasons = model.rollout(X[:200], stopping=rule, max_features=5).stop_reason
    assert any(reason.startswith("sure enough") for reason in reasons)


def test_a_rule_of_another_model_is_not_used(model, tmp_path):
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.2)
    other = DynamicClassifier(max_features=4, method=QUICK, random_state=1).fit(*table(1200))
    with warns(CertificationWarning, "conditions_changed"):
        reasons = other.rollout(X[:200], stopping=rule).stop_reason
    assert all(reason.endswith("was not used: it was certified for another model") for reason in reasons)
    model.save(tmp_path / "m.askless")
    with no_warning(CertificationWarning):
        same = load(tmp_path / "m.askless").rollout(X[:200], stopping=rule).stop_reason
        other.rollout(X[:200], stopping=replace(rule, model=None))  # of a file of before
    assert same.tolist() == model.rollout(X[:200], stopping=rule).stop_reason.tolist()


def test_other_sets_that_differ_between_the_cases(model):
    X, y = table(1500, seed=1)
    one, two = (np.arange(X.size).reshape(X.shape) % k == 0 for k in (2, 3))
    rule = model.certify(X, y, risk=0.2, known=one)
    with no_warning(CertificationWarning):
        model.rollout(X[:200], stopping=rule, known=one[:200])
    with warns(CertificationWarning, "conditions_changed"):
        model.rollout(X[:200], stopping=rule, known=two[:200])


def test_an_unknown_answer_needs_cases_that_had_some(model):
    events = (
        lambda talk, name: talk.unknown(),
        lambda talk, name: talk.answers({name: None}),
        lambda talk, name: talk.record({name: None}),
    )
    for event in events:
        talk = started(model)
        name = talk.question.name
        event(talk, name)
        assert finish(talk).endswith(f"was not used: the answer to {name!r} was unknown")
    X, y = table(1200)
    with_gaps = X.mask(np.random.default_rng(5).random(X.shape) < 0.1)
    talk = started(DynamicClassifier(max_features=4, method=QUICK, missing="answer").fit(with_gaps, y))
    talk.unknown()
    assert finish(talk).startswith("sure enough")


def test_candidates_after_another_order_are_without_the_rule(model):
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.2)
    asked = model.rollout(X, stopping=rule)
    row = next(i for i, n in enumerate(asked.n_asked) if n == 2 and asked.stop_reason[i].startswith("sure"))
    first, second = asked.names(row)
    assert model.candidates(X, row, [first], stopping=rule)[0].name == second
    assert model.candidates(X, row, [first, second], stopping=rule) == ()
    assert len(model.candidates(X, row, [second, first], stopping=rule)) == 3
    rest = [name for name in "abcde" if name not in (first, second)]
    assert len(model.candidates(X, row, [first, second, rest[0]], stopping=rule)) == 2  # asked after the end


def started(model, **options):
    """An interview by a rule that holds for it, and would stop it after a few answers of 2.0."""
    X, y = table(1500, seed=1)
    rule = model.certify(X, y, risk=0.2)
    with no_warning(CertificationWarning):
        return model.interview(stopping=rule, **options)


def finish(talk):
    while not talk.done:
        talk.answer(2.0)
    return talk.stop_reason


def test_an_interview_that_keeps_to_the_order_is_stopped_by_the_rule(model):
    reason = finish(started(model))
    assert reason.startswith("sure enough")
    for asked in (
        lambda talk, name: talk.answers({name: 2.0}),
        lambda talk, name: talk.record({name: 2.0}),
        lambda talk, name: talk.answer(2.0),
    ):
        talk = started(model)
        while not talk.done:
            asked(talk, talk.question.name)
        assert talk.stop_reason == reason


EVENTS = [
    (lambda talk, next_, other: talk.tell(other, 0.1), "{other!r} was told without being asked"),
    (lambda talk, next_, other: (talk.answer(0.1), talk.tell(next_, 0.2)), "{next_!r} was corrected"),
    (lambda talk, next_, other: talk.later(), "{next_!r} was postponed"),
    (lambda talk, next_, other: talk.later(other), "{other!r} was postponed"),
    (lambda talk, next_, other: talk.answers({next_: 0.1, other: 0.1}), "2 features were answered together"),
    (lambda talk, next_, other: talk.answers({other: 0.1}), "{other!r} was asked instead of {next_!r}"),
    (lambda talk, next_, other: talk.record({other: 0.1}), "{other!r} was asked instead of {next_!r}"),
    (lambda talk, next_, other: talk.record({other: None, next_: 0.1}), "{other!r} was asked instead of {next_!r}"),
]


@pytest.mark.parametrize(("event", "why"), EVENTS)
def test_an_event_that_changes_the_way_of_asking_turns_the_rule_off(model, event, why):
    talk = started(model)
    next_ = talk.question.name
    other = talk.candidates[-1].name
    with no_warning(CertificationWarning):
        event(talk, next_, other)
        reason = finish(talk.copy())
    why = why.format(next_=next_, other=other)
    assert reason == f"asked 4 features; the certified stopping rule was not used: {why}"
    while talk.can_undo:  # without the event the rule holds
        talk.undo()
    assert finish(talk).startswith("sure enough")


def test_recorded_answers_in_the_order_of_the_policy_keep_the_rule(model):
    talk = started(model)
    done = started(model)
    reason = finish(done)
    names = [event.feature for event in done.history]
    talk.record(dict.fromkeys(names, 2.0))
    assert (talk.stop_reason, talk.history) == (reason, done.history)
    talk.undo()
    assert not talk.done
    rest = [name for name in "abcde" if name not in names]
    talk.record(dict.fromkeys([*names, rest[0]], 2.0))  # it was asked on
    assert finish(talk).endswith(f"was not used: {rest[0]!r} was asked after the end")


def test_a_correction_after_the_end_reopens_the_interview(model):
    talk = started(model)
    assert finish(talk).startswith("sure enough")
    talk.tell(talk.history[0].feature, 1.9)
    assert not talk.done
    assert finish(talk).endswith("was corrected")


def test_a_batch_is_chosen_without_the_rule(model):
    talk = started(model)
    questions = talk.batch(3)
    assert len(questions) == 3
    talk.answers({question.name: 2.0 for question in questions})
    assert finish(talk).endswith("was not used: 3 features were answered together")
