"""The API's description is complete, and the service keeps what it promises: schemathesis over all of it."""

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import load_all_checks

from askless.service.models import Models
from tests.service.conftest import running


@pytest.fixture(scope="module")
def alone(models):
    """One model, so that the description is exact."""
    with running(Models([next(iter(models))])) as service:
        yield service


def test_every_route_is_described_with_examples(alone):
    document = alone.client.get("/api/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    operations = [
        (path, method, each) for path, methods in document["paths"].items() for method, each in methods.items()
    ]
    assert len(operations) == 18
    for path, method, each in operations:
        assert each["summary"], path
        assert any(code.startswith("2") for code in each["responses"])
        for response in each["responses"].values():
            assert response["description"]
        if method == "post" and not path.endswith("undo"):
            content = next(iter(each["requestBody"]["content"].values()))
            assert "example" in content
            assert content["schema"]


def test_the_examples_work(alone):
    document = alone.client.get("/api/openapi.json").json()
    for path in ("/api/models/{model}/next", "/api/models/{model}/predict", "/api/models/{model}/interviews"):
        example = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"]
        assert alone.client.post(path.format(model="triage"), json=example).status_code in (200, 201)
    example = document["paths"]["/fhir/Questionnaire/$next-question"]["post"]["requestBody"]["content"]
    assert (
        alone.client.post(
            "/fhir/Questionnaire/$next-question", json=example["application/fhir+json"]["example"]
        ).status_code
        == 200
    )


def test_an_answer_without_a_value_is_described(alone):
    document = alone.client.get("/api/openapi.json").json()
    body = document["paths"]["/fhir/Questionnaire/$next-question"]["post"]["requestBody"]["content"]
    answers = list(_of_key(body["application/fhir+json"]["schema"], "answer"))
    assert answers
    assert all(answer["items"].get("required", []) == [] for answer in answers)  # it is read as unknown


def _of_key(node, key):
    """Everything below a key, at any depth."""
    for name, part in node.items() if isinstance(node, dict) else enumerate(node):
        if name == key:
            yield part
        if isinstance(part, dict | list):
            yield from _of_key(part, key)


def test_schemathesis(alone):
    load_all_checks()
    schema = schemathesis.openapi.from_url(f"{alone.url}/api/openapi.json")
    failures = []
    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in schemathesis.GenerationMode:

            @settings(
                max_examples=15,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @_given(operation, mode)
            def probe(case):
                case.call_and_validate()

            try:
                probe()
            except Unsatisfiable:
                continue  # nothing can be wrong with a request that has no parameters
            except BaseExceptionGroup as group:
                failures += [(operation.label, mode.name, str(error)) for error in group.exceptions]
            except Exception as error:
                failures.append((operation.label, mode.name, repr(error)))
    assert not failures, "\n\n".join(f"{label} ({mode}): {words[:1200]}" for label, mode, words in failures)


def _given(operation, mode):
    from hypothesis import given

    return given(case=operation.as_strategy(generation_mode=mode))
