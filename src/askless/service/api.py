"""The stateless API: the next question, and predictions of partial records. Nothing is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from fastapi import APIRouter
from starlette.requests import Request

from askless.core import State
from askless.service.answers import checked_answers, notes, respelled
from askless.service.asking import TERMS, begin, checked_names, predicted, read_terms, standing
from askless.service.bodies import JsonResponse, checked_fields, json_body
from askless.service.errors import conflict, invalid
from askless.service.models import Models, ServedModel
from askless.service.openapi import Documentation

__all__ = ["NEXT_FIELDS", "next_question", "predict_records", "stateless_routes"]

NEXT_FIELDS = ("answers", "unknown", *TERMS)
MOST_RECORDS = 10_000
INLINE = 50  # so few records are predicted at once; more of them in a thread, so that nobody waits


def stateless_routes(models: Models, documentation: Documentation) -> APIRouter:
    """`/api/models` and what hangs on it."""
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
    """Where an interview stands after the answers in the body."""
    data = checked_fields(body, NEXT_FIELDS, required=("answers",))
    answers = checked_answers(model, data["answers"], "answers")
    terms = read_terms(model, data)
    talk = begin(model, terms)
    unknown = checked_names(model, data.get("unknown", []), "unknown")
    _check_said_once(answers, unknown, terms.known)
    talk.record(answers | dict.fromkeys(unknown))
    remarks = [note for name, answer in (terms.known | answers).items() for note in notes(model, name, answer)]
    remarks += respelled(data.get("known", {}), terms.known) + respelled(data["answers"], answers)
    return {**standing(model, talk), "notes": remarks}


def _check_said_once(answers: Collection[str], unknown: Collection[str], known: Collection[str]) -> None:
    """Refuse a feature that is in two of the three."""
    for name in answers:
        if name in known:
            raise conflict(f"{name!r} is among the answers and was known before")
    for name in unknown:
        if name in answers or name in known:
            other = "among the answers" if name in answers else "was known before"
            raise conflict(f"{name!r} is unknown, and {other}")


def read_records(request: Request) -> list[Any]:
    """The list of records in a body."""
    data = checked_fields(json_body(request), ("records",), required=("records",))
    records = data["records"]
    if not isinstance(records, list) or not 1 <= len(records) <= MOST_RECORDS:
        raise invalid(f"records must be a list of 1 to {MOST_RECORDS} objects", "records")
    return records


def predict_records(model: ServedModel, records: Sequence[Any]) -> dict[str, Any]:
    """Predictions of partial records, from whatever each knows."""
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
    spread = getattr(model.fitted.predictor, "spread", None) if model.fitted.task == "regression" else None
    sd = None if spread is None else spread(state)  # (n,)
    labels = model.fitted.classes or ("mean",)
    predictions = [predicted(dict(zip(labels, row, strict=True))) for row in outputs.tolist()]
    if sd is not None:
        predictions = [told | {"sd": float(each)} for told, each in zip(predictions, sd, strict=True)]
    return {"model": model.name, "predictions": predictions}
