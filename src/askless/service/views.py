"""What the page shows of an interview, as plain data for the templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from askless.core import Interview
from askless.core.events import last_said
from askless.service.answers import notes
from askless.service.asking import leading, predicted, shares
from askless.service.descriptions import Limits
from askless.service.interviews import Live
from askless.service.models import AskedPart, ServedModel
from askless.service.rules import budget_of

__all__ = ["Field", "Line", "earlier_entries", "fields_of", "interview_view", "number_text", "shown_value"]

MOST_CLASSES = 6  # with a bar and a line of their own
MOST_TILES = 12  # choices; a longer list folds


@dataclass(frozen=True)
class Field:
    """One input of a form."""

    id: str
    label: str
    help: str | None
    kind: str
    unit: str | None
    choices: tuple[str, ...]
    tiles: bool
    typical: str | None
    accepted: str | None
    value: str = ""
    error: str | None = None


@dataclass(frozen=True)
class Line:
    """How one class's probability, or the mean, went along the interview."""

    label: str
    value: str
    width: float  # percent, of the bar
    points: str  # of the line, in a box of 100 by 40
    last: tuple[float, float]
    best: bool


def fields_of(
    model: ServedModel, index: int, values: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> list[Field]:
    """The inputs for one feature."""
    values, errors = values or {}, errors or {}
    alone = len(model.parts[index]) == 1
    return [
        _field(part, f"part-{i}", alone, values.get(f"part-{i}", ""), errors.get(f"part-{i}"))
        for i, part in enumerate(model.parts[index])
    ]


def earlier_entries(model: ServedModel, talk: Interview, index: int) -> dict[str, str]:
    """What was said last of a feature, as the fields of its form; empty where nothing was."""
    given = _by_part(model, index, last_said(talk.history, model.schema.features[index].name))
    return {
        f"part-{i}": _entry(part, given[part.name])
        for i, part in enumerate(model.parts[index])
        if given.get(part.name) is not None
    }


def _entry(part: AskedPart, value: Any) -> str:
    """A value as a form holds it: a number to its last digit, a choice by its place."""
    if part.kind == "category":
        return str((part.part.choices or ()).index(value))
    if part.kind == "boolean":
        return "0" if value else "1"
    return repr(value).removesuffix(".0")


def _by_part(model: ServedModel, index: int, value: Any) -> Mapping[str, Any]:
    """The values of a feature's parts."""
    return value if isinstance(value, Mapping) else {model.parts[index][0].name: value}


def _field(part: AskedPart, name: str, alone: bool, value: str, error: str | None) -> Field:
    choices = tuple(shown_value(choice) for choice in part.part.choices or ())
    typical = None
    if part.part.low is not None and part.part.high is not None:
        typical = f"usually {number_text(part.part.low)} to {number_text(part.part.high)}"
    return Field(
        id=name,
        label=part.text,
        help=part.description.help if not alone else None,
        kind=part.kind,
        unit=unit_text(part.description.unit),
        choices=("Yes", "No") if part.kind == "boolean" else choices,
        tiles=part.kind == "boolean" or len(choices) <= MOST_TILES,
        typical=typical,
        accepted=_accepted(part.valid),
        value=value,
        error=error,
    )


def _accepted(limits: Limits) -> str | None:
    """The numbers that are accepted, in a few words."""
    low, high = limits
    if low is not None:
        return f"{number_text(low)} " + ("or more" if high is None else f"to {number_text(high)}")
    return None if high is None else f"{number_text(high)} or less"


def interview_view(live: Live) -> dict[str, Any]:
    """All that the page of an interview shows, but for its form."""
    model, talk = live.model, live.talk
    question = talk.question
    index = None if question is None else model.schema.index(question.name)
    candidates = leading(talk)
    share = shares(candidates)
    top = max(share, default=1.0)
    asked, budget = talk.count, budget_of(talk.rules) or len(model.schema)
    return {
        "id": live.id,
        "events": live.events,
        "model": model,
        "index": index,
        "question": question,
        "text": "" if index is None else model.text(index),
        "help": None if index is None else model.descriptions[index].help or model.parts[index][0].description.help,
        "number": asked + 1,
        "asked": asked,
        "budget": budget,
        "progress": min(100.0, 100.0 * asked / budget) if budget else 100.0,
        "cost": number_text(talk.cost),
        "price": None if question is None else number_text(question.cost),
        "done": talk.done,
        "reason": talk.stop_reason,
        "postponed": [model.text(model.schema.index(name)) for name in talk.postponed],
        "can_undo": talk.can_undo,
        "candidates": [
            {
                "text": model.text(model.schema.index(each.name)),
                "price": number_text(each.price),
                "share": f"{part:.0%}",
                "width": 100.0 * part / top,
            }
            for each, part in zip(candidates, share, strict=True)
        ],
        "history": _history(model, talk),
        "lines": _lines(model, talk),
        "regression": not model.fitted.classes,
        "headline": _headline(talk.prediction),
    }


def _history(model: ServedModel, talk: Interview) -> list[dict[str, Any]]:
    rows = []
    number = 0
    for event in talk.history:
        index = model.schema.index(event.feature)
        asked = event.action in ("answer", "unknown")
        number += asked
        words = {"unknown": "not known", "later": "later"}
        answer = words.get(event.action) or _answer_text(model, index, event.value)
        rows.append(
            {
                "number": number if asked else None,
                "index": index,
                "text": model.text(index),
                "answer": answer,
                "told": event.action == "tell",
                "later": event.action == "later",
                "cost": number_text(event.cost),
                "prediction": _headline(event.prediction),
                "notes": notes(model, event.feature, event.value),
            }
        )
    return rows


def _answer_text(model: ServedModel, index: int, value: Any) -> str:
    given = _by_part(model, index, value)
    texts = []
    for part in model.parts[index]:
        if given.get(part.name) is None:
            continue
        unit = unit_text(part.description.unit)
        text = shown_value(given[part.name]) + (f" {unit}" if unit else "")
        texts.append(f"{part.text} {text}" if len(model.parts[index]) > 1 else text)
    return ", ".join(texts) or "not known"


def _headline(prediction: Mapping[Any, float]) -> str:
    """A prediction in a few words."""
    told = predicted(prediction)
    if set(told) <= {"mean", "sd"} and "mean" in told:
        return number_text(told["mean"]) + (f" ± {number_text(told['sd'])}" if "sd" in told else "")
    best = max(told, key=lambda label: told[label])
    return f"{best} {told[best]:.0%}"


def _lines(model: ServedModel, talk: Interview) -> list[Line]:
    """The prediction now as bars, and from the first question on as lines."""
    first = predicted(model.fresh.prediction)
    path = [first, *(predicted(event.prediction) for event in talk.history if event.action != "later")]
    path[-1] = predicted(talk.prediction) if len(path) > 1 else path[-1]
    if not model.fitted.classes:
        return [_mean_line(path)]
    now = predicted(talk.prediction)
    best = max(now, key=lambda label: now[label])
    shown = sorted(now, key=lambda label: -now[label])[:MOST_CLASSES]
    lines = []
    for label in (label for label in now if label in shown):
        places = [_place(i, len(path), step[label]) for i, step in enumerate(path)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        lines.append(Line(label, f"{now[label]:.0%}", 100 * now[label], points, places[-1], label == best))
    return lines


def _mean_line(path: list[dict[str, float]]) -> Line:
    """A mean on the scale of what was thought before the first question."""
    spread = 3 * path[0].get("sd", 0.0) or max(abs(step["mean"] - path[0]["mean"]) for step in path) or 1.0
    low = path[0]["mean"] - spread
    share = [min(max((step["mean"] - low) / (2 * spread), 0.0), 1.0) for step in path]
    places = [_place(i, len(path), each) for i, each in enumerate(share)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    now = path[-1]
    value = number_text(now["mean"]) + (f" ± {number_text(now['sd'])}" if "sd" in now else "")
    return Line("mean", value, 100 * share[-1], points, places[-1], True)


def _place(step: int, steps: int, share: float) -> tuple[float, float]:
    return 2 + 96 * step / max(1, steps - 1), 38 - 36 * share


def number_text(value: float) -> str:
    """A number for people: four digits are enough.

    >>> number_text(3.0), number_text(37.25), number_text(1234567.0)
    ('3', '37.25', '1234567')
    """
    whole = float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else f"{value:.4g}"


def shown_value(value: Any) -> str:
    """An answer for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def unit_text(unit: str | None) -> str | None:
    """A UCUM unit, as people write it."""
    familiar = {"Cel": "°C", "mm[Hg]": "mmHg", "a": "years", "[degF]": "°F", "10*9/L": "10⁹/L", "umol/L": "µmol/L"}
    if unit is None:
        return None
    return familiar.get(unit, unit.replace("{", "").replace("}", ""))
