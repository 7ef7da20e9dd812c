"""The data of an interview for the templates of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from askless.acquisition import Interview
from askless.acquisition.interview import Event, last_said
from askless.service.answers import unusual_parts
from askless.service.asking import leading, predicted, shares
from askless.service.descriptions import Limits
from askless.service.interviews import Live
from askless.service.models import AskedPart, ServedModel
from askless.service.rules import budget_of

__all__ = ["Field", "Line", "earlier_entries", "fields_of", "interview_view", "number_text", "shown_value"]

ALIKE = 0.02  # shares of candidates that differ by less are not shown
MOST_CLASSES = 6  # classes with a bar and a line
MOST_TILES = 12  # choices shown as tiles; longer lists become a drop-down list


@dataclass(frozen=True)
class Field:
    """One input of a form."""

    id: str
    label: str
    help: str | None
    kind: str
    unit: str | None
    choices: tuple[tuple[str, str], ...]  # (value in the form, text)
    tiles: bool
    hint: str  # of a number: what is accepted, and what training had
    value: str = ""
    error: str | None = None


@dataclass(frozen=True)
class Line:
    """The course of one class's probability, or of the mean, through the interview."""

    label: str
    value: str
    width: float  # percent, of the bar
    points: str  # of the line, in a box of 100 x 40
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


def earlier_entries(model: ServedModel, interview: Interview, index: int) -> dict[str, str]:
    """The latest answer of a feature as the fields of its form; empty if there is none."""
    given = _by_part(model, index, last_said(interview.history, model.schema.features[index].name))
    return {
        f"part-{i}": _entry(part, given[part.name])
        for i, part in enumerate(model.parts[index])
        if given.get(part.name) is not None
    }


def _entry(part: AskedPart, value: Any) -> str:
    """A value as a form has it: a number with all digits, a choice by its position."""
    if part.kind == "category":
        return str((part.part.choices or ()).index(value))
    if part.kind == "boolean":
        return "yes" if value else "no"
    return repr(value).removesuffix(".0")


def _by_part(model: ServedModel, index: int, value: Any) -> Mapping[str, Any]:
    """The values of a feature's parts."""
    return value if isinstance(value, Mapping) else {model.parts[index][0].name: value}


def _field(part: AskedPart, name: str, alone: bool, value: str, error: str | None) -> Field:
    choices = tuple((str(i), shown_value(choice)) for i, choice in enumerate(part.part.choices or ()))
    return Field(
        id=name,
        label=part.text,
        help=part.description.help if not alone else None,
        kind=part.kind,
        unit=unit_text(part.description.unit),
        choices=(("yes", "Yes"), ("no", "No")) if part.kind == "boolean" else choices,
        tiles=part.kind == "boolean" or len(choices) <= MOST_TILES,
        hint=_hint(part),
        value=value,
        error=error,
    )


def _hint(part: AskedPart) -> str:
    """The accepted numbers, and those that the model was trained on. The latter must not read as a normal range."""
    accepted, trained = _accepted(part.valid), _trained(part)
    hint = "Accepted: " + (accepted or "any number") + "."
    return hint + (f" The model was trained on values from {trained}." if trained else "")


def _trained(part: AskedPart) -> str | None:
    low, high = part.part.low, part.part.high
    return None if low is None or high is None else f"{number_text(low)} to {number_text(high)}"


def _accepted(limits: Limits) -> str | None:
    low, high = limits
    if low is not None:
        return f"{number_text(low)} " + ("or more" if high is None else f"to {number_text(high)}")
    return None if high is None else f"{number_text(high)} or less"


def interview_view(live: Live) -> dict[str, Any]:
    """Everything that the page of an interview shows, except its form."""
    model, interview = live.model, live.interview
    question = interview.question
    index = None if question is None else model.schema.index(question.name)
    candidates = leading(interview)
    share = shares(candidates)
    preferred = not model.fixed_order and max(share, default=0.0) - min(share, default=0.0) > ALIKE
    top = max(share, default=1.0)
    asked, budget = interview.count, budget_of(interview.rules) or len(model.schema)
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
        "cost": number_text(interview.cost),
        "price": None if question is None else number_text(question.cost),
        "done": interview.done,
        "reason": interview.stop_reason,
        "postponed": [model.text(model.schema.index(name)) for name in interview.postponed],
        "can_undo": interview.can_undo,
        "preferred": preferred,
        "candidates": [
            {
                "text": model.text(model.schema.index(each.name)),
                "price": number_text(each.price),
                "share": f"{part:.0%}",
                "width": 100.0 * part / top,
            }
            for each, part in zip(candidates, share, strict=True)
        ],
        "answers": _answers(model, interview),
        "entries": _entries(model, interview),
        "lines": _lines(model, interview),
        "regression": not model.fitted.classes,
        "headline": _headline(interview.prediction),
    }


def _answers(model: ServedModel, interview: Interview) -> list[dict[str, Any]]:
    """The features with an answer, each with its final value and the values that it replaced, the latest first."""
    events: dict[str, list[Event]] = {}
    for event in interview.history:
        if event.action != "later":
            events.setdefault(event.feature, []).append(event)
    rows = []
    for name, said in events.items():
        index = model.schema.index(name)
        *earlier, answer = [_event_text(model, index, event) for event in said]
        rows.append(
            {
                "index": index,
                "text": model.text(index),
                "answer": answer,
                "replaced": [text for text in reversed(earlier) if text != answer],
                "added": all(event.action == "tell" for event in said),
                "cost": number_text(sum(event.cost for event in said)),
                "remarks": _remarks(model, name, said[-1].value),
            }
        )
    return rows


def _entries(model: ServedModel, interview: Interview) -> list[dict[str, Any]]:
    """All events in order. An answer that a later one replaced is marked."""
    history = interview.history
    latest = {event.feature: i for i, event in enumerate(history) if event.action != "later"}
    rows = []
    seen: set[str] = set()
    for i, event in enumerate(history):
        index = model.schema.index(event.feature)
        action = ("corrected" if event.feature in seen else "added") if event.action == "tell" else None
        postponed = event.action == "later"
        if not postponed:
            seen.add(event.feature)
        rows.append(
            {
                "text": model.text(index),
                "answer": _event_text(model, index, event),
                "action": action,
                "replaced": not postponed and latest[event.feature] != i,
                "prediction": _headline(event.prediction),
            }
        )
    return rows


def _event_text(model: ServedModel, index: int, event: Event) -> str:
    words = {"unknown": "not known", "later": "postponed"}
    return words.get(event.action) or _answer_text(model, index, event.value)


def _remarks(model: ServedModel, name: str, value: Any) -> list[str]:
    """Remarks for people on numbers outside the range of the training data."""
    group = len(model.parts[model.schema.index(name)]) > 1
    return [
        (f"{part.text}: outside" if group else "Outside")
        + f" the values that the model was trained on ({_trained(part)}). The prediction may be less reliable."
        for part in unusual_parts(model, name, value)
    ]


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
    by_label = predicted(prediction)
    if set(by_label) <= {"mean", "sd"} and "mean" in by_label:
        return number_text(by_label["mean"]) + (f" ± {number_text(by_label['sd'])}" if "sd" in by_label else "")
    best = max(by_label, key=lambda label: by_label[label])
    return f"{best} {by_label[best]:.0%}"


def _lines(model: ServedModel, interview: Interview) -> list[Line]:
    """The current prediction as bars, and its course as lines."""
    first = predicted(model.fresh.prediction)
    path = [first, *(predicted(event.prediction) for event in interview.history if event.action != "later")]
    path[-1] = predicted(interview.prediction) if len(path) > 1 else path[-1]
    if not model.fitted.classes:
        return [_mean_line(path)]
    now = predicted(interview.prediction)
    best = max(now, key=lambda label: now[label])
    shown = sorted(now, key=lambda label: -now[label])[:MOST_CLASSES]
    lines = []
    for label in (label for label in now if label in shown):
        places = [_place(i, len(path), step[label]) for i, step in enumerate(path)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        lines.append(Line(label, f"{now[label]:.0%}", 100 * now[label], points, places[-1], label == best))
    return lines


def _mean_line(path: list[dict[str, float]]) -> Line:
    """The line of a mean, scaled by the prediction before the first question."""
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
    """A number with four digits.

    >>> number_text(3.0), number_text(37.25), number_text(1234567.0)
    ('3', '37.25', '1234567')
    """
    whole = float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else f"{value:.4g}"


def shown_value(value: Any) -> str:
    """An answer as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def unit_text(unit: str | None) -> str | None:
    """A UCUM unit in its usual spelling."""
    familiar = {"Cel": "°C", "mm[Hg]": "mmHg", "a": "years", "[degF]": "°F", "10*9/L": "10⁹/L", "umol/L": "µmol/L"}
    if unit is None:
        return None
    return familiar.get(unit, unit.replace("{", "").replace("}", ""))
