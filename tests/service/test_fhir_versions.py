"""Versions of models, linkIds, and reasons for stopping: what must never be mixed up or shortened."""

import copy
import re
from itertools import combinations
from urllib.parse import unquote

import pytest

from askless import DynamicClassifier
from askless.acquisition.stopping import Certified
from askless.datasets import load_dataset
from askless.methods import Greedy
from askless.model_file import read_model
from askless.service.fhir.items import feature_link, part_link
from askless.service.models import read_models
from tests.service.conftest import running
from tests.service.fhir_checks import walk
from tests.service.test_fhir import ask, begun, code_of, filled, finished


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """Two services of a model "wine" of the wine table. The second model has the columns in reverse order."""
    data = load_dataset("wine")
    quick = Greedy(epochs=2, pretrain_epochs=3, hidden=(16,))
    folder = tmp_path_factory.mktemp("versions")
    models = []
    for name, frame in (("old", data.frame), ("new", data.frame[data.frame.columns[::-1]])):
        (folder / name).mkdir()
        path = folder / name / "wine.askless"
        DynamicClassifier(6, quick).fit(frame, data.target).save(path)
        models.append(read_models([str(path)]))
    with (
        running(models[0], base_url="http://ask.example") as old,
        running(models[1], base_url="http://ask.example") as new,
    ):
        yield old, new


URL = "http://ask.example/fhir/Questionnaire/wine"


def answered(service):
    """A response with one answer, and the questionnaire's next item."""
    response = ask(service, begun(URL))
    response["item"] = [filled(response["contained"][0]["item"][-1])]
    return response


def test_the_models_have_the_same_features_in_other_orders(servers):
    orders = [
        [each["name"] for each in service.client.get("/api/models/wine").json()["features"]] for service in servers
    ]
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


def test_another_version_of_the_model_is_refused(servers):
    old, new = servers
    for response in finished(old, URL):
        outcome = ask(new, response, 409)
        assert outcome["issue"][0]["code"] == "conflict"
        assert code_of(outcome) == "model_changed"
        assert outcome["issue"][0]["diagnostics"] == (
            "this questionnaire was begun with another version of the model; begin again"
        )
        assert ask(old, response)["status"] in ("in-progress", "completed")
    assert finished(new, URL)[-1]["status"] == "completed"


def test_another_version_is_refused_before_the_first_question(servers):
    old, new = servers
    form = old.client.get("/fhir/Questionnaire/wine").json()
    assert code_of(ask(new, begun(f"{form['url']}|{form['version']}"), 409)) == "model_changed"


def test_the_same_model_continues(servers):
    old, _ = servers
    response = answered(old)
    following = ask(old, response)
    (first,) = response["item"]
    assert following["item"] == [{**first, "text": first["linkId"]}]


def without_version(form):
    form["derivedFrom"] = [URL]


def copied_without_version(form):
    del form["derivedFrom"]
    form["url"] = URL


def with_an_empty_version(form):
    form["derivedFrom"] = [f"{URL}|"]


def with_two_versions(form):
    form["derivedFrom"].append(f"{URL}|0000000000000000")


def copied_with_another_version(form):
    form |= {"url": URL, "version": "0000000000000000"}


@pytest.mark.parametrize("changed", [without_version, copied_without_version, with_an_empty_version])
def test_answers_need_a_version(servers, changed):
    response = answered(servers[0])
    changed(response["contained"][0])
    outcome = ask(servers[0], response, 422)
    assert code_of(outcome) == "required"
    assert outcome["issue"][0]["expression"] == ["QuestionnaireResponse.contained.derivedFrom"]
    del response["item"]  # unknown: an item of the questionnaire without an answer
    assert code_of(ask(servers[0], response, 422)) == "required"
    del response["contained"][0]["item"]
    assert ask(servers[0], response) == ask(servers[0], begun(URL))


@pytest.mark.parametrize("changed", [with_two_versions, copied_with_another_version])
def test_two_versions_are_refused(servers, changed):
    response = answered(servers[0])
    changed(response["contained"][0])
    assert code_of(ask(servers[0], response, 409)) == "model_changed"


@pytest.mark.parametrize("kept", [("url", "version"), ("url",)])
def test_a_copied_questionnaire_begins_an_interview(servers, kept):
    form = servers[0].client.get("/fhir/Questionnaire/wine").json()
    form = {name: value for name, value in form.items() if name in kept or name not in ("url", "version")}
    response = {"resourceType": "QuestionnaireResponse", "status": "in-progress", "contained": [form],
                "questionnaire": f"#{form['id']}"}  # fmt: skip
    assert ask(servers[0], response) == ask(servers[0], begun(URL))


def test_the_response_can_name_the_version_itself(servers):
    form = servers[0].client.get("/fhir/Questionnaire/wine").json()
    response = answered(servers[0])
    bare = {name: value for name, value in response.items() if name != "contained"}
    bare["questionnaire"] = f"{form['url']}|{form['version']}"
    assert ask(servers[0], bare) == ask(servers[0], response)
    assert code_of(ask(servers[1], bare, 409)) == "model_changed"
    bare["questionnaire"] = form["url"]
    assert code_of(ask(servers[0], bare, 422)) == "required"


def test_answers_count_in_the_order_of_the_questionnaire(servers):
    """The order of the response's items does not matter."""
    last = finished(servers[0], URL)[-1]
    shuffled = copy.deepcopy(last)
    shuffled["item"].reverse()
    assert ask(servers[0], shuffled) == last


NAMES = [
    "age", "Age", "a", "b", "a/b", "a%2Fb", "a b", " a", "a ", "  a", "a\nb", "a\tb", "a\u00a0b", "\u0000", "'", '"',
    "Größe (cm)", "年齢", "Sepal.Length", "result", "Result", "result.cost", "results", "%72esult", "1", "1.1", " ",
    "%", "%20",
]  # fmt: skip


def test_link_ids_are_unique_and_valid():
    links = [feature_link(name) for name in NAMES]
    links += [part_link(group, name) for group in NAMES for name in NAMES]
    assert all(first != second for first, second in combinations(links, 2))
    for link in links:
        assert re.fullmatch(r"\S([ \S]*\S)?", link), link
        assert link.isprintable()
        assert link.partition(".")[0] != "result"


def test_link_ids_are_readable():
    for name in ("age", "Größe (cm)", "Sepal.Length", "a b", "年齢"):
        assert feature_link(name) == name
    assert part_link("blood pressure", "systolic") == "blood pressure/systolic"


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """A service of a model with a certified rule, and the model."""
    data = load_dataset("wine")
    path = tmp_path_factory.mktemp("certified") / "wine.askless"
    rule = Certified(0.3, 0.6)
    DynamicClassifier(6, Greedy(epochs=30, pretrain_epochs=150, hidden=(16,)), stopping=rule).fit(
        data.frame, data.target
    ).save(path)
    with running(read_models([str(path)]), base_url="http://ask.example") as service:
        yield service, read_model(path)


def test_the_full_reason_for_stopping_is_shown(certified):
    service, model = certified
    last = finished(service, URL)[-1]
    answers = {unquote(item["linkId"]): item["answer"][0]["valueDecimal"] for item in last["item"][:-1]}
    interview = model.interview()
    for name, value in answers.items():
        assert interview.question.name == name
        interview.answer(value)
    assert interview.done
    assert "certified" in interview.stop_reason
    assert reason(last) == interview.stop_reason


def test_the_reason_for_stopping_after_questions_in_another_order(certified):
    """The questions count in the order of the questionnaire, so the model sees that they were not its own."""
    service, model = certified
    response = ask(service, begun(URL))
    names = [name for name in model.schema.names if name != response["contained"][0]["item"][0]["linkId"]][:6]
    answers = {name: float(model.schema.features[model.schema.index(name)].parts[0].low) for name in names}
    response["contained"][0]["item"] = [{"linkId": feature_link(name)} for name in names]
    response["item"] = [
        {"linkId": feature_link(name), "answer": [{"valueDecimal": answers[name]}]} for name in reversed(names)
    ]
    last = ask(service, response)
    interview = model.interview()
    interview.record(answers)
    assert last["status"] == "completed"
    assert reason(last) == interview.stop_reason


def reason(response):
    (item,) = [item for item in walk(response["item"]) if item["linkId"] == "result.reason"]
    return item["answer"][0]["valueString"]
