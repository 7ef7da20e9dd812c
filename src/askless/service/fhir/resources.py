"""The resources that this server returns: questionnaires, responses, bundles, outcomes, capabilities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from askless.acquisition import Interview
from askless.service.asking import predicted
from askless.service.errors import Problem
from askless.service.fhir.items import answer_item, question_item, result_items
from askless.service.fhir.keeping import kept_fields
from askless.service.fhir.parsing import Given
from askless.service.models import ServedModel
from askless.version import __version__

__all__ = ["bundle", "canonical", "capability", "next_response", "outcome", "questionnaire", "versioned"]

SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition"
ADAPTIVE = f"{SDC}/sdc-questionnaire-questionnaireAdaptive"
OPERATION = "http://hl7.org/fhir/uv/sdc/OperationDefinition/Questionnaire-next-question"
CONTAINED = "questionnaire"
SINCE = "2026-01-01"  # when the conformance resources last changed
ERROR_CODES = "urn:askless:error-code"  # the system of the codes in `askless.exceptions.CODES`
ISSUES = {401: "login", 403: "forbidden", 404: "not-found", 405: "not-supported", 409: "conflict", 413: "too-long",
          415: "not-supported", 422: "invalid", 429: "throttled", 500: "exception", 503: "transient"}  # fmt: skip

PREDICATE = re.compile(r"\(.*\)", re.DOTALL)
SIMPLE_PATH = re.compile(r"[A-Za-z]+(\.[A-Za-z]+)*")

Resource = dict[str, Any]


def canonical(model: ServedModel, base: str) -> str:
    """The canonical URL of a model's questionnaire."""
    return f"{base}/Questionnaire/{model.name}"


def versioned(model: ServedModel, base: str) -> str:
    """The canonical URL of a model's questionnaire with its version, which is the model's fingerprint."""
    return f"{canonical(model, base)}|{model.fingerprint}"


def _choices(model: ServedModel, base: str) -> str:
    """The code system of a model's choices."""
    return f"{base}/CodeSystem/{model.name}"


def _adaptive(base: str) -> list[Resource]:
    return [{"url": ADAPTIVE, "valueUrl": base}]


def questionnaire(model: ServedModel, base: str) -> Resource:
    """The questionnaire for search and read: it is marked as adaptive and has no items."""
    purpose = f" to predict {model.target}" if model.target else ""
    return {
        "resourceType": "Questionnaire",
        "id": model.name,
        "meta": {"profile": [f"{SDC}/sdc-questionnaire-adapt-srch"]},
        "extension": _adaptive(base),
        "url": canonical(model, base),
        "version": model.fingerprint,
        "name": _identifier(model.title),
        "title": model.title,
        "status": "active",
        "subjectType": ["Patient"],
        "date": SINCE,
        "description": f"Asks at most {model.fitted.max_features} of {len(model.schema)} questions{purpose}.",
    }


def _identifier(title: str) -> str:
    """A title as an identifier: letters, digits and underscores, starting with a capital."""
    words = re.findall("[A-Za-z0-9_]+", title)
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name[:1].isalpha() else f"Interview{name}"


def next_response(given: Given, interview: Interview, base: str) -> Resource:
    """The response with the next question, or the completed response with the result."""
    model, system = given.model, _choices(given.model, base)
    questions = [question_item(model, index, system) for index in given.asked]
    answers = [answer_item(model, index, given.answers.get(index), system) for index in given.asked]
    question = interview.question
    if question is None:
        reason = interview.stop_reason or ""
        asked, answered = result_items(model, predicted(interview.prediction), reason, interview.cost)
        questions += asked
        answers += answered
    else:
        questions.append(question_item(model, model.schema.index(question.name), system))
    contained = {
        "resourceType": "Questionnaire",
        "id": CONTAINED,
        "meta": {"profile": [f"{SDC}/sdc-questionnaire-adapt"]},
        "extension": _adaptive(base),
        "title": model.title,
        "derivedFrom": [versioned(model, base)],
        "status": "active",
        "subjectType": ["Patient"],
        "item": questions,
    }
    kept = kept_fields(given.response)
    return {
        "resourceType": "QuestionnaireResponse",
        **{name: value for name, value in kept.items() if name == "id"},
        "meta": {"profile": [f"{SDC}/sdc-questionnaireresponse-adapt"]},
        "contained": [contained],
        **{name: value for name, value in kept.items() if name != "id"},
        "questionnaire": f"#{CONTAINED}",
        "status": "completed" if question is None else "in-progress",
        **({"item": answers} if answers else {}),
    }


def bundle(resources: Sequence[Resource], base: str, query: str) -> Resource:
    """The result of a search."""
    link = f"{base}/Questionnaire" + (f"?{query}" if query else "")
    entries = [
        {"fullUrl": resource["url"], "resource": resource, "search": {"mode": "match"}} for resource in resources
    ]
    return {
        "resourceType": "Bundle",
        "type": "searchset",
        "total": len(resources),
        "link": [{"relation": "self", "url": link}],
        **({"entry": entries} if entries else {}),
    }


def outcome(problem: Problem) -> Resource:
    """The OperationOutcome of a problem."""
    issue: Resource = {
        "severity": "fatal" if problem.status >= 500 else "error",
        "code": ISSUES.get(problem.status, "processing"),
        "details": {"coding": [{"system": ERROR_CODES, "code": problem.code}]},
        "diagnostics": problem.message,
    }
    place = PREDICATE.sub("", problem.where or "")  # a simple FHIRPath, without an item's linkId
    if SIMPLE_PATH.fullmatch(place):
        issue["expression"] = [place]
    return {"resourceType": "OperationOutcome", "issue": [issue]}


def capability(base: str) -> Resource:
    """The capabilities of this server."""
    parameters = [
        {"name": name, "type": kind, "documentation": words}
        for name, kind, words in (
            ("_id", "token", "The model's name"),
            ("url", "uri", "The canonical URL"),
            ("title", "string", "The start of the title"),
            ("status", "token", "Every questionnaire is active"),
        )
    ]
    return {
        "resourceType": "CapabilityStatement",
        "status": "active",
        "date": SINCE,
        "publisher": "askless",
        "kind": "instance",
        "software": {"name": "askless", "version": __version__},
        "implementation": {"description": "Adaptive questionnaires of askless models", "url": base},
        "fhirVersion": "4.0.1",
        "format": ["application/fhir+json", "json"],
        "implementationGuide": ["http://hl7.org/fhir/uv/sdc/ImplementationGuide/hl7.fhir.uv.sdc|4.0.0"],
        "rest": [
            {
                "mode": "server",
                "resource": [
                    {
                        "type": "Questionnaire",
                        "interaction": [{"code": "read"}, {"code": "search-type"}],
                        "searchParam": parameters,
                        "operation": [{"name": "next-question", "definition": OPERATION}],
                    }
                ],
            }
        ],
    }
