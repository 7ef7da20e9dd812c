"""Interviews that are kept: changed, resumed after a restart, deleted, and never mixed up."""

import asyncio
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from askless.acquisition import choice
from askless.exceptions import ParameterError
from askless.model_file import read_model
from askless.service.asking import Terms
from askless.service.descriptions import Description
from askless.service.errors import Problem
from askless.service.interviews import Interviews
from askless.service.metrics import Metrics
from askless.service.models import Models, ServedModel
from askless.service.store import Event, Store
from tests.coded import raises


def create(service, model="triage", **terms):
    answer = service.client.post(f"/api/models/{model}/interviews", json=terms)
    assert answer.status_code == 201, answer.text
    return answer.json()


def change(service, interview, action, status=200, **body):
    answer = service.client.post(f"/api/interviews/{interview}/{action}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def example(question):
    """A value that the question takes."""
    values = {}
    for part in question["parts"]:
        middle = None if part["low"] is None else (part["low"] + part["high"]) / 2
        values[part["name"]] = {"number": middle, "boolean": False}.get(part["kind"], (part["choices"] or [None])[0])
    return values if question["kind"] == "group" else next(iter(values.values()))


def test_a_whole_interview(service, model_file):
    told = create(service)
    assert len(told["id"]) == 32
    talk = read_model(model_file).interview(check_values=False)  # the service has limits of its own
    interview, n = told["id"], 0
    while not told["done"]:
        assert told["question"]["name"] == talk.question.name
        value = example(told["question"])
        talk.answer(value)
        told = change(service, interview, "answer", value=value, question=told["question"]["name"])
        n += 1
        assert told["prediction"] == pytest.approx(talk.prediction)
    assert (told["asked"], told["events"], told["cost"], told["stop_reason"]) == (n, n, talk.cost, talk.stop_reason)
    assert [event["feature"] for event in told["history"]] == [event.feature for event in talk.history]
    assert service.client.get(f"/api/interviews/{interview}").json() == told


def test_every_change(service):
    first = create(
        service, known={"sex": "female"}, unavailable=["troponin"], costs={"age": 3}, stopping={"max_features": 4}
    )
    interview = first["id"]
    later = change(service, interview, "later")
    assert later["question"]["name"] != first["question"]["name"]
    unknown = change(service, interview, "unknown", question=later["question"]["name"])
    assert unknown["asked"] == 1
    told = change(service, interview, "tell", feature="age", value=44)
    assert told["history"][-1]["action"] == "tell"
    assert told["cost"] == unknown["cost"]
    back = change(service, interview, "undo")
    assert {**back, "events": 0} == {**unknown, "events": 0}
    assert back["events"] == 4


def test_a_choice_in_other_capitals_is_kept_as_training_has_spelled_it(start, tmp_path):
    """Also in the file, from which the interview goes on."""
    first = start(keep=str(tmp_path / "kept.sqlite"))
    interview = create(first)["id"]
    told = change(first, interview, "tell", feature="sex", value="FEMALE")
    assert told["history"][-1]["value"] == "female"
    second = start(keep=str(tmp_path / "kept.sqlite"))
    assert second.client.get(f"/api/interviews/{interview}").json() == told


def test_what_does_not_fit_changes_nothing(service):
    before = create(service)
    interview = before["id"]

    def refused(action, status, **body):
        error = change(service, interview, action, status, **body)["error"]
        return error["code"], error["where"]

    assert refused("answer", 422, value="31337") == ("bad_answer", "value")
    assert refused("answer", 422) == ("required", "value")
    assert refused("answer", 409, value=3, question="sex and more") == ("question_changed", None)
    assert refused("tell", 422, feature="agee", value=3) == ("unknown_name", "feature")
    assert refused("undo", 409) == ("nothing_to_undo", None)
    assert refused("later", 422, question=3) == ("wrong_type", "question")
    assert service.client.get(f"/api/interviews/{interview}").json() == before


def test_an_interview_that_is_done_takes_no_more_answers(service):
    told = create(service, stopping={"max_features": 1})
    told = change(service, told["id"], "unknown")
    assert told["done"]
    for action in ("answer", "unknown", "later"):
        body = {"value": 3} if action == "answer" else {}
        error = change(service, told["id"], action, 409, **body)["error"]
        assert error["code"] == "interview_done"
        assert "asked 1 feature" in error["message"]


def test_deleted_is_gone(start, tmp_path):
    path = tmp_path / "kept.db"
    service = start(keep=str(path))
    told = create(service, known={"complaint": "headache"})
    assert service.client.delete(f"/api/interviews/{told['id']}").status_code == 204
    assert service.client.delete(f"/api/interviews/{told['id']}").status_code == 404
    assert service.client.get(f"/api/interviews/{told['id']}").status_code == 404
    content = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"headache" not in content
    assert told["id"].encode() not in content


def test_deleted_is_gone_though_somebody_was_reading_it(models, tmp_path):
    async def read_and_delete():
        store = Store(str(tmp_path / "kept.db"))
        interviews = Interviews(models, store, Metrics(), 30)
        live = await interviews.create(next(iter(models)), Terms())
        interviews._live.clear()  # as after a restart
        await asyncio.gather(interviews.find(live.id), interviews.delete(live.id))
        with raises(Problem, "not_found"):
            await interviews.find(live.id)
        store.close()

    asyncio.run(read_and_delete())


def test_a_full_disk_does_not_end_the_store(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(FULL_DISK)
    done = subprocess.run([sys.executable, script, tmp_path / "kept.db"], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["deleted", "works"], done.stderr


FULL_DISK = """
import asyncio, os, resource, signal, sys
from askless.service.store import Kept, Store

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing beyond the limit is then an error

async def main(path):
    store = Store(path)
    for i in range(200):
        await store.create(Kept(f"id{i:03}", "m", "f", {"x": "y" * 3000}, 1.0, ()))
    await store.delete("id000")
    size = os.path.getsize(path)
    for i in range(200, 215):  # in the write-ahead log only
        await store.create(Kept(f"id{i:03}", "m", "f", {"x": "y" * 3000}, 1.0, ()))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 8192, resource.RLIM_INFINITY))
    if await asyncio.wait_for(store.delete("id001"), 10):
        print("deleted")
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if await asyncio.wait_for(store.works(), 10):
        print("works")
    store.close()

asyncio.run(main(sys.argv[1]))
"""


def test_resumed_after_a_restart(models, tmp_path):
    from tests.service.conftest import running

    path = str(tmp_path / "kept.db")
    with running(models, keep=path) as service:
        told = create(service, known={"sex": "male"})
        for _ in range(3):
            told = change(service, told["id"], "answer", value=example(told["question"]))
        told = change(service, told["id"], "later")
        told = change(service, told["id"], "undo")
    with running(models, keep=path) as service:
        assert service.client.get(f"/api/interviews/{told['id']}").json() == told
        change(service, told["id"], "unknown")


def happened(talk):
    """All that events alone decide."""
    lines = [(event.action, event.feature, event.value, event.cost, event.prediction) for event in talk.history]
    return lines, talk.count, talk.cost, talk.prediction, talk.postponed


async def lead(interviews, model):
    """An interview with every kind of event, and where it stood after each but the last."""
    live = await interviews.create(model, Terms(known={"sex": "male"}, unavailable=("troponin",)))
    stood = []
    for action in ("answer", "later", "unknown", "undo", "answer", "tell", "later", "unknown", "answer"):
        stood.append(happened(live.interview))
        event = Event(action)
        if action == "answer":
            name = live.interview.question.name
            event = Event(action, name, example(model.questions[model.schema.index(name)]))
        live = await interviews.change(live.id, Event("tell", "age", 51) if action == "tell" else event)
    return live, stood


@pytest.mark.parametrize("agrees", [True, False])
def test_what_was_asked_stays_where_the_model_chooses_in_another_way(models, tmp_path, monkeypatch, agrees):
    """Another processor may break a tie in another way; here every choice is another."""
    model = next(iter(models))

    def otherwise(choose):
        return lambda scores, allowed: choose(-scores, allowed)

    async def lead_and_resume():
        store = Store(str(tmp_path / "kept.db"))
        live, stood = await lead(Interviews(models, store, Metrics(), 30), model)
        before = live.to_json()
        if not agrees:
            monkeypatch.setattr(choice, "pick_best", otherwise(choice.pick_best))
        interviews = Interviews(models, store, Metrics(), 30)
        again = await interviews.find(live.id)
        assert happened(again.interview) == happened(live.interview)
        assert (again.to_json() == before) is agrees  # the question is another where the model is
        refused = Event("unknown", "age")
        with raises(Problem, "question_changed", name=again.interview.question.name):  # what comes now is compared
            await interviews.change(live.id, refused)
        for before in (stood[8], stood[7]):
            again = await interviews.change(live.id, Event("undo"))
            assert happened(again.interview) == before
        store.close()

    asyncio.run(lead_and_resume())


def test_another_version_of_the_model_does_not_go_on(models, tmp_path):
    from tests.service.conftest import running

    path = str(tmp_path / "kept.db")
    with running(models, keep=path) as service:
        told = create(service)
    other = Models([ServedModel(model.name, model.fitted, "another", {}) for model in models])
    with running(other, keep=path) as service:
        answer = service.client.get(f"/api/interviews/{told['id']}")
        assert answer.status_code == 409
        assert answer.json()["error"]["code"] == "model_changed"
        assert "another version" in answer.json()["error"]["message"]


def test_old_interviews_are_deleted(models, tmp_path):
    from tests.service.conftest import running

    path = str(tmp_path / "kept.db")
    with running(models, keep=path) as service:
        old, new = create(service)["id"], create(service)["id"]
    with sqlite3.connect(path) as db:
        db.execute("UPDATE interviews SET touched = ? WHERE id = ?", (time.time() - 40 * 86400, old))
    db.close()
    with running(models, keep=path, retention_days=30) as service:
        assert service.client.get(f"/api/interviews/{old}").status_code == 404
        assert service.client.get(f"/api/interviews/{new}").status_code == 200


def test_what_was_accepted_goes_on_when_other_numbers_are_allowed(models, tmp_path):
    from tests.service.conftest import running

    path = str(tmp_path / "kept.db")
    with running(models, keep=path) as service:
        told = create(service, known={"age": 60})
        told = change(service, told["id"], "tell", feature="heart rate", value=150)
    narrow = {"age": Description(high=50), "heart rate": Description(high=100)}
    stricter = Models([ServedModel(each.name, each.fitted, each.fingerprint, narrow) for each in models])
    with running(stricter, keep=path) as service:
        again = service.client.get(f"/api/interviews/{told['id']}").json()
        assert (again["history"], again["prediction"]) == (told["history"], told["prediction"])
        refused = service.client.post(
            f"/api/interviews/{told['id']}/tell", json={"feature": "heart rate", "value": 150}
        )
        assert refused.status_code == 422


def test_nobody_else_may_read_the_file(start, tmp_path):
    start(keep=str(tmp_path / "kept.db"))
    assert {oct(file.stat().st_mode & 0o777) for file in tmp_path.iterdir()} == {"0o600"}


def test_memory_holds_the_latest_interviews_only(start, monkeypatch):
    monkeypatch.setattr("askless.service.interviews.MOST_WITHOUT_FILE", 3)
    monkeypatch.setattr("askless.service.interviews.PURGE_EACH", 5)
    service = start()
    ids = [create(service)["id"] for _ in range(5)]
    there = [service.client.get(f"/api/interviews/{each}").status_code for each in ids]
    assert there == [404, 404, 200, 200, 200]


def test_the_figure_of_interviews_in_memory_falls_with_them(models):
    async def come_and_go():
        store, metrics = Store(None), Metrics()
        interviews = Interviews(models, store, metrics, 30)
        figures = []

        def look():
            figures.append(metrics.registry.get_sample_value("askless_interviews_in_memory"))

        ids = [(await interviews.create(next(iter(models)), Terms())).id for _ in range(3)]
        look()
        await interviews.delete(ids[0])
        look()
        await store.delete(ids[1])  # as another process would
        with raises(Problem, "interview_changed"):
            await interviews.change(ids[1], Event("unknown"))
        look()
        interviews._retention = -1.0
        await interviews.purge()
        look()
        store.close()
        return figures

    assert asyncio.run(come_and_go()) == [3, 2, 1, 0]


def test_a_file_that_holds_something_else(models, tmp_path):
    from askless.service.store import Store

    path = tmp_path / "other.db"
    path.write_text("this is no database, but long enough to be read as one" * 100)
    with raises(ParameterError, "unreadable_file", name="keep", path=str(path)):
        Store(str(path))


def test_256_interviews_at_once_do_not_mix(service):
    """Each has answers of its own, and ends where it would alone."""

    def lead(i):
        with httpx.Client(base_url=service.url, trust_env=False, timeout=60, verify=False) as client:
            told = client.post("/api/models/triage/interviews", json={"known": {"age": 20 + i % 70}}).json()
            interview, answers = told["id"], {}
            for step in range(3):
                question = told["question"]
                value = example(question) if (i + step) % 3 else None
                action, body = ("unknown", {}) if value is None else ("answer", {"value": value})
                told = client.post(f"/api/interviews/{interview}/{action}", json=body).json()
                answers[question["name"]] = value
            return told, answers, 20 + i % 70

    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(lead, range(256)))
    assert len({told["id"] for told, _, _ in results}) == 256
    for told, answers, age in results[::8]:
        known = {name: value for name, value in answers.items() if value is not None}
        unknown = [name for name in answers if name not in known]
        alone = service.next({"answers": known, "unknown": unknown, "known": {"age": age}}).json()
        assert told["prediction"] == pytest.approx(alone["prediction"], abs=1e-6)
        assert (told["cost"], told["asked"]) == (alone["cost"], alone["asked"])
        assert told["history"][0]["value"] == age


def test_two_answers_at_the_same_time_are_two_answers_or_a_conflict(service):
    told = create(service)
    question = told["question"]
    body = {"value": example(question), "question": question["name"]}

    def answer(_):
        return httpx.post(f"{service.url}/api/interviews/{told['id']}/answer", json=body, trust_env=False).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(answer, range(8)))
    assert sorted(statuses) == [200] + [409] * 7
    assert service.client.get(f"/api/interviews/{told['id']}").json()["events"] == 1
