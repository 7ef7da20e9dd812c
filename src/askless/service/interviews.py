"""Stored interviews. The store has the events of each; the latest interviews also stay in memory."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from askless.acquisition import Interview
from askless.exceptions import AsklessError
from askless.service.answers import checked_answer, notes
from askless.service.asking import Terms, begin, predicted, quiet, standing
from askless.service.errors import Problem, conflict, invalid, not_found, problem_of
from askless.service.metrics import Metrics
from askless.service.models import Models, ServedModel
from askless.service.store import Event, Kept, Store

__all__ = ["Interviews", "Live", "latest_answers"]

Result = TypeVar("Result")

IN_MEMORY = 512  # interviews that stay in memory
MOST_WITHOUT_FILE = 10_000  # interviews of a service without a file
PURGE_EACH = 1000  # new interviews between two purges of a service without a file
MOST_EVENTS = 10_000  # of one interview
NO_INTERVIEW = "there is no such interview; it may have been deleted"
DAY = 86_400.0  # seconds


@dataclass
class Live:
    """An interview in memory."""

    id: str
    model: ServedModel
    interview: Interview  # never changed in place; a changed copy replaces it once the event is on disk
    events: int  # undone ones included
    created: float
    last: Event | None = None  # the latest event
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def to_json(self) -> dict[str, Any]:
        """The state and the history, as the API returns them."""
        history = [
            {
                "action": event.action,
                "feature": event.feature,
                "value": event.value,
                "cost": event.cost,
                "prediction": predicted(event.prediction),
            }
            for event in self.interview.history
        ]
        return {
            "id": self.id,
            **standing(self.model, self.interview),
            "notes": notes(self.model, latest_answers(self.interview)),
            "history": history,
            "events": self.events,
        }


def latest_answers(interview: Interview) -> dict[str, Any]:
    """The latest answer of each feature."""
    return {event.feature: event.value for event in interview.history if event.action != "later"}


class Interviews:
    """Creates, changes, resumes and deletes interviews."""

    def __init__(self, models: Models, store: Store, metrics: Metrics, retention_days: float) -> None:
        self._models, self._store, self._metrics = models, store, metrics
        self._retention = retention_days * DAY
        self._live: OrderedDict[str, Live] = OrderedDict()
        metrics.live.set_function(lambda: len(self._live))
        self._begun = 0

    async def create(self, model: ServedModel, terms: Terms) -> Live:
        """A new interview with an id that cannot be guessed."""
        live = Live(secrets.token_urlsafe(24), model, begin(model, terms), 0, time.time())
        kept = Kept(live.id, model.name, model.fingerprint, terms.to_json(), live.created, ())
        await self._stored(self._store.create(kept))
        self._remember(live)
        self._begun += 1
        if self._store.in_memory and self._begun % PURGE_EACH == 0:  # before the hourly purge, to limit memory
            await self.purge()
        return live

    async def find(self, interview_id: str) -> Live:
        """An interview from memory, or replayed from its events."""
        live = self._live.get(interview_id)
        if live is not None:
            self._live.move_to_end(interview_id)
            return live
        kept = await self._stored(self._store.read(interview_id))
        if kept is None:
            raise not_found(NO_INTERVIEW)
        again = self._live.get(interview_id)  # another request may have loaded it during the read
        if again is not None:
            return again
        live = self._replayed(kept)
        self._remember(live)
        return live

    async def change(self, interview_id: str, event: Event, after: int | None = None) -> Live:
        """Apply an event. Returns once the event is on disk.

        `after` is the number of events that the caller has seen. The event is refused if there are more.
        """
        live = await self.find(interview_id)
        async with live.lock:
            if after not in (None, live.events):
                raise conflict("another request has changed the interview", code="interview_changed")
            if live.events >= MOST_EVENTS:
                raise conflict(
                    f"the interview has {MOST_EVENTS} events, the maximum; begin another", code="too_many_events"
                )
            interview = live.interview.copy()
            applied = apply(live.model, interview, event)
            if not await self._stored(self._store.append(live.id, live.events, applied, time.time())):
                self._live.pop(live.id, None)
                raise conflict("another process has changed or deleted the interview", code="interview_changed")
            live.interview, live.events, live.last = interview, live.events + 1, applied
        self._metrics.events.labels(event.action).inc()
        return live

    async def delete(self, interview_id: str) -> None:
        """Delete an interview from disk and from memory."""
        deleted = await self._stored(self._store.delete(interview_id))
        self._live.pop(interview_id, None)  # not earlier: another request may load it during the deletion
        if not deleted:
            raise not_found(NO_INTERVIEW)

    async def purge(self) -> int:
        """Delete interviews older than the retention time; returns how many."""
        most = MOST_WITHOUT_FILE if self._store.in_memory else None
        gone = await self._stored(self._store.purge(time.time() - self._retention, most))
        if gone:
            self._live.clear()
        return gone

    async def works(self) -> bool:
        """Whether the store works."""
        return await self._stored(self._store.works())

    def _remember(self, live: Live) -> None:
        self._live[live.id] = live
        while len(self._live) > IN_MEMORY:
            self._live.popitem(last=False)

    def _replayed(self, kept: Kept) -> Live:
        model = self._models.find(kept.model)
        if model.fingerprint != kept.fingerprint:
            raise conflict(
                "the interview began with another version of the model, which is not served any more",
                code="model_changed",
            )
        interview = begin(model, Terms.from_json(kept.terms))
        for event in kept.events:
            apply_again(interview, event)
        last = kept.events[-1] if kept.events else None
        return Live(kept.id, model, interview, len(kept.events), kept.created, last)

    @staticmethod
    async def _stored(work: Awaitable[Result]) -> Result:
        try:
            return await work
        except sqlite3.Error:
            raise Problem(503, "interviews cannot be stored at the moment; try again") from None


def apply(model: ServedModel, interview: Interview, event: Event) -> Event:
    """Change an interview. Returns the event with its feature and with the value as it was read."""
    try:
        with quiet():
            return _applied(model, interview, event)
    except AsklessError as error:
        raise problem_of(error) from None


def _applied(model: ServedModel, interview: Interview, event: Event) -> Event:
    if event.action == "undo":
        interview.undo()
        return event
    if event.action == "tell":
        if event.feature is None:
            raise invalid("the field 'feature' is missing", "feature", code="required", name="feature")
        value = checked_answer(model, model.index(event.feature, "feature"), event.value, "value")
        interview.tell(event.feature, value)
        return Event(event.action, event.feature, value)
    question, value = interview.question, event.value
    if question is not None and event.feature is not None and event.feature != question.name:
        raise conflict(
            f"the current question is {question.name!r}, not the one that was answered",
            code="question_changed",
            name=question.name,
        )
    if event.action == "answer" and question is not None:
        value = checked_answer(model, model.schema.index(question.name), value, "value")
        interview.answer(value)
    elif event.action == "later":
        interview.later()
    else:
        interview.unknown()  # raises if there is no question
    return Event(event.action, question.name if question else None, value)


def apply_again(interview: Interview, event: Event) -> None:
    """Apply a stored event to the feature that it names.

    The event was accepted once and is not checked again: another machine may break a tie between two questions in
    another way, and another file of descriptions may have other limits.
    """
    name = event.feature
    try:
        with quiet():
            if event.action == "undo":
                interview.undo()
            elif name is None:
                raise conflict("a stored event of the interview names no feature", code="unreadable_file")
            elif event.action == "tell":
                interview.tell(name, event.value)
            elif event.action == "later":
                interview.later(name)
            else:
                interview.answers({name: event.value if event.action == "answer" else None})
    except AsklessError as error:
        raise problem_of(error) from None
