"""The fields of a QuestionnaireResponse that the server returns as it received them: references and dates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from askless.service.fhir.codes import FHIR_ID

__all__ = ["kept_fields"]

DATE_TIME = re.compile(
    r"(?!0000)\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])"
    r"(T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-](0\d|1[0-3]):[0-5]\d|\+14:00))?)?)?"
)
NO_DAY = re.compile(r"-(02-30|(02|04|06|09|11)-31)")
URI = re.compile(r"[!-~]{1,1000}")
TEXT = re.compile(r"[^\x00-\x1f\ud800-\udfff]{1,1000}")
SINGLE = ("subject", "encounter", "author", "source")
SEVERAL = ("basedOn", "partOf")


def kept_fields(response: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the form filled in. Invalid ones are dropped."""
    kept: dict[str, Any] = {}
    if isinstance(response.get("id"), str) and FHIR_ID.fullmatch(response["id"]):
        kept["id"] = response["id"]
    identifier = _some(response.get("identifier"), {"system": URI, "value": TEXT})
    if identifier:
        kept["identifier"] = identifier
    for name in SEVERAL:
        given = response.get(name)
        references = [_reference(each) for each in given] if isinstance(given, list) else []
        if any(references):
            kept[name] = [each for each in references if each]
    for name in SINGLE:
        reference = _reference(response.get(name))
        if reference:
            kept[name] = reference
    authored = response.get("authored")
    if isinstance(authored, str) and DATE_TIME.fullmatch(authored) and not _no_such_day(authored):
        kept["authored"] = authored
    return kept


def _reference(value: Any) -> dict[str, Any]:
    reference = _some(value, {"reference": TEXT, "type": URI, "display": TEXT})
    if str(reference.get("reference", "")).startswith("#"):
        del reference["reference"]  # contained resources are not returned
    return reference


def _some(value: Any, wanted: Mapping[str, re.Pattern[str]]) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    return {
        name: value[name]
        for name, form in wanted.items()
        if isinstance(value.get(name), str) and form.fullmatch(value[name]) and value[name].strip()
    }


def _no_such_day(text: str) -> bool:
    if NO_DAY.search(text):
        return True
    year = int(text[:4])
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return text[4:10] == "-02-29" and not leap
