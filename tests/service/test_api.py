"""The stateless API, compared with the interview in Python."""

from dataclasses import replace

import numpy as np
import pytest

from askless.model_file import read_model
from askless.service.models import Models, ServedModel, read_models
from tests.service.conftest import running

ANSWERS = {"age": 51, "blood pressure": {"systolic": 150, "diastolic": 95}, "complaint": "chest pain"}


@pytest.fixture(scope="module")
def fitted(model_file):
    return read_model(model_file)


def test_the_next_question_is_the_interview_s(service, fitted):
    talk = fitted.interview()
    told = service.next({"answers": {}}).json()
    answers = {}
    while talk.question is not None:
        question = talk.question
        assert told["question"]["name"] == question.name
        assert told["question"]["cost"] == question.cost
        assert told["prediction"] == pytest.approx(talk.prediction)
        assert (told["done"], told["stop_reason"], told["asked"]) == (False, None, len(answers))
        value = {part.name: example(part) for part in question.parts}
        value = value if len(question.parts) > 1 else value[question.parts[0].name]
        answers[question.name] = value
        talk.answer(value)
        told = service.next({"answers": answers}).json()
    assert told["question"] is None
    assert told["candidates"] == []
    assert (told["done"], told["stop_reason"], told["cost"]) == (True, talk.stop_reason, talk.cost)
    assert told["prediction"] == pytest.approx(talk.prediction)


def example(part):
    if part.kind == "number":
        return round((part.low + part.high) / 2, 1)
    return part.choices[0] if part.choices else True


def test_answers_count_and_cost_and_what_was_known_does_not(service, fitted):
    told = service.next({"answers": ANSWERS, "known": {"sex": "male"}, "unknown": ["pain"]}).json()
    talk = fitted.interview(known={"sex": "male"})
    talk.record(ANSWERS | {"pain": None})
    assert (told["asked"], told["cost"]) == (4, 1 + 3 + 1 + 1)
    assert told["prediction"] == pytest.approx(talk.prediction)
    assert told["question"]["name"] == talk.question.name


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"answers": {"age": 51}, "known": {"age": 51}}, "`answers` and `known`"),
        ({"answers": {"age": 51}, "unknown": ["pain", "age"]}, "`unknown` and `answers`"),
        ({"answers": {}, "known": {"age": 51}, "unknown": ["age"]}, "`unknown` and `known`"),
    ],
)
def test_a_feature_is_in_one_field_only(service, body, fields):
    answer = service.next(body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (409, "conflicting_answers")
    assert f"'age' is in both {fields}" in error["message"]


def test_null_is_no_answer_and_the_error_says_what_is(service):
    told = service.next({"answers": {"age": None}})
    assert told.status_code == 422
    assert "send an unknown answer as `unknown`" in told.text
    assert "unknown" not in service.next({"answers": {"age": "old"}}).text


def test_a_choice_in_other_capitals_is_read_and_told(service):
    exact = service.next({"answers": {"complaint": "chest pain"}, "known": {"sex": "female"}}).json()
    loud = service.next({"answers": {"complaint": " Chest PAIN"}, "known": {"sex": "Female"}}).json()
    assert loud == {
        **exact,
        "notes": ["'sex' is read as the choice 'female'", "'complaint' is read as the choice 'chest pain'"],
    }
    assert exact["notes"] == []


def test_what_cannot_be_had_is_not_asked(service, fitted):
    first = service.next({"answers": {}}).json()["question"]["name"]
    second = service.next({"answers": {}, "unavailable": [first]}).json()["question"]["name"]
    assert second != first
    assert second == fitted.interview(unavailable=[first]).question.name


def test_the_leading_candidates_begin_with_the_question(service):
    told = service.next({"answers": ANSWERS}).json()
    names = [each["name"] for each in told["candidates"]]
    assert names[0] == told["question"]["name"]
    assert len(names) == len(set(names)) == 5
    assert not set(names) & set(ANSWERS)
    values = [each["value"] for each in told["candidates"]]
    assert values == sorted(values, reverse=True)


def test_other_prices_and_an_earlier_stop(service):
    told = service.next({"answers": ANSWERS, "costs": {"age": 7.5}, "stopping": {"max_features": 3}}).json()
    assert told["cost"] == 7.5 + 3 + 1
    assert (told["done"], told["stop_reason"]) == (True, "asked 3 features")


def test_stopping_by_confidence_or_money(service):
    sure = service.next({"answers": ANSWERS, "stopping": {"confidence": 0.0}}).json()
    assert (sure["done"], sure["stop_reason"]) == (True, "confidence of 0 reached")
    poor = service.next({"answers": ANSWERS, "stopping": {"max_cost": 4}}).json()
    assert (poor["done"], poor["stop_reason"]) == (True, "nothing affordable left of 4")
    told = service.next({"answers": ANSWERS, "stopping": {"max_cost": 1000, "confidence": 1.0}}).json()
    assert not told["done"]


def test_a_model_without_training_rows_says_what_a_rule_needs(model_file):
    model = next(iter(read_models([str(model_file)])))
    bare = ServedModel("bare", replace(model.fitted, reference=None), "none", {})
    with running(Models([bare])) as service:
        answer = service.next({"answers": {}, "stopping": {"decision_stable": 0.9}}, "bare")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["where"]) == (422, "not_supported", "stopping.decision_stable")
    assert "reference_rows=256" in error["message"]


def test_a_value_beyond_training_is_noted(service):
    notes = service.next({"answers": {"age": 120}}).json()["notes"]
    assert notes == ["'age' is outside the range of the training data (18 to 95)"]
    assert service.next({"answers": {"age": 50}}).json()["notes"] == []


@pytest.mark.parametrize(
    ("model", "answers", "words"),
    [
        ("triage", {"age": "51"}, "'age' takes a number from 0 to 120; it must be a JSON number, not text"),
        (
            "triage",
            {"heart disease": "true"},
            "'heart disease' takes true or false; it must be a JSON boolean, not text",
        ),
        ("score", {"grade": "1"}, "'grade' takes one of 0.0, 1.0, 2.0; it must be a JSON number, not text"),
        ("triage", {"sex": "femal"}, "'sex' takes one of 'female', 'male'"),
        ("triage", {"age": [51]}, "'age' takes a number from 0 to 120"),
    ],
)
def test_text_for_what_is_none(service, model, answers, words):
    assert service.next({"answers": answers}, model).json()["error"]["message"] == words


def test_a_name_that_is_near_none_is_answered_with_those_there_are(service):
    error = service.next({"answers": {"alter": 51}}).json()["error"]
    assert error["code"] == "unknown_name"
    assert error["message"].startswith("unknown feature 'alter'; the features are 'age', 'sex', ")
    assert error["message"].endswith(" and 8 more")


BAD = [
    ({}, "answers", "required", "missing"),
    ([], None, "wrong_type", "JSON object"),
    ({"answers": []}, "answers", "wrong_type", "object"),
    ({"answers": {"agee": 51}}, "answers", "unknown_name", "did you mean 'age'"),
    ({"answers": {"systolic": 150}}, "answers", "unknown_name", "it is a part of the group 'blood pressure'"),
    ({"answers": {"age": "31337"}}, "answers.age", "bad_answer", "a number from 0 to 120"),
    ({"answers": {"age": True}}, "answers.age", "bad_answer", "a number"),
    ({"answers": {"age": None}}, "answers.age", "bad_answer", "a number"),
    ({"answers": {"age": 31337}}, "answers.age", "bad_answer", "0 to 120"),
    ({"answers": {"age": -1}}, "answers.age", "bad_answer", "0 to 120"),
    ({"answers": {"age": 10**30}}, "answers.age", "bad_answer", "0 to 120"),
    ({"answers": {"sex": "31337"}}, "answers.sex", "bad_answer", "'female', 'male'"),
    ({"answers": {"heart disease": 1}}, "answers.heart disease", "bad_answer", "true or false"),
    ({"answers": {"blood pressure": 31337}}, "answers.blood pressure", "bad_answer", "'systolic', 'diastolic'"),
    ({"answers": {"blood pressure": {}}}, "answers.blood pressure", "bad_answer", "unknown"),
    (
        {"answers": {"blood pressure": {"sistolic": 1}}},
        "answers.blood pressure",
        "unknown_name",
        "did you mean 'systolic'",
    ),
    (
        {"answers": {"blood pressure": {"systolic": None}}},
        "answers.blood pressure.systolic",
        "bad_answer",
        "a number",
    ),
    ({"answers": {}, "unknown": "age"}, "unknown", "wrong_type", "list"),
    ({"answers": {}, "unknown": ["agee"]}, "unknown", "unknown_name", "did you mean"),
    ({"answers": {}, "unavailable": [3]}, "unavailable", "wrong_type", "list"),
    ({"answers": {}, "costs": {"age": -31337}}, "costs.age", "out_of_range", "from 0"),
    ({"answers": {}, "costs": {"agee": 1}}, "costs", "unknown_name", "did you mean"),
    (
        {"answers": {}, "stopping": {"max_feature": 3}},
        "stopping.max_feature",
        "unknown_name",
        "did you mean 'max_features'",
    ),
    ({"answers": {}, "stopping": {"max_features": 0}}, "stopping.max_features", "out_of_range", "from 1"),
    ({"answers": {}, "stopping": {"confidence": 1.5}}, "stopping.confidence", "out_of_range", "a number from 0 to 1"),
    ({"answers": {}, "stopping": {"max_features": 2.5}}, "stopping.max_features", "out_of_range", "a whole number"),
    ({"answers": {}, "stopping": {"spread": 1}}, "stopping.spread", "not_supported", "needs a regression"),
    ({"answers": {}, "stopping": {"max_features": "x"}}, "stopping.max_features", "out_of_range", "a whole number"),
    ({"answers": {}, "answer": {}}, None, "unknown_field", "did you mean 'answers'"),
]


@pytest.mark.parametrize(("body", "where", "code", "words"), BAD)
def test_what_cannot_be_used_is_said_without_repeating_it(service, body, where, code, words):
    import re

    answer = service.next(body)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert set(error) == {"status", "code", "message", "where"}
    assert (error["status"], error["code"]) == (422, code)
    assert where is None or error["where"] == where
    assert re.search(words, error["message"])
    assert "31337" not in answer.text
    assert "31337" not in service.log.getvalue()


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "{", "", "\xff", "[" * 5000])
def test_what_is_no_json_is_refused(service, text):
    body = f'{{"answers": {{"age": {text}}}}}'.encode("latin-1")
    answer = service.client.post("/api/models/triage/next", content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_json")


def test_a_model_that_is_not_there(service):
    for name in ("nothing", "..%2Ftriage", "%2Fetc%2Fpasswd", "triage.askless"):
        answer = service.client.post(f"/api/models/{name}/next", json={"answers": {}})
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "not_found"


def test_predictions_of_partial_records(service, fitted):
    records = [{}, ANSWERS, {"sex": "female"}]
    told = service.client.post("/api/models/triage/predict", json={"records": records}).json()
    for record, prediction in zip(records, told["predictions"], strict=True):
        assert prediction == pytest.approx(fitted.interview(known=record).prediction, abs=1e-6)
    many = service.client.post("/api/models/triage/predict", json={"records": records * 40}).json()
    assert np.allclose(
        [list(p.values()) for p in many["predictions"][:3]], [list(p.values()) for p in told["predictions"]]
    )


@pytest.mark.parametrize(
    ("records", "code", "where"),
    [
        (None, "wrong_shape", "records"),
        ([], "wrong_shape", "records"),
        ([3], "wrong_type", "records[0]"),
        ([{"age": "old"}], "bad_answer", "records[0].age"),
        ([{}, {"agee": 3}], "unknown_name", "records[1]"),
    ],
)
def test_bad_records(service, records, code, where):
    answer = service.client.post("/api/models/triage/predict", json={"records": records})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["where"]) == (422, code, where)


def test_a_regression(service, regressor_file):
    talk = read_model(regressor_file).interview(known={"age": 40})
    told = service.next({"answers": {}, "known": {"age": 40}}, "score").json()
    assert told["prediction"] == pytest.approx(talk.prediction)
    assert set(told["prediction"]) == {"mean", "sd"}
    batch = service.client.post("/api/models/score/predict", json={"records": [{"age": 40, "grade": 1.0}]}).json()
    assert set(batch["predictions"][0]) == {"mean", "sd"}


def test_the_models_and_their_cards(service):
    cards = service.client.get("/api/models").json()["models"]
    assert [card["name"] for card in cards] == ["triage", "score"]
    card = service.client.get("/api/models/triage").json()
    assert card == cards[0]
    assert (card["task"], card["target"], card["max_features"]) == ("classification", "destination", 6)
    assert card["classes"] == ["discharge", "intensive care", "ward"]
    age = card["features"][0]
    assert (age["text"], age["cost"]) == ("How old is the patient?", 1.0)
    assert age["parts"][0] | {"help": None} == {
        "name": "age", "text": "How old is the patient?", "help": None, "kind": "number", "choices": None,
        "unit": "a", "loinc": "30525-0", "low": 0, "high": 120,
    }  # fmt: skip


def test_status_and_metrics(service):
    assert service.client.get("/healthz").json() == {"status": "ok"}
    assert service.client.get("/readyz").json() == {"status": "ready"}
    service.next({"answers": {}})
    text = service.client.get("/metrics").text
    assert 'askless_requests_total{method="POST",route="/api/models/{model}/next",status="200"}' in text
    assert "askless_models 2.0" in text


def test_errors_have_one_shape(service):
    for method, path, status, code in (
        ("GET", "/api/nothing", 404, "not_found"),
        ("PUT", "/api/models", 405, "method_not_allowed"),
        ("GET", "/api/models/x", 404, "not_found"),
    ):
        answer = service.client.request(method, path)
        error = answer.json()["error"]
        assert set(error) == {"status", "code", "message", "where"}
        assert (answer.status_code, error["status"], error["code"]) == (status, status, code)


def test_what_is_known_cannot_be_answered_as_well(service):
    told = service.next({"answers": {"age": 44}, "known": {"age": 45}})
    assert (told.status_code, told.json()["error"]["code"]) == (409, "conflicting_answers")
