"""The stateless API: the next question, and predictions of partial records. Nothing is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from fastapi import APIRouter
from starlette.requests import Request

from askless.acquisition import State
from askless.exceptions import AsklessError
from askless.service.answers import checked_answers, notes, respelled
from askless.service.asking import TERMS, begin, checked_names, predicted, quiet, read_terms, standing
from askless.service.bodies import JsonResponse, checked_fields, json_body
from askless.service.errors import conflict, invalid, problem_of
from askless.service.models import Models, ServedModel
from askless.service.openapi import Documentation

__all__ = ["NEXT_FIELDS", "next_question", "predict_records", "stateless_routes"]

NEXT_FIELDS = ("answers", "unknown", *TERMS)
MOST_RECORDS = 10_000
INLINE = 50  # records; longer lists are predicted in a thread, which does not block other requests


def stateless_routes(models: Models, documentation: Documentation) -> APIRouter:
    """The routes below `/api/models`."""
    router = APIRouter(prefix="/api/models", tags=["models"])

    @router.get("", **documentation.of("models"))
    async def list_models(request: Request) -> JsonResponse:
        return JsonResponse({"models": [model.card for model in models]})

    @router.get("/{model}", **documentation.of("model"))
    async def read_model(request: Request) -> JsonResponse:
        return JsonResponse(models.find(request.path_params["model"]).card)

    @router.post("/{model}/next", **documentation.of("next"))
    async def ask_next(request: Request) -> JsonResponse:
        model = models.find(request.path_params["model"])
        return JsonResponse(next_question(model, json_body(request)))

    @router.post("/{model}/predict", **documentation.of("predict"))
    async def predict(request: Request) -> JsonResponse:
        served = models.find(request.path_params["model"])
        records = read_records(request)
        if len(records) <= INLINE:
            return JsonResponse(predict_records(served, records))
        return JsonResponse(await asyncio.to_thread(predict_records, served, records))

    return router


def next_question(model: ServedModel, body: Any) -> dict[str, Any]:
    """The state of an interview after the answers in the body."""
    data = checked_fields(body, NEXT_FIELDS, required=("answers",))
    answers = checked_answers(model, data["answers"], "answers")
    terms = read_terms(model, data)
    interview = begin(model, terms)
    unknown = checked_names(model, data.get("unknown", []), "unknown")
    _check_named_once(answers, unknown, terms.known)
    try:
        with quiet():
            interview.record(answers | dict.fromkeys(unknown))
    except AsklessError as error:
        raise problem_of(error) from None
    remarks = notes(model, terms.known | answers)
    remarks += respelled(data.get("known", {}), terms.known) + respelled(data["answers"], answers)
    return {**standing(model, interview), "notes": remarks}


def _check_named_once(answers: Collection[str], unknown: Collection[str], known: Collection[str]) -> None:
    """Refuse a feature that is in two of the three fields."""
    named = {"answers": answers, "unknown": unknown, "known": known}
    for first, second in (("answers", "known"), ("unknown", "answers"), ("unknown", "known")):
        for name in named[first]:
            if name in named[second]:
                raise conflict(
                    f"{name!r} is in both `{first}` and `{second}`; send it in one of them",
                    code="conflicting_answers",
                    name=name,
                )


def read_records(request: Request) -> list[Any]:
    """The list of records in a body."""
    data = checked_fields(json_body(request), ("records",), required=("records",))
    records = data["records"]
    if not isinstance(records, list) or not 1 <= len(records) <= MOST_RECORDS:
        raise invalid(
            f"records must be a list of 1 to {MOST_RECORDS} objects", "records", code="wrong_shape", name="records"
        )
    return records


def predict_records(model: ServedModel, records: Sequence[Any]) -> dict[str, Any]:
    """Predictions of partial records."""
    schema = model.schema
    x = np.zeros((len(records), schema.n_columns), dtype=np.float32)
    known = np.zeros((len(records), len(schema)), dtype=bool)
    for row, record in enumerate(records):
        for name, answer in checked_answers(model, record, f"records[{row}]").items():
            index = schema.index(name)
            columns = model.fitted.encoder.encode_answer(index, answer)
            if columns is not None:
                x[row, schema.features[index].start : schema.features[index].stop] = columns
                known[row, index] = True
    state = State(x, known, known)
    outputs = np.asarray(model.fitted.predictor.predict(state))  # (n, outputs)
    sd = model.fitted.predictor.spread(state) if model.fitted.task == "regression" else None  # (n,)
    labels = model.fitted.classes or ("mean",)
    predictions = [predicted(dict(zip(labels, row, strict=True))) for row in outputs.tolist()]
    if sd is not None:
        predictions = [each | {"sd": float(value)} for each, value in zip(predictions, sd, strict=True)]
    return {"model": model.name, "predictions": predictions}
