"""Who may call, with what, and what every answer carries."""

import json
import socket
import time

import pytest

from askless.exceptions import ParameterError
from askless.service.security import LARGEST_BODY, RateLimit, host_name
from askless.service.settings import Settings
from tests.coded import raises

TOKEN = "a-token-of-many-characters"


def test_another_address_needs_a_token():
    with raises(ParameterError, "required", name="token"):
        Settings(host="0.0.0.0")
    with raises(ParameterError, "out_of_range", name="token", low=16):
        Settings(host="0.0.0.0", token="short")
    assert Settings(host="0.0.0.0", token=TOKEN).token == TOKEN
    assert Settings().host == "127.0.0.1"


def test_settings_come_from_the_environment_and_arguments_win():
    environment = {"ASKLESS_PORT": "81", "ASKLESS_ALLOWED_HOSTS": "a.org, b.org", "ASKLESS_RATE_LIMIT": "2.5"}
    settings = Settings.read(environment, port=82, keep=None)
    assert (settings.port, settings.allowed_hosts, settings.rate_limit) == (82, ("a.org", "b.org"), 2.5)
    with raises(ParameterError, "wrong_type", name="port", value="x"):
        Settings.read({"ASKLESS_PORT": "x"})
    with raises(ParameterError, "invalid_choice", name="base_url", value="ask.example.org"):
        Settings(base_url="ask.example.org")
    with raises(ParameterError, "out_of_range", name="retention_days", low=0):
        Settings(retention_days=float("nan"))


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::1"])
def test_other_names_are_refused(service, host):
    for method, path in (("GET", "/api/models"), ("POST", "/api/models/triage/next"), ("GET", "/")):
        answer = service.client.request(method, path, headers={"Host": host})
        assert answer.status_code in (400, 403)
        if answer.status_code == 403 and path.startswith("/api/"):
            assert answer.json()["error"]["code"] == "host_not_allowed"


def test_names_without_ports():
    assert host_name("LocalHost:8000") == "localhost"
    assert host_name("[::1]:80") == "::1"
    assert host_name("a:b:c") == ""


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://evil.example:443", "http://[::1"]
)
def test_pages_of_others_cannot_write(service, origin):
    answer = service.client.post("/api/models/triage/next", json={"answers": {}}, headers={"Origin": origin})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_not_allowed")
    assert service.client.post("/models/triage/interviews", headers={"Origin": origin}).status_code == 403
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert service.client.post("/models/triage/interviews", headers=cross).status_code == 403


def test_our_own_page_can(service):
    own = {"Origin": service.url, "Sec-Fetch-Site": "same-origin"}
    assert service.client.post("/models/triage/interviews", headers=own).status_code == 303


def test_the_token(start):
    service = start(token=TOKEN)
    client = service.client
    assert client.get("/healthz").status_code == 200
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, {"Cookie": "askless-session=x"}):
        answer = client.get("/api/models", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get("/metrics", headers=headers).status_code == 401
        assert client.get("/fhir/metadata", headers=headers).json()["resourceType"] == "OperationOutcome"
    assert client.get("/api/models", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert TOKEN not in service.log.getvalue()


def test_a_browser_signs_in(start):
    client = start(token=TOKEN).client
    page = client.get("/")
    assert page.status_code == 401
    assert 'name="token"' in page.text
    assert client.post("/sign-in", data={"token": "wrong"}).status_code == 401
    answer = client.post("/sign-in", data={"token": TOKEN})
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert client.get("/").status_code == 200


def test_large_bodies(service):
    for path, body in (
        ("/api/models/triage/next", b"x" * (LARGEST_BODY + 1)),
        ("/fhir/Questionnaire/$next-question", b" " * 2_000_000),
    ):
        assert service.client.post(path, content=body).status_code == 413

    def pieces():
        for _ in range(30):
            yield b" " * 50_000

    assert service.client.post("/api/models/triage/next", content=pieces()).status_code == 413
    almost = b'{"answers": {}' + b" " * (LARGEST_BODY - 15) + b"}"
    assert service.client.post("/api/models/triage/next", content=almost).status_code == 200


def test_every_answer_has_the_headers(service):
    for path in ("/", "/api/models", "/nothing", "/fhir/metadata", "/static/askless.css"):
        headers = service.client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == (
            "no-store" if "static" not in path else "public, max-age=31536000, immutable"
        )


def test_a_bug_of_ours_has_the_headers_too_and_tells_nothing(start, monkeypatch):
    def broken(model, body):
        raise RuntimeError(f"it was {body}")

    monkeypatch.setattr("askless.service.api.next_question", broken)
    service = start()
    answer = service.next({"answers": {"age": 31337}})
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    told = [json.loads(line) for line in service.log.getvalue().splitlines()]
    assert [line["event"] for line in told] == ["failure", "request"]
    assert told[0]["error"] == "RuntimeError"
    assert "31337" not in answer.text + service.log.getvalue()


def test_half_an_answer_is_none(start):
    """Whoever hangs up in the middle of a body has answered nothing."""
    service = start()
    interview = service.client.post("/api/models/triage/interviews", json={}).json()["id"]
    with socket.create_connection(("127.0.0.1", int(service.url.rpartition(":")[2]))) as caller:
        head = f"POST /api/interviews/{interview}/unknown HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n"
        caller.sendall(head.encode() + b"{}")
        time.sleep(0.1)
    for _ in range(200):
        if '"status":400' in service.log.getvalue():
            break
        time.sleep(0.02)
    assert '"status":400' in service.log.getvalue()
    assert service.client.get(f"/api/interviews/{interview}").json()["events"] == 0


def test_the_rate_of_one_address():
    now = [0.0]
    limit = RateLimit(2.0, clock=lambda: now[0])
    assert [limit.admits("a") for _ in range(5)] == [True] * 4 + [False]
    assert limit.admits("b")
    now[0] = 0.5
    assert [limit.admits("a"), limit.admits("a")] == [True, False]
    assert RateLimit(0.0).admits("a")


def test_too_many_requests(start):
    client = start(rate_limit=2.0).client
    answers = [client.get("/api/models") for _ in range(12)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert refused[0].headers["retry-after"] == "1"
    assert refused[0].json()["error"]["code"] == "too_many_requests"


def test_logs_are_json_lines_without_answers_or_addresses(start):
    service = start()
    interview = service.client.post("/api/models/triage/interviews", json={"known": {"age": 87}}).json()["id"]
    service.client.post(f"/api/interviews/{interview}/answer", json={"value": "31337"})
    service.client.get(f"/interviews/{interview}?secret=31337")
    text = service.log.getvalue()
    lines = [json.loads(line) for line in text.splitlines()]
    assert {line["event"] for line in lines} == {"request"}
    assert lines[0]["route"] == "/api/models/{model}/interviews"
    assert set(lines[0]) == {"time", "event", "method", "route", "status", "ms"}
    assert interview not in text
    assert "31337" not in text
