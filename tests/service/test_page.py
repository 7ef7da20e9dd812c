"""The page without a browser: plain forms, redirects, what it shows, and that nothing is fetched from elsewhere."""

import html
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from askless import DynamicClassifier
from askless.acquisition.stopping import Certified
from askless.methods import FixedOrder
from askless.model_file import read_model
from askless.service.models import Models, ServedModel, read_models
from askless.service.pages import FILES
from tests.cli.cli_helpers import messy_frame
from tests.service.conftest import running


def begun(service, model="triage"):
    answer = service.client.post(f"/models/{model}/interviews")
    assert answer.status_code == 303
    return answer.headers["location"]


def act(service, path, action, **form):
    return service.client.post(f"{path}/{action}", data=form)


def asked(service, path):
    """The name of the question."""
    return service.client.get(f"/api{path}").json()["question"]["name"]


def walk_to(service, path, name):
    while asked(service, path) != name:
        assert act(service, path, "later").status_code == 303


@pytest.mark.parametrize("place", ["", "x", "-1", "18", "²", "9" * 5000])
def test_a_place_that_is_none(service, place):
    path = begun(service)
    assert act(service, path, "tell", feature=place).status_code == 422
    walk_to(service, path, "complaint")
    assert act(service, path, "answer", **{"part-0": place or "x"}).status_code == 422
    assert service.client.get(f"/api{path}").json()["asked"] == 0


def test_what_was_postponed_and_never_asked_is_told_in_the_end(service):
    path = begun(service)
    postponed = asked(service, path)
    assert act(service, path, "later").status_code == 303
    assert "Postponed" not in service.client.get(path).text
    while not service.client.get(f"/api{path}").json()["done"]:
        assert act(service, path, "unknown").status_code == 303
    text = next(
        feature["text"]
        for feature in service.client.get("/api/models/triage").json()["features"]
        if feature["name"] == postponed
    )
    for page in (path, f"{path}/summary"):
        assert f"Postponed and never answered: {text}." in html.unescape(service.client.get(page).text)


def test_start_lists_the_models(service):
    page = service.client.get("/").text
    assert 'href="/models/triage"' in page
    assert 'href="/models/score"' in page
    assert "At most 6 of 18 questions" in service.client.get("/models/triage").text
    assert service.client.get("/models/none").status_code == 404


def test_an_interview_by_forms(service):
    path = begun(service)
    walk_to(service, path, "age")
    page = service.client.get(path).text
    assert "How old is the patient?" in page
    assert "years" in page
    answer = act(service, path, "answer", **{"part-0": "51"})
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    told = service.client.get(f"/api{path}").json()["history"][-1]
    assert (told["feature"], told["value"]) == ("age", 51)
    assert "51 years" in service.client.get(path).text


def test_a_decimal_comma(service):
    path = begun(service)
    walk_to(service, path, "temperature")
    act(service, path, "answer", **{"part-0": " 37,5 "})
    assert service.client.get(f"/api{path}").json()["history"][-1]["value"] == 37.5


def test_a_bad_number_is_explained_and_kept_in_the_form(service):
    path = begun(service)
    walk_to(service, path, "age")
    before = service.client.get(f"/api{path}").json()
    for text in ("old", "500", "inf", "1e400", "<b>"):
        answer = act(service, path, "answer", **{"part-0": text})
        assert answer.status_code == 422
        assert 'aria-invalid="true"' in answer.text
        assert "Enter a number from 0 to 120." in answer.text
        assert "<b>" not in answer.text
    assert "Enter an answer." in act(service, path, "answer").text
    assert service.client.get(f"/api{path}").json() == before


def test_a_group_and_choices(service):
    path = begun(service)
    walk_to(service, path, "blood pressure")
    answer = act(service, path, "answer", **{"part-0": "150", "part-1": "high"})
    assert answer.status_code == 422
    assert 'value="150"' in answer.text
    act(service, path, "answer", **{"part-0": "150"})
    assert service.client.get(f"/api{path}").json()["history"][-1]["value"] == {"systolic": 150}
    walk_to(service, path, "sex")
    assert act(service, path, "answer", **{"part-0": "7"}).status_code == 422
    act(service, path, "answer", **{"part-0": "1"})
    assert service.client.get(f"/api{path}").json()["history"][-1]["value"] == "male"


def entries(page):
    """What a form sends if nobody changes it."""
    inputs = re.findall(r'<input [^>]*name="(part-\d+)"[^>]*>', page)
    assert inputs
    sent = dict(re.findall(r'<input id="part-\d+" name="(part-\d+)"[^>]* value="([^"]*)"', page))
    chosen = re.findall(r'<input type="radio" name="(part-\d+)" value="(\w+)" checked>', page)
    return {name: html.unescape(value) for name, value in {**sent, **dict(chosen)}.items()}


VALUES = {
    "blood pressure": {"systolic": 150, "diastolic": 95.0625},
    "temperature": 37.123456789012,
    "age": 51.0,
    "complaint": "injury",
    "sex": "female",
    "heart disease": True,
    "face, arm or speech sign": False,
}


@pytest.mark.parametrize("name", VALUES)
def test_a_correction_begins_with_what_was_said(service, models, name):
    path, index = begun(service), str(models.find("triage").schema.index(name))
    empty = entries(service.client.get(f"{path}/tell?feature={index}").text)
    assert not any(empty.values())
    told = {"feature": name, "value": VALUES[name]}
    assert service.client.post(f"/api{path}/tell", json=told).status_code == 200
    sent = entries(service.client.get(f"{path}/tell?feature={index}").text)
    assert act(service, path, "tell", feature=index, **sent).status_code == 303
    assert service.client.get(f"/api{path}").json()["history"][-1]["value"] == VALUES[name]


def test_a_correction_of_one_part_keeps_the_others(service, models):
    path, index = begun(service), str(models.find("triage").schema.index("blood pressure"))
    walk_to(service, path, "blood pressure")
    act(service, path, "answer", **{"part-0": "150", "part-1": "95"})
    sent = entries(service.client.get(f"{path}/tell?feature={index}").text)
    assert sent == {"part-0": "150", "part-1": "95"}
    act(service, path, "tell", feature=index, **sent | {"part-0": "151"})
    assert service.client.get(f"/api{path}").json()["history"][-1]["value"] == {"systolic": 151, "diastolic": 95}
    sent = entries(service.client.get(f"{path}/tell?feature={index}").text)
    assert sent["part-0"] == "151"  # the last that was said
    wrong = act(service, path, "tell", feature=index, **{"part-0": "<b>", "part-1": ""})
    assert entries(wrong.text) == {"part-0": "<b>", "part-1": ""}  # as it was sent
    assert "<b>" not in wrong.text


def test_what_was_not_known_is_corrected_in_an_empty_form(service, models):
    path = begun(service)
    index = models.find("triage").schema.index(asked(service, path))
    act(service, path, "later")
    act(service, path, "undo")
    act(service, path, "unknown")
    assert not any(entries(service.client.get(f"{path}/tell?feature={index}").text).values())


def test_sent_twice_counts_once(service):
    path = begun(service)
    walk_to(service, path, "age")
    events = service.client.get(f"/api{path}").json()["events"]
    for _ in range(2):
        assert act(service, path, "answer", events=events, **{"part-0": "51"}).status_code == 303
    assert service.client.get(f"/api{path}").json()["events"] == events + 1


def events_of(page):
    """The number of events that the form of a page sends along."""
    return re.search(r'<input type="hidden" name="events" value="(\d+)">', page).group(1)


def test_a_correction_from_an_old_page_brings_nothing_back(service, models):
    path, index = begun(service), str(models.find("triage").schema.index("blood pressure"))
    act(service, path, "tell", feature=index, **{"part-0": "150", "part-1": "95"})
    old = service.client.get(f"{path}/tell?feature={index}").text
    act(service, path, "tell", feature=index, **{"part-0": "120", "part-1": "80"})
    sent = {"events": events_of(old), "feature": index, **entries(old), "part-1": "96"}
    again = act(service, path, "tell", **sent)
    assert again.status_code == 409
    assert "Not saved: the interview changed after this page was opened." in again.text
    assert entries(again.text) == {"part-0": "120", "part-1": "80"}
    assert service.client.get(f"/api{path}").json()["history"][-1]["value"] == {"systolic": 120, "diastolic": 80}
    sent = {"events": events_of(again.text), "feature": index, **entries(again.text), "part-1": "81"}
    assert act(service, path, "tell", **sent).status_code == 303
    assert service.client.get(f"/api{path}").json()["history"][-1]["value"] == {"systolic": 120, "diastolic": 81}
    assert act(service, path, "tell", **sent).status_code == 303  # a double click: it is told already
    assert service.client.get(f"/api{path}").json()["events"] == 3
    assert "Not saved" not in service.client.get(f"{path}/tell?feature={index}").text


def test_of_corrections_at_the_same_time_one_counts(service, models):
    path, index = begun(service), str(models.find("triage").schema.index("age"))
    with ThreadPoolExecutor(8) as pool:
        tell = lambda age: act(service, path, "tell", events="0", feature=index, **{"part-0": str(age)})  # noqa: E731
        done = sorted(answer.status_code for answer in pool.map(tell, range(30, 38)))
    assert done == [303] + [409] * 7
    assert service.client.get(f"/api{path}").json()["events"] == 1


def test_a_chosen_part_of_a_group_can_be_taken_back(group_service):
    path = begun(group_service, "habits")
    walk_to(group_service, path, "habits")
    assert group_service.client.get(path).text.count("<span>Not known</span>") == 2  # colour, smokes
    act(group_service, path, "answer", **{"part-0": "51", "part-1": "1", "part-2": ""})
    form = group_service.client.get(f"{path}/tell?feature=0").text
    chosen = re.findall(r'<input type="radio" name="(part-\d+)" value="(\w*)" checked>', form)
    assert chosen == [("part-1", "1"), ("part-2", "")]
    act(group_service, path, "tell", feature="0", **{"part-0": "51", "part-1": "", "part-2": "yes"})
    told = group_service.client.get(f"/api{path}").json()["history"][-1]["value"]
    assert told == {"age": 51, "smokes": True}


def test_a_choice_that_is_the_whole_answer_has_no_tile_for_not_known(service, models):
    index = models.find("triage").schema.index("sex")
    assert "Not known" not in service.client.get(f"{begun(service)}/tell?feature={index}").text


def test_unknown_undo_tell_summary_delete(service):
    path = begun(service)
    act(service, path, "unknown")
    act(service, path, "undo")
    assert service.client.get(f"/api{path}").json()["asked"] == 0
    assert "Heart rate" in service.client.get(f"{path}/tell").text
    assert act(service, path, "tell", feature="0", **{"part-0": "old"}).status_code == 422
    assert act(service, path, "tell", feature="0", **{"part-0": "119"}).status_code == 303
    page = service.client.get(path).text
    assert '<span class="chip">added</span>' in page
    assert "Outside the values that the model was trained on (18 to 95)." in page
    assert service.client.get(f"{path}/tell?feature=99").status_code == 422
    while not service.client.get(f"/api{path}").json()["done"]:
        act(service, path, "unknown")
    assert "The interview is complete: asked 6 features" in service.client.get(path).text
    summary = service.client.get(f"{path}/summary").text
    assert "How old is the patient?" in summary
    assert "not known" in summary
    assert act(service, path, "answer", **{"part-0": "1"}).headers["location"] == f"{path}?notice=interview_done"
    assert act(service, path, "delete").status_code == 200
    assert service.client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("asked", "words"), [(0, "0 questions were"), (1, "1 question was"), (2, "2 questions were")]
)
def test_a_summary_counts_questions(service, asked, words):
    path = begun(service)
    for _ in range(asked):
        act(service, path, "unknown")
    assert f"{words} asked" in service.client.get(f"{path}/summary").text


def test_a_regression_is_shown(service):
    path = begun(service, "score")
    assert "±" in service.client.get(path).text


@pytest.mark.parametrize("action", ["nothing", "answer%2F..", "__class__"])
def test_other_actions(service, action):
    assert service.client.post(f"{begun(service)}/{action}").status_code in (404, 405)


def test_nothing_comes_from_elsewhere_and_nothing_is_inline(service):
    path = begun(service)
    for address in ("/", path, f"{path}/tell", f"{path}/summary", "/nothing"):
        page = service.client.get(address).text
        for url in re.findall(r'(?:src|href|action)="([^"]*)"', page):
            assert url.startswith(("/", "#")), url
        assert not re.search(r"<script(?![^>]* src=)", page)
        assert not re.search(r'<[^>]+ (?:style|on\w+)="', page)
    for content in FILES.values():
        assert not re.search(rb"https?://(?!www\.w3\.org/2000/svg)", content)


def test_the_page_is_small(service):
    path = begun(service)
    size = len(service.client.get(path).content) + sum(len(content) for content in FILES.values())
    assert size < 40_000


@pytest.mark.parametrize("action", ["unknown", "later", "undo"])
def test_a_double_click_counts_once(service, action):
    """The second click, sent while the first is on its way to the disk, was meant for the same question."""
    path = begun(service)
    for _ in range(3):
        act(service, path, "unknown")
    clicks = 8
    with ThreadPoolExecutor(clicks) as pool:
        answers = list(pool.map(lambda _: act(service, path, action, events="3"), range(clicks)))
    assert [answer.status_code for answer in answers] == [303] * clicks
    assert {answer.headers["location"] for answer in answers} == {path}  # without a notice
    assert service.client.get(f"/api{path}").json()["events"] == 4


def notice(service, path):
    """The notice that a page shows; empty if there is none."""
    found = re.search(r'<p class="notice" role="alert">(.*?)</p>', service.client.get(path).text)
    return html.unescape(found.group(1)) if found else ""


def test_an_undo_without_an_entry_is_explained(service):
    path = begun(service)
    answer = act(service, path, "undo")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{path}?notice=nothing_to_undo")
    assert notice(service, answer.headers["location"]) == "There is no entry to take back."
    assert notice(service, path) == ""


def test_a_full_interview_is_explained(start, monkeypatch):
    monkeypatch.setattr("askless.service.interviews.MOST_EVENTS", 2)
    service = start()
    path = begun(service)
    for _ in range(2):
        act(service, path, "unknown")
    answer = act(service, path, "unknown", events="2")
    assert "begin a new interview" in notice(service, answer.headers["location"])
    answer = act(service, path, "tell", feature="0", events="2", **{"part-0": "51"})
    assert "begin a new interview" in notice(service, answer.headers["location"])
    assert service.client.get(f"/api{path}").json()["events"] == 2


def test_an_entry_from_an_outdated_page_is_explained(service):
    path = begun(service)
    walk_to(service, path, "age")
    events = service.client.get(f"/api{path}").json()["events"]
    act(service, path, "answer", events=events, **{"part-0": "51"})
    twice = act(service, path, "answer", events=events, **{"part-0": "51"})  # a double click
    assert twice.headers["location"] == path
    for action, form in (("answer", {"part-0": "52"}), ("unknown", {}), ("undo", {})):
        answer = act(service, path, action, events=events, **form)
        assert answer.headers["location"] == f"{path}?notice=interview_changed"
        assert "was not saved" in notice(service, answer.headers["location"])
    told = service.client.get(f"/api{path}").json()
    assert (told["events"], told["history"][-1]["value"]) == (events + 1, 51)


def test_a_late_answer_is_explained(service):
    path = begun(service)
    while not service.client.get(f"/api{path}").json()["done"]:
        act(service, path, "unknown")
    answer = act(service, path, "unknown")
    assert "already complete" in notice(service, answer.headers["location"])


def test_an_unknown_notice_is_not_shown(service):
    path = begun(service)
    assert notice(service, f"{path}?notice=%3Cb%3Ewrong") == ""


def test_the_final_answer_comes_first_and_the_replaced_one_is_struck(service, models):
    path = begun(service)
    walk_to(service, path, "age")
    act(service, path, "answer", **{"part-0": "51"})
    index = models.find("triage").schema.index("age")
    act(service, path, "tell", feature=index, **{"part-0": "119"})
    replaced = '<del><span class="unseen">replaced: </span>51 years</del>'
    for address in (path, f"{path}/summary"):
        page = service.client.get(address).text
        answers, entries = page.split("All entries in order")
        assert page.count("51 years") == 2  # the answer, and the entry; both struck
        assert page.count(replaced) == 2
        assert answers.index("119 years") < answers.index(replaced)
        assert answers.count("119 years") == 1
        assert entries.index(replaced) < entries.index("119 years")
        assert "corrected" in entries
        # The remark on the final value is there once.
        assert page.count("Outside the values that the model was trained on (18 to 95).") == 1
    api = service.client.get(f"/api{path}").json()
    assert api["notes"] == ["'age' is outside the range of the training data (18 to 95)"]
    act(service, path, "undo")
    assert service.client.get(f"/api{path}").json()["notes"] == []
    assert "119 years" not in service.client.get(path).text


def test_the_values_of_training_do_not_read_as_a_normal_range(service):
    path = begun(service)
    walk_to(service, path, "age")
    page = service.client.get(path).text
    assert "Accepted: 0 to 120. The model was trained on values from 18 to 95." in page
    assert "usual" not in page
    assert "normal" not in page


@pytest.mark.parametrize(
    ("text", "value"),
    [("yes", True), ("no", False), ("0", False), ("1", True), ("f", False), ("T", True), ("maybe", None)],
)
def test_words_for_yes_and_no(service, text, value):
    path = begun(service)
    walk_to(service, path, "heart disease")
    answer = act(service, path, "answer", **{"part-0": text})
    told = service.client.get(f"/api{path}").json()
    if value is None:
        assert answer.status_code == 422
        assert "Choose yes or no." in answer.text
    else:
        assert told["history"][-1]["value"] is value


@pytest.mark.parametrize("text", ["unknown", "-", "?", "NA", "Don't know", ""])
def test_words_for_unknown_are_no_number(service, text):
    path = begun(service)
    walk_to(service, path, "blood pressure")
    act(service, path, "answer", **{"part-0": "150", "part-1": text})
    assert service.client.get(f"/api{path}").json()["history"][-1]["value"] == {"systolic": 150}
    walk_to(service, path, "age")
    answer = act(service, path, "answer", **{"part-0": text})
    assert answer.status_code == 422
    assert "Enter an answer. If it is unknown, choose “Don’t know”." in answer.text


def test_a_fixed_order_is_called_one(tmp_path):
    frame = messy_frame()
    path = tmp_path / "fixed.askless"
    DynamicClassifier(2, FixedOrder(epochs=1, hidden=(4,))).fit(frame[["age", "smokes", "low"]], frame["ill"]).save(
        path
    )
    with running(read_models([str(path)])) as service:
        start = service.client.get("/models/fixed").text
        page = service.client.get(begun(service, "fixed")).text
    assert "Everyone is asked the same questions in the same order." in start
    assert "depends on the answers" not in start
    assert "Everyone is asked the same questions in this order." in page
    assert "informative" not in page
    assert not re.search(r"\d%", page.partition('class="candidates"')[2].partition("</ol>")[0])


def test_a_certified_rule_that_is_not_used_says_so(model_file):
    """On the page and in the API, and not as a line of the log."""
    rule = Certified(risk=0.05, threshold=0.0, cases=100, within=6)
    fitted = replace(read_model(model_file), stopping=(rule,))
    with running(Models([ServedModel("sure", fitted, "none", {})])) as service:
        sure = service.client.post("/api/models/sure/interviews", json={}).json()
        assert "certified for at most 0.05 wrong" in sure["stop_reason"]
        fewer = service.next({"answers": {"age": 51}, "stopping": {"max_features": 1}}, "sure").json()
        assert "the certified stopping rule was not used: " in fewer["stop_reason"]
        assert "at most 1 question instead of 6" in fewer["stop_reason"]
        told = service.client.post("/api/models/sure/interviews", json={"known": {"age": 51}}).json()
        path = f"/interviews/{told['id']}"
        while not told["done"]:
            told = service.client.post(f"/api{path}/unknown").json()
        assert "the certified stopping rule was not used: 'age' was known beforehand" in told["stop_reason"]
        for address in (path, f"{path}/summary"):
            assert told["stop_reason"] in html.unescape(service.client.get(address).text)
        stateless = {"answers": {}, "known": {"age": 51}, "stopping": {}}
        assert not service.next(stateless, "sure").json()["done"]
        assert {line["event"] for line in map(json.loads, service.log.getvalue().splitlines())} == {"request"}


@pytest.mark.parametrize(("differ", "shown"), [(0.009, False), (0.02, True)])
def test_shares_that_are_alike_are_not_shown(service, monkeypatch, differ, shown):
    def shares(candidates):
        n = len(candidates)
        assert n == 5
        return [1 / n + differ, *[1 / n] * (n - 2), 1 / n - differ]

    monkeypatch.setattr("askless.service.views.shares", shares)
    page = service.client.get(begun(service)).text
    listed = page.partition('class="candidates"')[2].partition("</ol>")[0]
    assert listed.count("<li") == 5
    assert bool(re.search(r"\d%", listed)) is shown
    assert ('class="bar"' in listed) is shown
    assert ("The percentages show" in page) is shown
