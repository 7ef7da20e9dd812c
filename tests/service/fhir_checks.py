"""Whether a resource is what the standard wants: fhir.resources (R4B), and the rules it does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fhir.resources.R4B import get_fhir_model_class

from askless.exceptions import CODES

ADAPTIVE = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-questionnaireAdaptive"
ERROR_CODES = "urn:askless:error-code"
ITEM_TYPES = """group display boolean decimal integer date dateTime time string text url choice open-choice attachment
    reference quantity"""
VALUE_OF_TYPE = {
    "boolean": "valueBoolean",
    "decimal": "valueDecimal",
    "choice": "valueCoding",
    "string": "valueString",
}
STATUSES = ("in-progress", "completed", "amended", "entered-in-error", "stopped")
ISSUES = """invalid structure required value invariant security login unknown expired forbidden suppressed processing
    not-supported duplicate multiple-matches not-found deleted too-long code-invalid extension too-costly
    business-rule conflict transient lock-error no-store exception timeout incomplete throttled informational"""


def check(resource: dict[str, Any]) -> None:
    """Every resource that the server gives."""
    get_fhir_model_class(resource["resourceType"]).model_validate(resource)
    assert not list(_empty(resource)), "FHIR knows no empty or null values"
    if resource["resourceType"] == "OperationOutcome":
        for issue in resource["issue"]:
            assert issue["severity"] in ("fatal", "error", "warning", "information")
            assert issue["code"] in ISSUES.split()
            assert issue["diagnostics"]
            (coding,) = issue["details"]["coding"]
            assert coding["system"] == ERROR_CODES
            assert coding["code"] in CODES
    if resource["resourceType"] == "QuestionnaireResponse":
        check_response(resource)


def check_response(response: dict[str, Any]) -> None:
    """The adaptive profile of a response, and of the questionnaire within."""
    assert response["status"] in STATUSES
    (form,) = response["contained"]
    assert response["questionnaire"] == f"#{form['id']}"
    assert form["resourceType"] == "Questionnaire"
    assert "url" not in form
    assert "version" not in form
    (derived_from,) = form["derivedFrom"]
    assert re.fullmatch(r"https?://\S+/Questionnaire/[A-Za-z0-9\-.]{1,64}\|[0-9a-f]{16}", derived_from)
    assert form["status"] == "active"
    assert form["title"]
    assert [each["url"] for each in form["extension"]].count(ADAPTIVE) == 1
    items = list(walk(form["item"]))
    links = [item["linkId"] for item in items]
    assert len(set(links)) == len(links)
    assert all(re.fullmatch(r"\S([ \S]*\S)?", link) for link in links)
    for item in items:
        assert item["text"].strip()
        assert item["type"] in ITEM_TYPES.split()
        assert ("item" in item) == (item["type"] == "group")
        assert ("answerOption" in item) == (item["type"] == "choice")
        for coding in [option["valueCoding"] for option in item.get("answerOption", [])] + item.get("code", []):
            assert coding["system"].startswith("http")
            assert re.fullmatch(r"\S+( \S+)*", coding["code"])
    by_link = {item["linkId"]: item for item in items}
    for answered in walk(response.get("item", [])):
        asked = by_link[answered["linkId"]]
        assert answered["text"] == asked["text"]
        for answer in answered.get("answer", []):
            assert set(answer) == {VALUE_OF_TYPE[asked["type"]]}
            if asked["type"] == "choice":
                assert answer["valueCoding"] in [option["valueCoding"] for option in asked["answerOption"]]


def walk(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in items:
        yield item
        yield from walk(item.get("item", []))


def _empty(value: Any) -> Iterator[Any]:
    if value is None or value == "" or value == [] or value == {}:
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _empty(each)
