"""Adaptive questionnaires: a whole interview, the shapes that clients send, and what is refused."""

import copy
import re
from itertools import pairwise

import pytest

from askless.model_file import read_model
from askless.service.fhir.codes import UCUM, is_loinc, is_ucum
from askless.service.fhir.resources import _identifier
from tests.service.fhir_checks import ADAPTIVE, check, walk

NEXT = "/fhir/Questionnaire/$next-question"


@pytest.fixture(scope="module")
def form(service):
    return service.client.get("/fhir/Questionnaire/triage").json()


@pytest.fixture(scope="module")
def canonical(form):
    return form["url"]


@pytest.fixture(scope="module")
def versioned(form):
    """The canonical URL with the version."""
    return f"{form['url']}|{form['version']}"


def begun(canonical):
    """What a client sends first, after the standard: no items yet."""
    form = {
        "resourceType": "Questionnaire", "id": "q1", "status": "active", "title": "Triage",
        "extension": [{"url": ADAPTIVE, "valueBoolean": True}], "derivedFrom": [canonical],
    }  # fmt: skip
    return {
        "resourceType": "QuestionnaireResponse",
        "contained": [form],
        "questionnaire": "#q1",
        "status": "in-progress",
    }


def ask(service, resource, status=200):
    answer = service.client.post(NEXT, json=resource, headers={"Content-Type": "application/fhir+json"})
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/fhir+json"
    check(answer.json())
    return answer.json()


def value_for(item):
    if item["type"] == "boolean":
        return {"valueBoolean": True}
    if item["type"] == "choice":
        return {"valueCoding": item["answerOption"][0]["valueCoding"]}
    limits = [each["valueDecimal"] for each in item["extension"] if "valueDecimal" in each]
    return {"valueDecimal": round(limits[0] + 0.4 * (limits[1] - limits[0]), 1)}


def filled(item):
    """The last item of the questionnaire, as a form fills it in."""
    if item["type"] == "group":
        nested = [{"linkId": each["linkId"], "answer": [value_for(each)]} for each in item["item"]]
        return {"linkId": item["linkId"], "item": nested}
    return {"linkId": item["linkId"], "answer": [value_for(item)]}


def code_of(outcome):
    """The askless code of an OperationOutcome."""
    return outcome["issue"][0]["details"]["coding"][0]["code"]


def finished(service, canonical, wrap=lambda response: response):
    response = ask(service, wrap(begun(canonical)))
    steps = [response]
    while response["status"] == "in-progress":
        assert len(steps) < 20
        response = copy.deepcopy(response)
        response.setdefault("item", []).append(filled(response["contained"][0]["item"][-1]))
        response = ask(service, wrap(response))
        steps.append(response)
    return steps


@pytest.mark.filterwarnings("ignore::askless.exceptions.UnseenWarning")
def test_a_whole_interview(service, canonical, model_file):
    steps = finished(service, canonical)
    interview = read_model(model_file).interview(check_values=False)
    for before, after in pairwise(steps):
        was, now = (step["contained"][0]["item"] for step in (before, after))
        assert now[: len(was)] == was  # the next item is appended
        assert was[-1]["linkId"] == interview.question.name
        answered = after["item"][len(was) - 1]
        values = {
            part.name: next(iter(item["answer"][0].values()))
            for part, item in zip(interview.question.parts, answered.get("item", [answered]), strict=True)
        }
        values = {name: value["code"] if isinstance(value, dict) else value for name, value in values.items()}
        interview.answer(values if len(values) > 1 else next(iter(values.values())))
    assert interview.done
    last = steps[-1]
    assert last["status"] == "completed"
    result = {item["linkId"]: item for item in walk(last["item"]) if item["linkId"].startswith("result.")}
    best = max(interview.prediction, key=lambda label: interview.prediction[label])
    assert result["result.prediction"]["answer"] == [{"valueString": best}]
    for place, probability in enumerate(interview.prediction.values()):
        assert result[f"result.probability.{place + 1}"]["answer"][0]["valueDecimal"] == pytest.approx(
            probability, abs=1e-6
        )
    assert result["result.cost"]["answer"] == [{"valueDecimal": interview.cost}]
    asked = {item["linkId"]: item for item in walk(last["contained"][0]["item"])}
    assert all(asked[link]["readOnly"] is True for link in ("result", *result))


def test_parameters_and_the_bare_response_give_the_same(service, canonical):
    def wrap(response):
        parameter = {"name": "questionnaire-response", "resource": response}
        return {"resourceType": "Parameters", "parameter": [parameter]}

    assert finished(service, canonical, wrap) == finished(service, canonical)


def test_a_completed_response_stays_completed(service, canonical):
    last = finished(service, canonical)[-1]
    assert ask(service, last) == last


def test_an_item_without_an_answer_is_unknown(service, canonical):
    first = ask(service, begun(canonical))
    second = ask(service, first)
    links = [item["linkId"] for item in second["contained"][0]["item"]]
    assert links[0] == first["contained"][0]["item"][0]["linkId"]
    assert len(set(links)) == 2
    assert "answer" not in second["item"][0]


@pytest.mark.parametrize(
    "shape",
    ["url", "url and version", "derivedFrom with version", "reference only", "derivedFrom as text", "wrong host"],
)
def test_other_ways_to_name_the_questionnaire(service, canonical, versioned, shape):
    resource = begun(canonical)
    form = resource["contained"][0]
    if shape == "url":
        del form["derivedFrom"]
        form["url"] = canonical
    elif shape == "url and version":
        del form["derivedFrom"]
        form["url"], form["version"] = versioned.split("|")
    elif shape == "derivedFrom with version":
        form["derivedFrom"] = [versioned]
    elif shape == "reference only":
        del resource["contained"]
        resource["questionnaire"] = canonical
    elif shape == "derivedFrom as text":
        form["derivedFrom"] = canonical
    else:
        form["derivedFrom"] = ["https://elsewhere.example/fhir/Questionnaire/triage"]
    assert ask(service, resource) == ask(service, begun(canonical))


def test_lenient_answers(service, versioned):
    resource = begun(versioned)
    resource["item"] = [
        {"linkId": "age", "answer": [{"valueInteger": 51}]},
        {"linkId": "temperature", "answer": [{"valueQuantity": {"value": 37.5, "code": "Cel"}}]},
        {"linkId": "sex", "answer": [{"valueString": "FEMALE"}]},  # in any capitals
        {"linkId": "arrival", "answer": [{"valueCoding": {"display": "ambulance"}}]},
        {"linkId": "heart rate", "answer": [{"valueQuantity": {"value": 80, "unit": "/min"}}]},
        {
            "linkId": "oxygen saturation",
            "answer": [{"valueQuantity": {"value": 97, "code": None, "system": None, "unit": "%"}}],
        },
        {"linkId": "complaint", "answer": [{"valueCoding": {"code": None, "display": "chest pain"}}]},
    ]
    returned = {item["linkId"]: item for item in ask(service, resource)["item"]}
    assert returned["age"]["answer"] == [{"valueDecimal": 51}]
    assert returned["temperature"]["answer"] == [{"valueDecimal": 37.5}]
    assert returned["sex"]["answer"][0]["valueCoding"]["code"] == "female"
    assert returned["arrival"]["answer"][0]["valueCoding"]["code"] == "ambulance"
    assert returned["oxygen saturation"]["answer"] == [{"valueDecimal": 97}]
    assert returned["complaint"]["answer"][0]["valueCoding"]["display"] == "chest pain"


@pytest.mark.parametrize("link", ["blood pressure", "age/age", "blood pressure/age", "systolic", "1", "Age"])
def test_answers_with_other_link_ids(link, service, versioned):
    """A group is answered part by part, and a single column has no parts."""
    resource = begun(versioned) | {"item": [{"linkId": link, "answer": [{"valueDecimal": 51}]}]}
    assert code_of(ask(service, resource, 422)) == "unknown_name"


def test_what_a_form_filled_in_for_itself_goes_back(service, canonical):
    own = {
        "id": "r-1",
        "identifier": {"system": "urn:ids", "value": "7"},
        "subject": {"reference": "Patient/7", "display": "somebody"},
        "authored": "2026-02-28T10:00:00+01:00",
        "basedOn": [{"reference": "ServiceRequest/1"}],
    }
    answer = ask(service, {**begun(canonical), **own})
    assert {name: answer[name] for name in own} == own
    wrong = {"id": "not an id!", "identifier": 3, "subject": "Patient/7", "authored": "2026-02-30", "basedOn": [{}]}
    answer = ask(service, {**begun(canonical), **wrong})
    assert not set(answer) & set(wrong)


def test_codes_and_units_are_in_the_items(service, versioned):
    resource = begun(versioned)
    resource["contained"][0]["item"] = [{"linkId": "blood pressure"}]
    item = ask(service, resource)["contained"][0]["item"][0]
    assert item["code"] == [{"system": "http://loinc.org", "code": "85354-9"}]
    systolic = item["item"][0]
    assert systolic["code"][0]["code"] == "8480-6"
    unit = next(each for each in systolic["extension"] if each["url"].endswith("questionnaire-unit"))
    assert unit["valueCoding"]["code"] == "mm[Hg]"


BAD = [
    ([], "wrong_type", None),
    ({"resourceType": "Patient"}, "wrong_type", ["resourceType"]),
    ({"resourceType": "Parameters", "parameter": [{"name": "x"}]}, "required", ["Parameters.parameter"]),
    ({"resourceType": "QuestionnaireResponse"}, "required", ["QuestionnaireResponse.questionnaire"]),
    ({"resourceType": "QuestionnaireResponse", "status": "done"}, "invalid_choice", ["QuestionnaireResponse.status"]),
    ({"resourceType": "QuestionnaireResponse", "contained": 3}, "wrong_type", ["contained"]),
]


@pytest.mark.parametrize(("resource", "code", "expression"), BAD)
def test_bodies_that_are_no_response(service, resource, code, expression):
    outcome = ask(service, resource, 422)
    assert code_of(outcome) == code
    assert outcome["issue"][0].get("expression") == expression


def test_an_unknown_element_is_named(service, canonical):
    outcome = ask(service, begun(canonical) | {"statuss": "x"}, 422)
    assert code_of(outcome) == "unknown_field"
    assert outcome["issue"][0]["diagnostics"] == "unknown element 'statuss' (did you mean 'status'?)"


@pytest.mark.parametrize(
    "answer",
    [{"valueDecimal": 31337}, {"valueString": "31337"}, {"valueBoolean": True}, {"valueCoding": {"code": "31337"}},
     {"valueQuantity": {"value": 31, "code": "mo"}}, {"valueQuantity": {"value": 31, "unit": "months"}},
     {"valueQuantity": {"value": 31, "code": None, "unit": "months"}},
     {"valueQuantity": {"value": 31, "code": "a", "system": "urn:others"}}, {"valueQuantity": "31337"},
     {"valueQuantity": {"value": 31, "comparator": "<"}}, {"valueDecimal": None}],
)  # fmt: skip
def test_answers_that_do_not_fit(service, versioned, answer):
    resource = begun(versioned)
    resource["item"] = [{"linkId": "age", "answer": [answer]}]
    outcome = ask(service, resource, 422)
    assert "31337" not in str(outcome)
    (place,) = outcome["issue"][0]["expression"]
    assert re.fullmatch(r"[A-Za-z]+(\.[A-Za-z]+)*", place), place  # a simple FHIRPath


def plain_quantity(service, quantity):
    """A response with a quantity for the part 'high' of a group, which nobody has described."""
    form = service.client.get("/fhir/Questionnaire/score").json()
    resource = begun(f"{form['url']}|{form['version']}")
    answer = {"valueQuantity": {"value": 120, **quantity}}
    return resource | {"item": [{"linkId": "pressure", "item": [{"linkId": "pressure/high", "answer": [answer]}]}]}


@pytest.mark.parametrize(
    ("quantity", "words"),
    [
        ({"code": "mo"}, "'high' must be a number without a unit, not in mo"),
        ({"unit": "a"}, "'high' must be a number without a unit, not in a"),
        ({"unit": "31337 months"}, "'high' must be a number without a unit"),
        ({"code": "31337"}, "'high' must be a number without a unit"),
        ({"code": "1", "system": "urn:others"}, "'high' must be a number without a unit"),
        ({"unit": ["1"]}, "'high' must be a number without a unit"),
    ],
)
def test_a_unit_where_the_model_describes_none(service, quantity, words):
    """120 months are not 120 of whatever training had."""
    resource = plain_quantity(service, quantity)
    assert ask(service, resource, 422)["issue"][0]["diagnostics"] == words


@pytest.mark.parametrize("quantity", [{}, {"code": "1"}, {"unit": "1"}, {"code": "1", "system": UCUM}])
def test_no_unit_where_the_model_describes_none(service, quantity):
    resource = plain_quantity(service, quantity)
    assert ask(service, resource)["item"][0]["item"][0]["answer"] == [{"valueDecimal": 120}]


def test_two_items_for_one_question(service, versioned):
    items = [{"linkId": "age", "answer": [{"valueDecimal": age}]} for age in (50, 90)]
    assert code_of(ask(service, begun(versioned) | {"item": items}, 422)) == "duplicate_name"


def test_an_answer_to_no_question_of_ours(service, canonical):
    """If it were ignored, the question that it was meant for would count as unknown."""
    resource = ask(service, begun(canonical))
    resource["item"] = [{"linkId": "zzz", "answer": [{"valueString": "31337"}]}]
    outcome = ask(service, resource, 422)
    assert code_of(outcome) == "unknown_name"
    assert "31337" not in str(outcome)
    resource["item"] = [{"linkId": "zzz", "text": "A heading"}]
    assert ask(service, resource)["status"] == "in-progress"


def test_another_server_s_questionnaire(service, canonical):
    resource = begun(canonical.replace("/triage", "/other"))
    outcome = ask(service, resource, 404)
    assert outcome["issue"][0]["code"] == "not-found"
    assert code_of(outcome) == "not_found"


def test_other_bodies(service):
    client = service.client
    assert client.post(NEXT, content=b"<x/>", headers={"Content-Type": "application/fhir+xml"}).status_code == 415
    answer = client.post(NEXT, content=b"{NaN}")
    assert answer.status_code == 422
    check(answer.json())
    for path in ("/fhir/Patient/1", "/fhir/Questionnaire/none", "/fhir/nothing"):
        answer = client.get(path)
        assert answer.status_code == 404
        check(answer.json())


def test_metadata_read_and_search(service, canonical, versioned):
    client = service.client
    statement = client.get("/fhir/metadata").json()
    check(statement)
    (resource,) = statement["rest"][0]["resource"]
    assert resource["operation"][0]["name"] == "next-question"
    form = client.get("/fhir/Questionnaire/triage").json()
    check(form)
    assert "item" not in form
    assert form["extension"][0]["url"] == ADAPTIVE
    assert form["url"] == canonical
    for query, names in (
        ("", ["triage", "score"]), ("?_id=score", ["score"]), (f"?url={canonical}", ["triage"]),
        (f"?url={versioned}", ["triage"]), (f"?url={canonical}|0", []),
        ("?title=tri", ["triage"]), ("?status=retired", []), ("?whatever=1", ["triage", "score"]),
    ):  # fmt: skip
        bundle = client.get(f"/fhir/Questionnaire{query}").json()
        check(bundle)
        assert [entry["resource"]["id"] for entry in bundle.get("entry", [])] == names
        assert bundle["total"] == len(names)
    (link,) = client.get("/fhir/Questionnaire", params={"title": "tri age&x\n"}).json()["link"]
    assert link["url"].endswith("/fhir/Questionnaire?title=tri+age%26x%0A")


@pytest.mark.parametrize(
    ("title", "name"),
    [("Triage", "Triage"), ("chest pain 2", "ChestPain2"), ("2023", "Interview2023"), ("-", "Interview")],
)
def test_names_for_programs(title, name):
    assert _identifier(title) == name


def test_a_regression_ends_with_a_mean(service):
    url = service.client.get("/fhir/Questionnaire/score").json()["url"]
    last = finished(service, url)[-1]
    links = [item["linkId"] for item in walk(last["item"])]
    assert {"result.mean", "result.sd", "result.reason"} <= set(links)


def test_codes_have_check_digits():
    good = ["8867-4", "8480-6", "8462-4", "85354-9", "30525-0", "718-7", "6690-2", "44261-6", "2524-7"]
    assert all(is_loinc(code) for code in good)
    assert not any(is_loinc(code[:-1] + str((int(code[-1]) + 1) % 10)) for code in good)
    assert not any(is_loinc(code) for code in ("", "8867", "8867-", "x-4", "8867-44"))


def test_units():
    assert all(is_ucum(unit) for unit in ("kg", "m2", "kg/m2", "10*3/uL", "mL/min/{1.73_m2}", "[degF]", "mo", "1"))
    assert not any(is_ucum(unit) for unit in ("mmHg", "bpm", "years", "kg/", "/", "m m", "°C"))


def answered(service, versioned, link, answer, status=200):
    resource = begun(versioned) | {"item": [{"linkId": link, "answer": [answer] if answer else []}]}
    resource["contained"][0]["item"] = [{"linkId": link}]
    return ask(service, resource, status)


@pytest.mark.parametrize("kind", ["valueString", "code", "display"])
@pytest.mark.parametrize(
    ("word", "value"),
    [("yes", True), ("No", False), ("0", False), ("1", True), ("f", False), ("true", True), ("Y", True)],
)
def test_words_for_yes_and_no(service, versioned, kind, word, value):
    answer = {kind: word} if kind == "valueString" else {"valueCoding": {kind: word}}
    (item,) = (
        item
        for item in answered(service, versioned, "heart disease", answer)["item"]
        if item["linkId"] == "heart disease"
    )
    assert item["answer"] == [{"valueBoolean": value}]


@pytest.mark.parametrize("link", ["heart disease", "age", "complaint"])
@pytest.mark.parametrize("word", ["unknown", "Don't know", "-", "NA"])
@pytest.mark.parametrize("kind", ["valueString", "valueCoding"])
def test_words_for_unknown(service, versioned, link, word, kind):
    answer = {kind: word} if kind == "valueString" else {kind: {"code": word}}
    returned = answered(service, versioned, link, answer)
    assert returned == answered(service, versioned, link, None)
    assert returned["contained"][0]["item"][0]["linkId"] == link
    assert len(returned["contained"][0]["item"]) == 2  # it counts as asked


@pytest.mark.parametrize("kind", ["valueString", "valueCoding"])
@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("heart disease", "valueBoolean, or with yes or no as valueCoding or valueString"),
        ("age", "valueDecimal, valueInteger or valueQuantity"),
    ],
)
def test_other_words_are_refused_in_words_of_fhir(service, versioned, kind, link, words):
    answer = {kind: "31337"} if kind == "valueString" else {kind: {"code": "31337"}}
    outcome = answered(service, versioned, link, answer, 422)
    assert code_of(outcome) == "bad_answer"
    (issue,) = outcome["issue"]
    assert issue["diagnostics"] == f"{link!r} must be answered with {words}"
    assert issue["expression"] == [kind]
