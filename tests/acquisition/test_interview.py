"""One live case, question by question."""

import numpy as np
import pandas as pd
import pytest

from askless.acquisition import (
    Context,
    Feature,
    Interview,
    MaxFeatures,
    Part,
    PerFeature,
    Predictor,
    Schema,
    TruthPolicy,
    Uniform,
)
from askless.acquisition.interview import Event, last_said
from askless.encoding import TableEncoder
from askless.exceptions import InterviewError, ParameterError, TruthError
from askless.models import Ranking
from tests.acquisition.linear import Spent
from tests.coded import raises

TABLE = pd.DataFrame(
    {
        "age": [20.0, 50.0],
        "sbp": [110.0, 160.0],
        "dbp": [70.0, 95.0],
        "sex": ["f", "m"],
        "smokes": [True, False],
    }
)
ENCODER = TableEncoder.fit(TABLE, groups={"pressure": ["sbp", "dbp"]}, costs={"pressure": 5, "sex": 0.5})
SCHEMA = ENCODER.schema  # age, pressure, sex, smokes


class Count(Predictor):
    """Predicts how many features are known, and the sum of what is."""

    def predict(self, state):
        return np.column_stack([state.known.sum(axis=1), state.x.sum(axis=1)]).astype(float)


def interview(scores=(4.0, 3.0, 2.0, 1.0), **how):
    """By default the questions come in the table's order."""
    how = {"costs": PerFeature(SCHEMA.prices), "stopping": None, **how}
    describe = lambda output, state: {"known": output[0, 0], "sum": output[0, 1]}  # noqa: E731
    context = Context(Ranking(scores), Count(), SCHEMA, costs=how.pop("costs"))
    return Interview(context, ENCODER, describe=describe, **how)


def snapshot(talk):
    """All that a caller can see."""
    return talk.question, talk.prediction, talk.done, talk.stop_reason, talk.history, talk.cost


def names(talk):
    """Answer "unknown" to the end; the questions on the way."""
    asked = []
    while talk.question:
        assert len(asked) < len(SCHEMA), f"the interview does not end: {asked}"
        asked.append(talk.question.name)
        talk.unknown()
    return asked


def test_questions_say_what_is_asked_for():
    talk = interview()
    assert (talk.question.name, talk.question.kind, talk.question.choices, talk.question.cost) == (
        "age",
        "number",
        None,
        1.0,
    )
    talk.answer(30)
    assert (talk.question.name, talk.question.kind, talk.question.cost) == ("pressure", "group", 5.0)
    assert [part.name for part in talk.question.parts] == ["sbp", "dbp"]
    talk.answer({"sbp": 120, "dbp": 80})
    assert (talk.question.kind, talk.question.choices, talk.question.cost) == ("category", ("f", "m"), 0.5)
    talk.answer("f")
    assert (talk.question.name, talk.question.kind) == ("smokes", "boolean")
    talk.answer(True)
    assert talk.question is None
    assert talk.done
    assert talk.stop_reason == "nothing left to ask"
    assert talk.cost == 7.5


def test_the_history_tells_what_happened():
    talk = interview(known={"smokes": "no"})
    talk.answer(30)
    talk.unknown()
    talk.later()
    talk.tell("pressure", {"sbp": 150})
    told = [(event.action, event.feature, event.value, event.cost) for event in talk.history]
    assert told == [
        ("tell", "smokes", "no", 0.0),
        ("answer", "age", 30, 1.0),
        ("unknown", "pressure", None, 5.0),
        ("later", "sex", None, 0.0),
        ("tell", "pressure", {"sbp": 150}, 0.0),
    ]
    assert [event.prediction["known"] for event in talk.history] == [1, 2, 2, 2, 3]
    assert talk.history[-1].prediction == talk.prediction


def test_an_answer_moves_the_prediction_and_an_unknown_does_not():
    talk = interview()
    before = talk.prediction
    talk.unknown()
    assert talk.prediction == before
    assert talk.cost == 1.0
    talk.answer({"sbp": 110.0, "dbp": 70.0})
    assert talk.prediction["known"] == 1
    assert talk.prediction["sum"] == pytest.approx(ENCODER.transform(TABLE).x[0, 1:5].sum())
    assert "age" not in names(talk)


@pytest.mark.parametrize("nothing", [None, float("nan"), "NA", {"sbp": None, "dbp": None}, {}])
def test_an_answer_that_says_nothing_is_unknown(nothing):
    talk = interview((1.0, 2.0, 0.0, 0.0))
    talk.answer(nothing)
    assert talk.prediction["known"] == 0
    assert talk.history[0].action == "unknown"
    assert names(talk) == ["age", "sex", "smokes"]


def test_a_group_is_answered_in_part():
    talk = interview((1.0, 2.0, 0.0, 0.0))
    talk.answer({"dbp": 95})
    assert talk.prediction["known"] == 1
    assert talk.question.name == "age"


@pytest.mark.parametrize(
    ("scores", "answer", "message"),
    [
        ((4, 3, 2, 1), "old", "'age'.*'old' is not a number"),
        ((4, 3, 2, 1), {"agee": 3}, "'age' has no part 'agee'"),
        ((1, 4, 3, 2), 120, r"'pressure'.* a mapping \{'sbp': ..., 'dbp': ...\}, not 120"),
        ((1, 4, 3, 2), {"sbp": "high"}, "'pressure'.*'sbp': 'high' is not a number"),
        ((1, 4, 3, 2), {"sdp": 80}, "'pressure' has no part 'sdp'"),
        ((1, 2, 3, 4), "perhaps", "'smokes'.*'perhaps'"),
    ],
)
def test_an_answer_that_does_not_fit_changes_nothing(scores, answer, message):
    talk = interview(scores)
    before = snapshot(talk)
    with pytest.raises(InterviewError, match=message):
        talk.answer(answer)
    assert snapshot(talk) == before


def test_later_comes_when_nothing_else_is_left():
    talk = interview()
    talk.later()  # age
    talk.later()  # pressure
    assert names(talk) == ["sex", "smokes", "age", "pressure"]  # the longest postponed first


def test_later_again_goes_to_the_end():
    talk = interview((4.0, 3.0, 0.0, 0.0), unavailable=["sex", "smokes"])
    talk.later()
    talk.later()
    assert talk.question.name == "age"
    talk.later()
    assert talk.question.name == "pressure"
    talk.later()
    assert talk.question.name == "age"
    assert talk.cost == 0.0
    assert names(talk) == ["age", "pressure"]


def test_later_of_another_feature_by_its_name():
    talk = interview()
    talk.later("pressure")
    assert (talk.postponed, talk.question.name) == (("pressure",), "age")
    talk.later("age")
    talk.later("pressure")
    assert talk.postponed == ("age", "pressure")
    assert [(event.action, event.feature, event.cost) for event in talk.history][-1] == ("later", "pressure", 0.0)
    talk.undo()
    assert talk.postponed == ("pressure", "age")
    assert names(talk) == ["sex", "smokes", "pressure", "age"]


def test_later_of_the_question_by_its_name_is_later():
    one, other = interview(), interview()
    one.later()
    other.later("age")
    assert snapshot(one) == snapshot(other)


def test_later_of_what_cannot_be_asked_changes_nothing():
    talk = interview(known={"sex": "f"}, unavailable=["smokes"])
    talk.answer(30)
    before = snapshot(talk)
    for name in ("age", "sex", "smokes"):
        with raises(InterviewError, "cannot_ask", feature=name):
            talk.later(name)
    with raises(ParameterError, "unknown_name", nearest="age"):
        talk.later("agee")
    assert snapshot(talk) == before


def test_later_does_not_count_and_the_budget_still_holds():
    talk = interview(stopping=MaxFeatures(2))
    talk.later()
    assert names(talk) == ["pressure", "sex"]
    assert talk.stop_reason == "asked 2 features"


def test_what_was_postponed_may_be_told():
    talk = interview()
    talk.later()
    talk.tell("age", 30)
    assert names(talk) == ["pressure", "sex", "smokes"]


EVENTS = {
    "answer": lambda talk: talk.answer(30),
    "unknown": lambda talk: talk.unknown(),
    "later": lambda talk: talk.later(),
    "tell": lambda talk: talk.tell("sex", "m"),
}


@pytest.mark.parametrize("event", EVENTS)
def test_undo_takes_back_every_kind_of_event(event):
    talk = interview()
    before = snapshot(talk)
    EVENTS[event](talk)
    assert snapshot(talk) != before
    talk.undo()
    assert snapshot(talk) == before


def test_undo_goes_back_step_by_step_from_the_end():
    talk = interview(stopping=MaxFeatures(3))
    seen = [snapshot(talk)]
    for step in (
        lambda: talk.answer(44),
        lambda: talk.later(),
        lambda: talk.tell("smokes", False),
        lambda: talk.unknown(),
        lambda: talk.tell("age", 45),
        lambda: talk.answer({"sbp": 130}),
    ):
        step()
        seen.append(snapshot(talk))
    assert talk.done
    assert talk.stop_reason == "asked 3 features"
    while len(seen) > 1:
        assert snapshot(talk) == seen.pop()
        talk.undo()
    assert snapshot(talk) == seen[0]
    with raises(InterviewError, "nothing_to_undo"):
        talk.undo()


def test_what_was_known_from_the_start_cannot_be_undone():
    talk = interview(known={"age": 30})
    with raises(InterviewError, "nothing_to_undo"):
        talk.undo()


def test_tell_is_free_and_may_correct_an_earlier_answer():
    talk = interview()
    talk.answer(20.0)
    first = talk.prediction["sum"]
    talk.tell("age", 50.0)
    assert talk.prediction["sum"] == pytest.approx(-first)  # standardised, so 20 and 50 are opposite
    assert talk.cost == 1.0
    assert talk.question.name == "pressure"
    talk.tell("age", None)  # it turned out to be unknown
    assert talk.prediction == {"known": 0, "sum": 0}
    assert names(talk) == ["pressure", "sex", "smokes"]


def test_tell_after_the_end():
    talk = interview(stopping=MaxFeatures(1))
    talk.answer(30)
    assert talk.done
    talk.tell("sex", "f")
    assert talk.prediction["known"] == 2
    assert talk.done
    assert talk.cost == 1.0


def test_tell_does_not_count_towards_the_budget():
    talk = interview(stopping=MaxFeatures(2))
    talk.tell("pressure", {"sbp": 120})
    assert names(talk) == ["age", "sex"]


def test_what_is_known_is_free_and_not_asked():
    talk = interview(known={"age": 30, "pressure": {"sbp": 120, "dbp": 80}}, stopping=MaxFeatures(1))
    assert talk.prediction["known"] == 2
    assert talk.cost == 0.0
    assert names(talk) == ["sex"]


def test_what_is_unavailable_is_not_asked_but_may_be_told():
    talk = interview(unavailable=["age", "sex"])
    assert talk.question.name == "pressure"
    talk.tell("sex", "f")
    assert names(talk) == ["pressure", "smokes"]


def test_rules_see_the_interview():
    talk = interview(stopping=[Spent(6.0), MaxFeatures(4)])
    talk.answer(30)
    talk.answer({"sbp": 120, "dbp": 80})
    assert talk.done
    assert talk.stop_reason == "spent 6.0"
    talk.undo()
    assert talk.stop_reason is None


def test_prices_may_be_equal():
    talk = interview(costs=Uniform())
    names(talk)
    assert talk.cost == 4.0


@pytest.mark.parametrize("do", [lambda talk: talk.answer(1), lambda talk: talk.unknown(), lambda talk: talk.later()])
def test_nothing_to_answer_when_done(do):
    talk = interview(stopping=MaxFeatures(0))
    assert talk.done
    before = snapshot(talk)
    with raises(InterviewError, "interview_done", reason="asked 0 features"):
        do(talk)
    assert snapshot(talk) == before


@pytest.mark.parametrize(
    "make",
    [
        lambda: interview(known={"aje": 3}),
        lambda: interview(unavailable=["aje"]),
        lambda: interview().tell("aje", 3),
    ],
)
def test_a_feature_that_is_not_there(make):
    with raises(ParameterError, "unknown_name", name="aje", nearest="age"):
        make()


def test_the_history_is_not_rewritten():
    talk = interview()
    talk.answer(30)
    kept = talk.history
    talk.undo()
    talk.unknown()
    assert [event.action for event in kept] == ["answer"]
    assert [event.action for event in talk.history] == ["unknown"]


class Oracle(TruthPolicy):
    def score_with_truth(self, state, truth):
        return truth


def test_a_policy_that_needs_the_truth_is_refused():
    schema = Schema((Feature("a", (Part("a", "number"),), 0, 1),))
    how = {"stopping": None, "describe": lambda output, state: {}}
    with raises(TruthError, "needs_truth", name="Oracle"):
        Interview(Context(Oracle(), Count(), schema), ENCODER, **how)


def test_nan_scores_count_as_the_lowest():
    assert names(interview((np.nan, 1.0, -np.inf, 2.0))) == ["smokes", "pressure", "age", "sex"]


def test_answers_given_elsewhere_count_cost_and_lead_to_the_same_moment():
    step = interview(stopping=MaxFeatures(3))
    step.answer(30)
    step.answer({"sbp": 150, "dbp": 95})
    step.unknown()
    whole = interview(stopping=MaxFeatures(3))
    before = snapshot(whole)
    whole.record({"age": 30, "pressure": {"sbp": 150, "dbp": 95}, "sex": None})
    assert snapshot(whole)[:4] == snapshot(step)[:4] == (None, step.prediction, True, "asked 3 features")
    assert whole.cost == step.cost == 6.5
    whole.undo()
    assert snapshot(whole) == before


def test_answers_given_elsewhere_come_in_any_order():
    talk = interview()
    talk.record({"smokes": True, "sex": "f"})
    assert (talk.question.name, talk.cost) == ("age", 1.5)
    talk.record({})
    step = interview()
    step.answers({"smokes": True, "sex": "f"})
    assert talk.history == step.history  # predictions after each of them, too
    assert [event.feature for event in talk.history] == ["smokes", "sex"]
    with raises(InterviewError, "cannot_ask", feature="sex"):
        talk.record({"age": 30, "sex": "m"})
    talk.tell("sex", "m")
    assert talk.cost == 1.5


def test_history_is_not_changed_from_outside():
    talk, told = interview(), {"sbp": 150, "dbp": 95}
    talk.tell("pressure", told)
    told["sbp"] = 99
    assert talk.history[0].value == {"sbp": 150, "dbp": 95}


def test_a_bad_answer_among_several_changes_nothing():
    talk = interview()
    before = snapshot(talk)
    with pytest.raises(InterviewError, match="age"):
        talk.record({"sex": "f", "age": "old"})
    with raises(ParameterError, "unknown_name", name="agee", nearest="age"):
        talk.record({"sex": "f", "agee": 3})
    assert snapshot(talk) == before


def test_a_copy_goes_its_own_way():
    talk = interview()
    talk.answer(30)
    before = snapshot(talk)
    other = talk.copy()
    other.undo()
    other.record({"sex": "f"})
    assert snapshot(talk) == before
    assert other.cost == 0.5


HISTORY = [
    Event("later", "pressure", None, 0.0),
    Event("answer", "age", 51, 1.0),
    Event("answer", "pressure", {"systolic": 150}, 5.0),
    Event("tell", "pressure", {"systolic": 150, "diastolic": 95}, 0.0),
    Event("unknown", "sex", None, 1.0),
    Event("later", "pressure", None, 0.0),
]


def test_what_was_said_last():
    assert last_said(HISTORY, "pressure") == {"systolic": 150, "diastolic": 95}
    assert last_said(HISTORY, "age") == 51
    assert last_said(HISTORY, "sex") is None
    assert last_said(HISTORY, "weight") is None
    assert last_said([], "age") is None
