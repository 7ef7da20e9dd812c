"""Interviews with prices, panels, precedence, rules, candidates and batches."""

import numpy as np
import pandas as pd
import pytest

from askless.acquisition import Context, Interview, Policy, Precedence, Predictor
from askless.acquisition.costs import Panels, PerFeature
from askless.acquisition.reference import Reference
from askless.acquisition.stopping import Confidence, MaxCost, MaxFeatures
from askless.encoding import TableEncoder
from askless.exceptions import InterviewError, ParameterError
from askless.models import Ranking as StaticOrder
from askless.theory import noisy_tests
from tests.coded import raises

PROBLEM = noisy_tests()
PRICES = {"a": 3.0, "b": 4.0, "c": 2.0, "d": 1.0, "e": 0.5, "f": 0.25}
BLOOD = Panels(PRICES, {"blood": {"a": 1.0, "b": 0.5}})


class Codec:
    """The exact problem takes its integers as they are."""

    def encode_answer(self, feature, answer):
        return None if answer is None else np.array([answer], dtype=np.float32)


def stored(n=2000):
    values, y = PROBLEM.sample(n, np.random.default_rng(0))
    return Reference(values.astype(np.float32), np.ones((n, 6), dtype=bool), y)


def interview(costs=None, stopping=None, precedence=None, **how):
    context = Context(
        PROBLEM.greedy,
        PROBLEM,
        PROBLEM.schema,
        costs=PerFeature(np.ones(6)) if costs is None else costs.bound(PROBLEM.schema),
        precedence=Precedence.of(precedence, PROBLEM.schema),
        reference=stored(),
    )
    describe = lambda output, state: dict(enumerate(output[0].tolist()))  # noqa: E731
    return Interview(context, Codec(), stopping=stopping, describe=describe, **how)


def all_the_way(talk, answer=0):
    names = []
    while talk.question:
        names.append((talk.question.name, talk.question.cost))
        talk.answer(answer)
    return names


def test_prices_weigh_in_an_interview_as_in_a_rollout():
    from askless.acquisition import rollout

    values = np.zeros((1, 6), dtype=int)
    for rules in (None, MaxCost(4), MaxFeatures(3), Confidence(0.9) | MaxCost(6)):
        t = rollout(
            PROBLEM.greedy, PROBLEM, PROBLEM.cases(values), PROBLEM.schema, costs=BLOOD.bound(PROBLEM.schema),
            stopping=rules,
        )  # fmt: skip
        talk = interview(BLOOD, rules)
        names = all_the_way(talk)
        assert [name for name, _ in names] == t.names(0)
        assert np.cumsum([0.0] + [cost for _, cost in names]).tolist() == t.cost[0].tolist()
        assert talk.stop_reason == t.stop_reason[0]


def test_a_panel_opens_by_asking_not_by_telling():
    talk = interview(BLOOD, known={"a": 1})
    assert {c.name: c.price for c in talk.candidates}["b"] == 4.0
    talk.tell("c", 1)
    assert {c.name: c.price for c in talk.candidates}["b"] == 4.0
    talk = interview(BLOOD)
    talk.answers({"a": 1})
    assert talk.cost == 3.0
    assert {c.name: c.price for c in talk.candidates}["b"] == 0.5
    talk.tell("a", 0)  # a correction: it was asked all the same
    assert {c.name: c.price for c in talk.candidates}["b"] == 0.5


def test_what_was_told_opens_a_panel_once_it_is_asked_after_all():
    told, asked = interview(costs=BLOOD), interview(costs=BLOOD)
    told.tell("a", 1)
    for talk in (told, asked):
        talk.record({"a": 0, "b": 1})
    assert told.cost == asked.cost


def test_candidates():
    talk = interview(PerFeature(PRICES))
    information = PROBLEM.cmi(PROBLEM.empty())[0]
    expected = {name: information[i] / PRICES[name] for i, name in enumerate("abcdef")}
    assert [c.name for c in talk.candidates] == sorted(expected, key=lambda name: -expected[name])
    first = talk.candidates[0]
    assert first.name == talk.question.name
    assert first.price == talk.question.cost
    assert first.information == pytest.approx(information["abcdef".index(first.name)])
    assert first.score == pytest.approx(expected[first.name])
    talk.later()
    assert first.name not in [c.name for c in talk.candidates]
    talk = interview(stopping=MaxFeatures(1))
    talk.answer(1)
    assert talk.candidates == ()


@pytest.mark.parametrize("rules", [None, MaxCost(100)])
def test_the_leading_candidates(rules):
    talk = interview(PerFeature(PRICES), rules)
    assert talk.leading(2) == talk.candidates[:2]
    assert talk.leading(99) == talk.candidates
    while talk.question:
        assert talk.leading(1)[0].name == talk.question.name
        talk.answer(1)
    assert talk.leading(1) == ()


@pytest.mark.parametrize("rules", [None, MaxFeatures(6), MaxCost(4), Confidence(0.999)])
@pytest.mark.parametrize("costs", [None, PerFeature(PRICES)])
def test_candidates_when_only_the_postponed_are_left(rules, costs):
    """The question is the first of them in every moment; with money, what is too dear is none of them."""
    talk = interview(costs, rules, unavailable=["e", "f"])
    postponed = []
    while talk.question.name not in postponed:
        assert talk.candidates[0].name == talk.question.name
        postponed.append(talk.question.name)
        talk.later()
    assert talk.question.name == postponed[0]
    assert talk.candidates[0].name == postponed[0]
    assert {c.name for c in talk.candidates} == set(postponed)
    assert [c.name for c in talk.candidates[1:]] == sorted(
        postponed[1:], key=lambda name: -{c.name: c.score for c in talk.candidates}[name]
    )


def test_candidates_that_cannot_be_had_are_none():
    talk = interview(PerFeature(PRICES), MaxCost(2), unavailable=["e"], known={"d": 1})
    assert {c.name for c in talk.candidates} == {"c", "f"}


def test_precedence():
    talk = interview(precedence={"b": ["f"], "a": ["e"]})
    names = [name for name, _ in all_the_way(talk)]
    assert names.index("f") < names.index("b")
    assert names.index("e") < names.index("a")
    assert interview(precedence={"b": ["f"]}, known={"f": 0}).question.name == "b"  # known counts
    talk = interview(precedence={"b": ["c"]})
    while talk.question.name != "c":
        talk.unknown()
    talk.unknown()  # asked counts, whatever the answer
    assert talk.question.name == "b"


def test_later_with_money():
    talk = interview(PerFeature(PRICES), MaxCost(3))
    first = talk.question.name
    talk.later()
    names = [name for name, _ in all_the_way(talk)]
    assert names[-1] == first or first not in names
    assert talk.cost <= 3.0
    assert talk.stop_reason == "nothing affordable left of 3"


def test_a_batch_and_its_answers():
    talk = interview(BLOOD)
    questions = talk.batch(3)
    assert questions[0].name == talk.question.name
    assert len({q.name for q in questions}) == 3
    total = sum(q.cost for q in questions)
    talk.answers({q.name: i % 2 for i, q in enumerate(questions)})
    assert talk.cost == pytest.approx(total)
    assert [event.action for event in talk.history] == ["answer"] * 3
    talk.answers({talk.question.name: None})
    assert talk.history[-1].action == "unknown"
    talk.undo()
    assert len(talk.history) == 3


def test_a_batch_within_limits():
    assert len(interview(stopping=MaxFeatures(2)).batch(5)) == 2
    questions = interview(PerFeature(PRICES), MaxCost(3)).batch(6)
    assert sum(q.cost for q in questions) <= 3.0
    assert {q.name for q in interview(precedence={"a": ["f"]}).batch(6)} == set("bcdef")
    talk = interview(stopping=MaxFeatures(0))
    assert talk.batch(2) == ()
    for size in (0, 1.5, True, "2"):
        with raises(InterviewError, "out_of_range", name="size", value=size, low=1):
            talk.batch(size)


def test_a_batch_when_only_what_was_postponed_can_be_paid():
    talk = interview(PerFeature(dict.fromkeys("abcdef", 10.0) | {"a": 1.0}), MaxCost(5))
    talk.later()
    assert not talk.done
    assert [question.name for question in talk.batch(2)] == ["a"]


def test_a_batch_of_what_repeats_the_known_is_the_question_itself():
    rows = np.repeat(np.random.default_rng(0).integers(0, 2, size=(200, 1)), 6, axis=1).astype(np.float32)
    reference = Reference(rows, np.ones((200, 6), dtype=bool), rows[:, 0].astype(int))
    context = Context(PROBLEM.greedy, PROBLEM, PROBLEM.schema, reference=reference)
    describe = lambda output, state: dict(enumerate(output[0].tolist()))  # noqa: E731
    talk = Interview(context, Codec(), stopping=None, describe=describe, known={"a": 1})
    assert talk.batch(3) == (talk.question,)
    answered = 0
    while not talk.done:
        talk.answers({question.name: 1 for question in talk.batch(3)})
        answered += 1
    assert answered == 5


def test_answers_that_cannot_be():
    talk = interview(known={"a": 1}, unavailable=["b"])
    for name in "ab":
        with raises(InterviewError, "cannot_ask", feature=name):
            talk.answers({"c": 1, name: 0})
    assert talk.history[1:] == ()  # nothing was recorded
    with raises(ParameterError, "unknown_name", name="g"):
        talk.answers({"g": 1})
    with raises(InterviewError, "wrong_type", name="values"):
        talk.answers([1])


def test_a_bad_value_in_a_batch_records_nothing():
    table = pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]})
    encoder = TableEncoder.fit(table)

    class Flat(Policy, Predictor):
        def score(self, state):
            return np.zeros(state.asked.shape)

        def predict(self, state):
            return np.zeros((len(state), 1))

    talk = Interview(Context(Flat(), Flat(), encoder.schema), encoder, stopping=None, describe=lambda o, s: {})
    with pytest.raises(InterviewError):
        talk.answers({"x": 1.0, "y": "much"})
    assert talk.history == ()


def test_a_fixed_order_says_so():
    """Its scores are places in an order; they do not say how much a question tells now."""
    context = Context(StaticOrder(np.arange(6.0)), PROBLEM, PROBLEM.schema)
    fixed = Interview(context, Codec(), stopping=None, describe=lambda output, state: {})
    assert (interview().fixed_order, fixed.fixed_order) == (False, True)
    assert [candidate.name for candidate in fixed.candidates] == list("fedcba")
